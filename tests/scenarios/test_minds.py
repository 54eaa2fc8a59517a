"""What minds asked for who had nothing but the windows: each wish as a test on windows that the product really sent."""

import re
from collections import Counter as Tally
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from item_samples import excerpt, repo_map
from story import CHECK, QUICK, Shown, tell

import afresh
from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_template
from afresh.context.build_prompt import build_prompt, select_offered_tools
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY as POLICY
from afresh.core.line_region import Region
from afresh.core.state import State
from afresh.core.states.memory_state import MemoryState
from afresh.core.states.strategy_state import PlanItem
from afresh.core.states.work_state import WorkState
from afresh.core.task import Check, Task
from afresh.core.tokens import EstimatingCounter, count_pieces
from afresh.memory.gathered_context import GatheredContext
from afresh.spending import price_list

FAILING = """+

import pytest


@pytest.mark.parametrize("kilograms", [1, 2, 3, 4, 5, 6, 7, 8])
def test_whole_kilograms_are_not_rounded_up(kilograms):
    '''Eight times the same fault.'''
    from parcel.pricing import billable_weight

    assert billable_weight(Parcel(1000 * kilograms, SMALL.size)) == kilograms, "rounded up"
"""
TODO = [f"({number}) see whether part {number} of the reckoning rounds;" for number in range(1, 13)]
THOUGHT = f"Whole kilograms cost too much. To do: {' '.join(TODO)} then tell."
OLD = "    return int(max(parcel.weight / 1000, by_volume)) + 1"
NEW = "    return math.ceil(max(parcel.weight / 1000, by_volume))"
PRICING, TESTS = "src/parcel/pricing.py", "tests/test_pricing.py"
PROBE = """python3 - <<'END'
import sys
sys.path.insert(0, 'src')
from parcel import Parcel, Size
from parcel.pricing import billable_weight
print('two kilograms are', billable_weight(Parcel(2000, Size(20, 10, 5))))
END"""


def edit(path: str, old: str, new: str):
    return "edit", {"path": path, "old": old, "new": new}


def run(command: str):
    return "run", {"command": command}


STEPS = [
    (THOUGHT, [("plan", {"items": ["[ ] mend billable_weight", "[ ] tell"]}), ("read", {"path": PRICING})]),
    ("Who uses it?", [("search", {"text": "weight"})]),
    ("The parcel itself.", [run("cat src/parcel/measures.py")]),
    ("What does it give?", [run(PROBE)]),
    ("See how it is tested.", [("read", {"path": TESTS, "start": 60}), run(CHECK)]),
    ("Without the one.", [edit(PRICING, OLD, OLD.removesuffix(" + 1"))]),
    ("Round up.", [edit(PRICING, OLD, NEW), edit(PRICING, "import warnings\n", "import math\nimport warnings\n")]),
    ("Again.", [run(PROBE)]),
    ("Look wider.", [("read", {"path": f"src/parcel/{name}.py"}) for name in ("address", "tracking", "label")]),
    ("And further.", [("read", {"path": "src/parcel/customs.py"})]),
]


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Shown]:
    """By the step that each was sent for."""
    told = tell(tmp_path_factory.mktemp("story"), "billable_weight rounds whole kilograms up", STEPS, {TESTS: FAILING})
    assert len(told) == len(STEPS)
    return {window.step: window for window in told}


def code(window: Shown, *sections: str) -> list[str]:
    """Lines without numbers and marks, as far as they are long enough to be told apart."""
    shown = [line for name in sections for line in window.lines(name) if not line.startswith(("## ", "- "))]
    lines = [re.sub(r"^(?:[\w./-]+:)?[+ ]?\s*\d+[ :\t]|^[+] ", "", line).strip() for line in shown]
    return [line for line in lines if len(line) > 24]


