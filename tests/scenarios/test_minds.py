"""What minds asked for who had nothing but the windows: each wish as a test on windows that the product really sent."""

import re
from collections import Counter as Tally
from collections.abc import Iterator

import pytest
from story import CHECK, QUICK, Shown, tell

from afresh.spending import price_list

USUAL_TOKENS = 3_000
"""Of a prompt without what was asked for."""
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


def test_2_the_plan_stays_and_the_latest_thought_is_whole(windows):
    assert all(
        "- [ ] mend billable_weight\n- [ ] tell" in window.sections["plan"] for step, window in windows.items() if step > 1
    )
    assert THOUGHT in windows[2].sections["last"] and len(THOUGHT) > 600


def test_3_nothing_is_cut_while_there_is_room(windows):
    """Definitions are shown whole or not at all: what is left may be less than the smallest of them needs. What nobody
    asked for has a cap, and gets no more on a higher limit."""
    for window in windows.values():
        cut = [one for one in window.omissions if one.reason in ("no room left", "shown in part")]
        gone = [one.tokens for one in cut if one.section in ("files", "last")]
        assert not gone or window.tokens >= 0.94 * USUAL_TOKENS or USUAL_TOKENS - window.tokens < min(gone), f"step {window.step}"


@pytest.mark.usefixtures("confined")
def test_4_the_function_that_is_worked_on_stays_whatever_else_is_read(windows):
    kept = 0
    for step, window in windows.items():
        if step > 1:
            shown = window.sections["files"]
            whole = "def billable_weight(parcel: Parcel) -> int:" in shown and "by_volume = parcel.size.volume" in shown
            kept += whole
    assert kept == len(windows) - 1


def test_5_what_was_printed_before_a_change_is_marked_or_gone(windows):
    for step in (8, 9, 10):
        for line in windows[step].lines("work"):
            if match := re.fullmatch(r"(\d+)= \w{8}(.*?)(?: …)?", line):
                assert (int(match[1]) < 7) == (match[2] == " (before the last change)"), f"step {step}: {line}"
    assert "two kilograms are 3" not in windows[9].sections["last"] and "two kilograms are 2" in windows[9].sections["last"]


def test_7_verification_says_what_ran_when_and_which_files_are_changed(windows):
    standing = windows[8].sections["verification"]
    assert "Before the task: check: 35 passed, 8 failed" in standing and CHECK in windows[8].sections["task"]
    assert f"After step 7 (change): PASS: check (targeted: {TESTS}): 17 passed" in standing
    assert windows[8].sections["changes"] == f"## Changes so far\n- {PRICING} (+2 −1)"
    assert "After step 6 (change): FAIL" in windows[7].sections["verification"] and "changes" not in windows[7].sections


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


def test_12_the_first_window_has_the_tree_and_the_source_of_failing_tests(windows):
    tree = windows[1].sections["outline"]
    assert "src/parcel/pricing.py (76 lines; holds billable_weight): 16 billable_weight(parcel: Parcel) -> int" in tree
    assert TESTS in windows[1].sections["failing"]


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


@pytest.mark.journey
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
    note = "".join(f"- rounding of zone {number} and of all parcels in it\n" for number in range(12))
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
        assert places == sorted(places) and "\n+- rounding of zone 11 " in look and "left out" not in look
    assert all(map(tells_its_tokens, [*built, *extended]))
    said = [window.sections["footer"].count("If you have not seen the bug happen") for window in extended]
    assert said == [1, 0, 0, 0]