def by_path(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Each numbered line with its file: two files may hold the same."""
    path = ""
    for line in lines:
        if re.match(r"[+ ]\s*\d+ ", line):
            yield path, line
        elif not line.startswith((" ", "…")):
            path = line


def test_1_each_piece_of_code_stands_once_in_a_window(windows):
    for window in windows.values():
        said = () if re.search(r"You did: (?:run FAILED|run\n\$ .*<<|search\()", window.sections.get("last", "")) else ("last",)
        placed = list(by_path(window.lines("files")))
        assert len(placed) == len(set(placed)), f"step {window.step}: a line of a file"
        shown = [*{*code(window, "files"), *code(window, "failing")}, *code(window, "changes", *said)]
        assert not set(code(window, "files")) & set(code(window, "failing", "work")), f"step {window.step}"
        twice = [line for line, count in Tally(shown).items() if count > 1]
        assert not twice, f"step {window.step}"


def test_1_the_source_of_a_failing_test_that_was_read_is_not_shown_beside_the_file(windows):
    assert "def test_whole_kilograms" in windows[5].sections["failing"]
    """What a failing command prints is its output, whatever else is shown."""
    shown = [name for name, text in windows[6].sections.items() if "def test_whole_kilograms" in text and name != "last"]
    assert shown in (["files"], [])


def test_2_the_plan_stays_and_the_latest_thought_is_whole(windows):
    assert all(
        "- [ ] mend billable_weight\n- [ ] tell" in window.sections["plan"] for step, window in windows.items() if step > 1
    )
    assert THOUGHT in windows[2].sections["last"] and len(THOUGHT) > 600


def test_3_nothing_is_cut_while_there_is_room(windows):
    """Definitions are shown whole or not at all: what is left may be less than the smallest of them needs. What nobody
    asked for has a cap."""
    for window in windows.values():
        cut = [one for one in window.omissions if one.reason in ("no room left", "shown in part")]
        gone = [one.tokens for one in cut if one.section in ("files", "last")]
        assert not gone or window.filled >= 0.94 or (1 - window.filled) * window.budget < min(gone), f"step {window.step}"


@given(st.lists(st.integers(1, 40), min_size=1, max_size=40), st.integers(3_000, 9_000))
def test_3_whatever_the_files_and_the_ceiling(sizes, budget):
    style = load_template("fix_bug")
    looks = [excerpt("a.py", 100 * n + 1, "x = some_name\n" * size, f"f{n}") for n, size in enumerate(sizes)]
    state = State(task=Task(id="t", goal="g", checks=(Check("pytest"),)), work=WorkState(limit=60))
    tree = repo_map("\n".join(f"src/module_{n}.py: f, g" for n in range(sum(sizes))))
    window = build_prompt(
        GatheredContext(state, (*looks, tree)), style, select_offered_tools(style, TOOLS), budget, EstimatingCounter()
    )
    if gone := [one.tokens for one in window.omissions if one.section == "files"]:
        left = budget - window.request.reserve - window.tokens
        assert left <= 0.06 * budget or left < min(gone) + budget // 16, "some is kept for lines that stand for what is left out"


@pytest.mark.usefixtures("confined")
def test_4_the_function_that_is_worked_on_stays_whatever_else_is_read(windows):
    kept = 0
    for step, window in windows.items():
        if step > 1:
            shown = window.sections["files"]
            whole = "def billable_weight(parcel: Parcel) -> int:" in shown and "by_volume = parcel.size.volume" in shown
            kept += whole
    assert kept == len(windows) - 1


def test_4_excerpts_are_whole_definitions_and_no_body_stands_without_its_name(windows):
    for window in windows.values():
        for block in re.split(r"\n     ….*|\n(?=\S+\.py\n)", window.sections.get("files", "")):
            lines = [line[6:] for line in block.splitlines() if re.match(r"[+ ]\s*\d+ ", line)]
            first = next((line for line in lines if line.strip()), "")
            assert not first.startswith(" ") or re.match(r" +(?:def|@)", first), f"step {window.step}: {first!r}"
            decorated = [number for number, line in enumerate(lines) if line.startswith("@")]
            assert all(any(re.match(r"def|class", line) for line in lines[number:]) for number in decorated)


def test_5_what_was_printed_before_a_change_is_marked_or_gone(windows):
    for step in (8, 9, 10):
        for line in windows[step].lines("work"):
            if match := re.fullmatch(r"(\d+)= \w{8}(.*?)(?: …)?", line):
                assert (int(match[1]) < 7) == (match[2] == " (before the last change)"), f"step {step}: {line}"
    assert "two kilograms are 3" not in windows[9].sections["last"] and "two kilograms are 2" in windows[9].sections["last"]


def test_5_what_a_reply_printed_after_its_change_is_not_marked_as_older(tmp_path):
    steps = [
        ("Try.", [run("echo first_name_$((40 + 1))")]),
        ("Round up.", [("search", {"text": "customs"}), edit(PRICING, OLD, NEW), run("echo second_name_$((40 + 2))")]),
        *[("Look.", [("read", {"path": "README.md"})])] * 8,
    ]
    told = tell(tmp_path, "look", steps, {}, QUICK)
    done = [line for line in told[2].lines("last") if line.startswith("You did: ")]
    assert [line.endswith(" (before the change below)") for line in done] == [True, False, False]
    lines = told[-1].lines("work")
    assert ["before" in line for line in lines if re.match(r"\d= ", line)] == [True, False]


def test_5_files_are_shown_as_they_are_and_a_failure_is_not_shown_after_the_pass(windows):
    assert OLD in windows[2].text and OLD not in windows[8].sections["files"] and NEW in windows[8].sections["files"]
    assert "FAILED" in windows[7].sections["verification"]
    for step in (8, 9, 10):
        assert "FAILED" not in windows[step].sections["verification"] and "failing" not in windows[step].sections


def test_6_failures_stand_once_collapsed_and_with_the_source_of_the_test(windows):
    standing = windows[1].sections["verification"]
    assert "8 × AssertionError: rounded up" in standing and standing.count("FAILED") == 1
    assert "def test_whole_kilograms_are_not_rounded_up" in windows[1].sections["failing"]
    assert windows[1].sections["failing"].count("def ") == 1


def test_7_verification_says_what_ran_when_and_which_files_are_changed(windows):
    standing = windows[8].sections["verification"]
    assert "Before the task: check: 35 passed, 8 failed" in standing and CHECK in windows[8].sections["task"]
    assert f"After step 7 (change): PASS: check (targeted: {TESTS}): 17 passed" in standing
    assert windows[8].sections["changes"] == f"## Changes so far\n- {PRICING} (+2 −1)"
    assert "After step 6 (change): FAIL" in windows[7].sections["verification"] and "changes" not in windows[7].sections


def test_8_several_edits_in_one_action_are_both_told(windows):
    done = [line for line in windows[8].lines("last") if line.startswith("You did: edit")]
    assert [re.search(r": lines? (\d+)", line)[1] for line in done] == ["19", "3"]
    assert "+   3 import math" in windows[8].sections["files"] and "+  20 " + NEW in windows[8].sections["files"]


def test_8_a_file_that_a_shell_printed_is_an_excerpt_like_one_that_was_read(windows):
    assert "   28 class Parcel:" in windows[4].sections["files"]
    assert "src/parcel/measures.py: lines 1-82" in windows[4].sections["last"]
    assert "class Parcel:" not in windows[4].sections["last"]


def test_9_a_cut_says_what_and_where_to_get_it_and_keeps_the_label(windows):
    shown = windows[6].sections["last"]
    cut = re.search(r"\[… \d+ of \d+ lines cut: `read` @(\w{8})\]", shown)
    assert cut and f"You did: run FAILED\n$ {CHECK}\nexit 1\n" in shown and "8 failed, 35 passed" in shown
    assert not [line for window in windows.values() for line in window.lines("archive") if f"step {window.step - 1} " in line]
    for window in windows.values():
        stubs = re.findall(r"^     … (\d+)-(\d+)", window.sections.get("files", ""), re.MULTILINE)
        marked = {number for start, end in stubs for number in range(int(start), int(end) + 1)}
        gone = re.findall(r":(\d+)-(\d+) ", " ".join(one.what for one in window.omissions if one.section == "files"))
        told = all({int(start), int(end)} <= marked for start, end in gone)
        assert told or "… and more that you read or changed: `read` it" in window.lines("files"), f"step {window.step}"


def test_9_a_long_line_is_cut_within_and_says_so(tmp_path):
    told = tell(
        tmp_path,
        "look",
        [("", [run("python3 -c \"print('first', *range(9000))\"")]), ("", [("read", {"path": "README.md"})])],
        {},
    )
    shown = told[1].sections["last"]
    assert re.search(r"exit 0\nfirst 0 1 2 .*\n\[… [\d,]+ of [\d,]+ characters cut: `read` @\w{8}\]\n.* 8999$", shown)


def test_10_commands_are_summed_up_by_what_they_gave_without_their_scripts(windows):
    told = [
        re.sub(r"^- step (\d+): ", r"\1> ", line)
        for one in windows.values()
        for line in (*one.lines("work"), *one.lines("earlier"))
    ]
    assert "4> run python3 - <<'END'… → two kilograms are 3" in told
    shown = {step for step, window in windows.items() if "sys.path.insert" in window.text}
    assert shown == {5, 9}, "the whole script is beside its own output, and nowhere later"


SPLIT = re.compile(r"[A-Za-z]+|\d{1,3}|[^\sA-Za-z\d]+|\n+")
"""What no tokenizer in use joins: words, three digits, runs of signs, runs of line ends."""
CODE = st.lists(
    st.sampled_from(["self", ".", "first_name", "(", "2000", ")", " ", "{'a': 1}", "\n    ", "==", "0.25", ","]), max_size=60
).map("".join)


@example("\n    \n    \n    \n    ")
@given(CODE)
def test_11_code_is_never_counted_below_what_no_tokenizer_joins(text):
    assert EstimatingCounter()(text) >= len(SPLIT.findall(text))


def test_11_a_table_of_numbers_counts_for_more_than_a_quarter_of_its_characters():
    table = "\n".join(" ".join(f"{row * column % 97:.2f}" for column in range(12)) for row in range(40))
    assert count_pieces(table) > 2 * len(table) / 4


def test_11_code_counts_for_at_least_what_tokenizers_counted_more():
    text = (Path(afresh.__file__).parent / "context" / "build_prompt.py").read_text()
    assert EstimatingCounter()(text) > 1.14 * len(text) / 4


def test_12_a_search_is_capped_by_file_so_that_every_file_with_a_hit_is_named(tmp_path):
    noisy = {"src/parcel/address.py": "+" + "# needle\n" * 200, TESTS: "+\n# needle\n"}
    told = tell(tmp_path, "look", [("", [("search", {"text": "needle"})]), ("", [("read", {"path": "README.md"})])], noisy, QUICK)
    shown = told[1].sections["last"]
    assert "src/parcel/address.py" in shown and TESTS in shown and "… 185 more: 119, " in shown


def test_12_the_first_window_has_the_tree_and_the_source_of_failing_tests(windows):
    tree = windows[1].sections["outline"]
    assert "src/parcel/pricing.py (76 lines; holds billable_weight): 16 billable_weight(parcel: Parcel) -> int" in tree
    assert f"{TESTS} (74 lines; tests pricing.py): " in tree
    assert "failing" in windows[1].sections


def test_what_is_worked_on_is_chosen_by_name_and_not_by_an_ordinary_word():
    views = [
        excerpt("a.py", 1, "def quote():", "quote", last=9),
        excerpt("a.py", 10, "x", "add_up", last=19),
    ]
    from afresh.context.excerpt_ranking import select_protected_excerpts

    state = State(
        task=Task(id="t", goal="quote is wrong, see add_up"),
        work=WorkState(plan=(PlanItem("quote"),)),
        memory=MemoryState(regions=(Region("a.py", 1, 19, 1),)),
    )
    assert {view.title for view in select_protected_excerpts(views, state, [], POLICY.excerpts)} == {"add_up"}


def test_actions_under_work_say_how_they_ended(tmp_path):
    steps = [
        ("Both.", [run("test -d no_where || true"), run("cat nowhere_1.py")]),
        ("Alone.", [run("cat nowhere_2.py")]),
        ("Round up.", [edit(PRICING, OLD, NEW)]),
        *[("Look.", [run(f"echo part_{number}")]) for number in range(7)],
    ]
    told = tell(tmp_path, "look", steps, {}, QUICK)[-1].lines("work")
    assert re.search(
        r"^1 partly(?: \w{8})?> run test -d no_where \|\| true\nrun cat nowhere_1.py \(failed\)$", "\n".join(told), re.MULTILINE
    )
    assert "2 failed> run cat nowhere_2.py" in told and f"3 kept> edit {PRICING}" in told


ITEMS = """Three things:

1. `billable_weight` must not round whole kilograms up.
2. `needs_form` of the customs module is false for an empty list.
3. Tell of both in NEWS.md.
"""
LONG_TEST = "".join(f"\n\ndef test_rounding_{number}():\n    assert {number} + 1 == {number + 1}\n" for number in range(12))


def test_13_what_the_next_item_needs_is_shown_and_finished_work_leaves_but_for_its_end(tmp_path):
    plan = ["round", "empty list in needs_form", "NEWS.md"]
    steps = [
        ("Plan.", [("plan", {"items": plan}), ("read", {"path": PRICING})]),
        (
            "Round.",
            [
                edit(PRICING, OLD, OLD.removesuffix(" + 1")),
                edit(TESTS, "", LONG_TEST),
                edit("NEWS.md", "# News\n", "# News\n\n- Rounded.\n"),
            ],
        ),
        ("Done.", [("plan", {"items": ["[x] billable_weight rounds", *plan[1:]]})]),
        ("Next.", [run("echo next")]),
        ("On.", [run("echo on")]),
    ]
    told = tell(tmp_path, ITEMS, steps, {"NEWS.md": "# News\n"}, QUICK)
    assert "def test_rounding_0" in told[2].text and "def needs_form" not in told[2].sections.get("target", "")
    for window in told[3:]:
        assert "def needs_form" in window.sections["target"], "the code that the next item names"
        assert "def test_rounding_11" in window.sections["files"] and "def test_rounding_3" not in window.text
        assert "+   3 - Rounded." in window.sections["files"], "the place where the next entry goes"


def test_14_no_note_leaves_without_a_word_and_a_retired_one_is_gone(tmp_path):
    long = "the fee of a zone is looked up by country, and " * 12
    notes = [("note", {"subject": f"point {number}", "text": f"{long}{number}"}) for number in range(8)]
    steps = [
        ("Write down.", notes),
        ("Look.", [("read", {"path": f"src/parcel/{name}.py"}) for name in ("address", "tracking", "label", "pricing")]),
        (
            "And decide.",
            [
                ("note", {"subject": "shape", "text": f"{long}end", "why": "short"}),
                ("note", {"subject": "point 3", "text": "done"}),
            ],
        ),
        ("Decide more.", [("note", {"subject": "size", "text": f"{long}end", "why": "short"})]),
        ("Look.", [run("echo on")]),
    ]
    told = tell(tmp_path, "look", steps, {}, QUICK)
    for window in told[1:]:
        shown = window.sections["known"]
        lost = [number for number in range(8) if f"- point {number}: " not in shown]
        assert lost == ([] if window.step < 4 else [3]), f"step {window.step}"
        assert f"{long}7" in shown, "the newest is whole"
        assert shown.count("(`search` path=@notes)") == shown.count("- point ") - sum(f"{long}{n}" in shown for n in range(8))
    older, newest = told[-1].lines("decisions")[1:3]
    assert f"{long}end" in newest and older.endswith(" … (`search` path=@decisions) (short)")


FIX = [edit(PRICING, OLD, NEW), edit(PRICING, "import warnings\n", "import math\nimport warnings\n")]
READS = [("read", {"path": f"src/parcel/{name}.py"}) for name in ("address", "tracking", "label", "customs")]


def tells_its_tokens(window: Shown) -> bool:
    told = re.search(r"^\[Context: ([\d,]+) tokens, ", window.sections["footer"], re.MULTILINE)
    return bool(told) and abs(int(told[1].replace(",", "")) - window.tokens) <= window.tokens / 100


def test_15_the_last_look_before_completion_is_at_the_changes(tmp_path, monkeypatch):
    """All of them while there is room: code first, and the line of the tokens counts them."""
    note = "".join(f"- rounding of zone {number} and of all parcels in it\n" for number in range(60))
    more = [*FIX, edit("notes.yaml", "a: 1\n", note), edit(TESTS, "", LONG_TEST)]
    steps = [("Look.", [("read", {"path": PRICING})]), ("Round up.", more), ("Look wider.", READS)]
    built = tell(tmp_path, "billable_weight rounds whole kilograms up", steps, {"notes.yaml": "a: 1\n"})
    assert "The tests that ran pass." in built[2].text and "swallow no error" not in built[2].text, "no advice for what is done"
    monkeypatch.setattr(price_list, "UNCACHED_MODELS", ())
    monkeypatch.chdir(tmp_path)
    steps.append(("On.", [run("echo on")]))
    extended = tell(tmp_path / "again", "billable_weight rounds whole kilograms up", steps, {"notes.yaml": "a: 1\n"})
    assert [("turn" in window.sections) for window in extended] == [False, True, True, True]
    assert "All changes so far" not in extended[1].text
    for window in extended[2:]:
        look = window.sections["footer"].partition("## All changes so far\n")[2]
        assert look.startswith(f"{PRICING} (modified, +2 −1)\n@@ ") and f"-{OLD}\n+{NEW}" in look
        places = [look.index(f"\n{path} (modified") for path in (TESTS, "notes.yaml")]
        assert places == sorted(places) and "\n+- rounding of zone 59 " in look and "left out" not in look
    assert all(map(tells_its_tokens, [*built, *extended]))
    said = [window.sections["footer"].count("If you have not seen the bug happen") for window in extended]
    assert said == [1, 0, 0, 0]
