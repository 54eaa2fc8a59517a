"""The builder: pure, bounded, and honest about what it leaves out."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from item_samples import excerpt, repo_map
from traces import SPOKEN, passages

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import list_task_types, load_template
from afresh.context.build_prompt import MIN_STATUS_TOKENS, build_prompt, build_tools_section, draft_sections, select_offered_tools
from afresh.context.rebuild_call import parse_tool_schemas as loads_schemas
from afresh.context.sources.diff import find_latest_changes, gather_changed_files
from afresh.context.sources.task_and_messages import NEWEST_MESSAGE_HEADING
from afresh.core.action import Action, Observation
from afresh.core.archived_block import BlockIndexLine
from afresh.core.change import Change
from afresh.core.codec import to_canonical_json, value_from_json
from afresh.core.context_item import Diff, Excerpt, Item, Note
from afresh.core.decision import Decision
from afresh.core.fact import Fact, FactKind
from afresh.core.leave import Grant
from afresh.core.line_region import Region
from afresh.core.prompt import Tier
from afresh.core.state import State
from afresh.core.states.strategy_state import PlanItem
from afresh.core.step_history import PassageVoice
from afresh.core.step_record import StepRecord
from afresh.core.task import Check, Task
from afresh.core.template import Template
from afresh.core.tokens import EstimatingCounter
from afresh.core.verdict import Baseline, CheckRun, FailedTest, Ruling, Verdict
from afresh.errors import OverCeiling
from afresh.memory.gathered_context import GatheredContext
from afresh.memory.history.trace import build_trace
from support.states import make_state

COUNTER = EstimatingCounter()
lines = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=120)
looks = st.builds(
    Note,
    st.sampled_from(["outline", "violations", "suggestion", "test", "change", "output"]),
    st.text("abc1", min_size=1, max_size=8),
    lines,
)
file_looks = st.builds(
    lambda path, line, text: excerpt(path, line, text, "f", last=line + 3), st.sampled_from("abcdef"), st.integers(1, 99), lines
)
facts = st.builds(Fact, st.sampled_from(FactKind), lines, lines)
records = st.builds(
    StepRecord, st.integers(1, 50), lines,
    st.lists(st.builds(Observation, st.just(Action("run", {"command": "x"})), st.booleans(), lines), max_size=2).map(tuple),
    lines, st.booleans(),
)  # fmt: skip
states = st.builds(
    make_state,
    task=st.builds(Task, id=st.just("t"), goal=lines, checks=st.just((Check("pytest"),))),
    facts=st.lists(facts, max_size=8).map(tuple),
    plan=st.lists(st.builds(PlanItem, lines, st.booleans()), max_size=4).map(tuple),
    recent=st.lists(records, max_size=6, unique_by=lambda one: one.step).map(tuple),
    index=st.lists(st.builds(BlockIndexLine, st.just("a" * 32), st.just("run"), lines, st.just(9), lines, st.integers(1, 9))).map(
        tuple
    ),
    baseline=st.just(Baseline((CheckRun("pytest", 0, passed=3),))),
    words=st.lists(lines, max_size=2).map(tuple),
    decisions=st.lists(st.builds(Decision, lines, st.just("model")), max_size=2).map(tuple),
    regions=st.lists(
        st.builds(Region, st.sampled_from("ab"), st.integers(1, 50), st.integers(50, 99), st.integers(1, 30), st.booleans()),
        max_size=3,
    ).map(tuple),
    forgotten=st.integers(0, 2),
    step=st.just(30),
)


MANY = 2_000


def crowd(kind: str) -> GatheredContext:
    """A task with thousands of one kind of thing that is never left out."""
    numbers, items = range(MANY), tuple[Item, ...]()
    parts: dict[str, Any] = {}
    match kind:
        case "changes" | "deep changes":
            folder = "src/" if kind == "changes" else "a/rather/deep/folder/" * 40
            files = [Change(f"{folder}part_{n // 100}/module_{n}.py", "modified", 1, 1) for n in numbers]
            items = tuple(gather_changed_files(find_latest_changes(make_state(task=Task(id="t", goal="g")), files), files))
        case "old changes":
            items = tuple(Diff("change", f"module_{n}.py", 1, 1) for n in numbers)
        case "plan":
            parts["plan"] = tuple(PlanItem(f"step {n} of the plan", n % 2 == 0) for n in numbers)
        case "failed":
            parts["facts"] = tuple(Fact(FactKind.FAILED_APPROACH, f"way {n}", "did not work", step=n) for n in numbers)
        case "decisions":
            parts["decisions"] = tuple(Decision(f"we do it like {n}", "model", subject=f"subject {n}") for n in numbers)
        case "answers":
            parts["words"] = tuple(f"and answer {n}" for n in numbers)
            parts["decisions"] = tuple(Decision(f"and answer {n}", "person", subject="what?") for n in numbers)
        case "failing tests":
            failed = tuple(FailedTest(f"tests/test_{n}.py::test_{n}", f"message {n} " * 90, "detail\n" * 90) for n in numbers)
            run = CheckRun("pytest", 1, failed=MANY, failures=failed)
            parts["verdict"] = Verdict(Ruling.FAIL, "worse " * 999, (run,), regressions=tuple(one.test for one in failed))
        case "checks":
            parts["baseline"] = Baseline(tuple(CheckRun(f"pytest tests/test_{n}.py", 0, passed=n) for n in numbers))
        case "leave":
            parts["leave"] = tuple(Grant(f"tests/test_{n}.py", f"test_{n}") for n in numbers)
    given = {"baseline": Baseline((CheckRun("pytest", 0, passed=3),)), "step": 30, "first_snapshot": "s"} | parts
    return GatheredContext(make_state(task=Task(id="t", goal="Do it.", checks=(Check("pytest"),)), **given), items)


SECTION_OF_CROWD = {
    "deep changes": "changes", "old changes": "changes", "answers": "task", "leave": "task", "checks": "verification",
    "failing tests": "verification",
}  # fmt: skip
CROWDS = ("changes", "plan", "failed", "decisions", *SECTION_OF_CROWD)


@pytest.mark.parametrize("kind", CROWDS)
def test_thousands_of_anything_that_is_never_left_out_fit_a_small_prompt(kind: str):
    template = load_template("implement_feature")
    prompt = build_prompt(crowd(kind), template, select_offered_tools(template.at(""), TOOLS), 4_000, COUNTER)
    assert COUNTER.whole(prompt.request) + prompt.request.reserve <= 4_000
    status = [section for section in prompt.sections if section.tier is Tier.ALWAYS and section.name not in ("system", "tools")]
    name = SECTION_OF_CROWD.get(kind, kind)
    shown = next(section.text for section in status if section.name == name)
    assert "more" in shown or "@" in shown or "…" in shown, "it says that there is more"


def with_work(state, looks, spoken):
    held, archive = passages(spoken)
    return GatheredContext(
        replace(state, memory=replace(state.memory, passages=held)), looks, build_trace(held, archive.__getitem__)
    )


def which_file(look):
    """A line of a file has one text: no file is shown twice. All else is unlike any other."""
    return look.path if isinstance(look, Excerpt) and look.kind == "file" else object()


shown_looks = st.lists(st.one_of(looks, file_looks), max_size=12, unique_by=which_file).map(tuple)
memories = st.builds(with_work, states, shown_looks, SPOKEN)


def made(memory, budget=4_000, type="implement_feature"):
    chosen = load_template(type)
    return build_prompt(memory, chosen, select_offered_tools(chosen, TOOLS), budget, COUNTER)


def whole(window):
    request = window.request
    return COUNTER(request.system) + COUNTER(request.body) + build_tools_section(request.tools, COUNTER).tokens


@given(memories, st.integers(1_200, 16_000), st.sampled_from(list_task_types()))
def test_a_window_fits_or_the_build_fails_loudly(memory, budget, type):
    try:
        window = made(memory, budget, type)
    except OverCeiling as fault:
        always = [draft for draft in draft_sections(memory) if draft.tier is Tier.ALWAYS]
        least = sum(COUNTER(piece.text) for draft in always for piece in draft.pieces)
        assert least + COUNTER(load_template(type).system) + budget * 0.25 > budget - 1_500
        assert fault.needed > budget and "Nothing was sent" in str(fault)
    else:
        assert whole(window) + window.request.reserve <= budget
        assert window.headroom >= 0


@given(memories, st.integers(3_000, 8_000))
def test_every_piece_is_shown_or_its_omission_is_written_down(memory, budget):
    try:
        window = made(memory, budget)
    except OverCeiling:
        return
    gone = [(omission.section, omission.what) for omission in window.omissions]
    for draft in draft_sections(memory):
        for piece in draft.pieces:
            assert piece.text in window.request.body or (draft.name, piece.what) in gone


@given(memories, st.integers(2_600, 8_000))
def test_every_line_of_the_work_is_shown_or_counted_among_what_is_left_out(memory, budget):
    try:
        window = made(memory, budget)
    except OverCeiling:
        return
    told = [one.what for one in window.omissions if one.section == "work"]
    shown = next((part.text.splitlines() for part in window.sections if part.name == "work"), [])
    for voice in PassageVoice:
        known = sum(latest.entry.voice is voice for latest in memory.trace.lines.values())
        gone = sum(int(what.split()[0].replace(",", "")) for what in told if f" lines of {voice}s" in what)
        assert 0 <= known - gone <= len(shown)
    assert any("of old steps" in what for what in told) == bool(memory.state.memory.forgotten and memory.trace.entries)


@given(memories, st.integers(400, 16_000))
def test_what_is_never_cut_alone_decides_whether_there_is_a_window(memory, budget):
    largest = made(memory, 60_000)
    people = [one.tokens for one in largest.sections if one.name in ("system", "tools", "footer", "instructions", "task")]
    least = (sum(people) + MIN_STATUS_TOKENS) * 4 // 3
    try:
        window = made(memory, budget)
    except OverCeiling as fault:
        assert budget < least + 100
        named = re.match(r"section '(\w+)' needs ([\d,]+) tokens, ([\d,]+) are left under the limit of ([\d,]+)", str(fault))
        assert named and int(named[2].replace(",", "")) > int(named[3].replace(",", "")) and named[4] == f"{budget:,}"
        assert "never cut" in str(fault) and str(fault).endswith("Nothing was sent.")
    else:
        assert budget > least - 100
        assert window.tokens + window.request.reserve <= budget


@settings(max_examples=settings.default.max_examples * 3 // 4)
@given(memories)
def test_the_same_memory_gives_the_same_bytes(memory):
    first, second = (attempt(memory) for _ in range(2))
    assert first == second


@given(memories, st.integers(3_000, 6_000), st.sampled_from(list_task_types()))
def test_a_window_is_the_same_after_its_inputs_went_through_the_journal(memory, budget, type):
    chosen, schemas = load_template(type), select_offered_tools(load_template(type), TOOLS)
    kept = GatheredContext(value_from_json(State, to_canonical_json(memory.state)), memory.items, memory.trace)
    again = value_from_json(Template, to_canonical_json(chosen)), loads_schemas(to_canonical_json(schemas)), kept
    try:
        first = build_prompt(memory, chosen, schemas, budget, COUNTER)
    except OverCeiling:
        return
    assert build_prompt(again[2], again[0], again[1], budget, COUNTER).request.text == first.request.text


def attempt(memory):
    try:
        return made(memory).request.text
    except OverCeiling as fault:
        return str(fault)


def state(**fields):
    return make_state(Task(id="t", goal="Make it work", checks=(Check("pytest -q"),)), limit=60, **fields)


def test_what_may_never_be_left_out_is_there_in_the_tightest_window():
    failed = Fact(FactKind.FAILED_APPROACH, "edit a.py", "test_x failed", step=3)
    memory = GatheredContext(
        state(facts=(failed,), words=("use tabs",), plan=(PlanItem("then b.py"),)),
        (repo_map("long\n" * 4_000), excerpt("a.py", 1, "x = 1\n" * 3_000)),
    )
    window = made(memory)
    for text in ("Make it work", "pytest -q", "use tabs", "edit a.py", "test_x failed", "then b.py"):
        assert text in window.request.body
    assert {omission.section for omission in window.omissions} >= {"outline", "files"}


def test_a_ceiling_below_the_minimum_names_the_largest_section_and_the_remedy():
    memory = GatheredContext(replace(state(), dialogue=replace(state().dialogue, words=("word " * 5_000,))))
    with pytest.raises(OverCeiling, match=r"^section 'task' needs [\d,]+ tokens, 1,\d+ are left under .* Nothing was sent\.$"):
        made(memory)


def test_room_that_one_section_leaves_is_used_by_another():
    code = [excerpt(f"a{n}.py", 1, "name = 1\n" * 20) for n in range(6)]
    small = made(GatheredContext(state(), (repo_map("short"), *code)))
    assert not small.omissions
    assert small.tokens > 1_400


def test_the_footer_says_how_long_prompt_and_reply_are_and_names_no_limit():
    prompt = made(GatheredContext(state(archived=3), ()))
    [line] = [line for line in prompt.request.footer.split("\n") if "[Context" in line]
    used, _, rest = line.removeprefix("[Context: ").partition(" tokens")
    assert abs(int(used.replace(",", "")) - prompt.tokens) < 10
    assert rest == ", your reply at most 1,000 | 3 archived outputs: `read` @index | step 1 of 60]"


def test_room_that_nothing_asks_for_stays_unused():
    tree = "\n".join(f"{n} " + "name " * 20 for n in range(50))
    small = made(GatheredContext(state(), (excerpt("a.py", 1, "short"), repo_map(tree))))
    assert {one.section for one in small.omissions} == {"outline"} and small.tokens < small.budget - small.request.reserve - 500


def test_stable_sections_come_first_so_that_successive_requests_share_their_prefix():
    first = made(GatheredContext(state(), (repo_map("a.py\nb.py"),)))
    record = StepRecord(1, "hm", (Observation(Action("read", {"path": "a.py"}), True, "shown"),), "read a.py", True)
    second = made(GatheredContext(state(recent=(record,), step=1), (repo_map("a.py\nb.py"),)))
    shared = next(i for i, (a, b) in enumerate(zip(first.request.body, second.request.body, strict=False)) if a != b)
    assert first.request.system == second.request.system
    assert "## Source tree" in first.request.body[:shared]


@pytest.mark.parametrize("budget", [4_000, 8_000, 16_000])
@pytest.mark.parametrize(("failures", "items"), [(0, 0), (12, 4), (25, 12)])
def test_what_is_told_of_the_project_is_the_same_however_much_else_there_is_to_say(failures, items, budget):
    """It stands before all that a cache can hold."""
    told = Note("fingerprint", "", "\n".join(f"line {number}: {'what the project is ' * 4}" for number in range(12)))
    facts = tuple(Fact(FactKind.FAILED_APPROACH, f"edit {number}", "broke the parser") for number in range(failures))
    busy = state(facts=facts, plan=tuple(PlanItem(f"item {number} of the plan") for number in range(items)))
    windows = made(GatheredContext(state(), (told,))), made(GatheredContext(busy, (told,)), budget)
    first, second = (next(part for part in one.sections if part.name == "fingerprint") for one in windows)
    assert first.text == second.text and told.text in first.text


def test_the_newest_words_of_the_user_stand_with_the_goal_as_what_counts_now():
    told = "\n".join(
        section.text for section in made(GatheredContext(state(words=("no tabs", "and now\nin the other file")))).sections
    )
    assert (
        f"\n- The user said: no tabs\n{NEWEST_MESSAGE_HEADING}\nand now\nin the other file\n" in told
        and told.count("The user said") == 1
    )
    assert "The user said" not in made(GatheredContext(state())).request.body


def test_notes_and_archived_searches_from_before_a_change_are_marked():
    changed = (Region("src/pricing.py", 3, 4, 5, changed=True),)
    notes = tuple(Fact(FactKind.NOTE, name, text, step=step) for name, text, step in (
        ("old", "pricing.py:19 rounds", 2), ("new", "pricing.py:20 is mended", 6), ("other", "label.py is fine", 2),
    ))  # fmt: skip
    index = tuple(
        BlockIndexLine(letter * 32, "search", "'weight'", 900, "26 hits", step) for letter, step in (("a", 2), ("b", 6))
    )
    window = made(GatheredContext(state(facts=notes, regions=changed, last_change=5, index=index, step=30)))
    told = window.request.body
    assert "- old: pricing.py:19 rounds (step 2, before the last change)\n" in told
    assert "- new: pricing.py:20 is mended\n" in told and "- other: label.py is fine\n" in told
    assert "- aaaaaaaa step 2, before the last change search" in told and "- bbbbbbbb step 6 search" in told


def test_short_notes_come_before_older_code():
    notes = [Fact(FactKind.NOTE, f"part {n}", "rounds where it should not, see the plan", step=n) for n in range(8)]
    code = [excerpt("a.py", n * 10, f"some_name_{n} = other_name\n" * 10, f"f{n}") for n in range(40)]
    test = Note("test", "test_a.py::test_b", "def test_b():\n" + "    assert some_name\n" * 60)
    thought = StepRecord(30, "and so on " * 900, (), "", True)
    told = made(GatheredContext(state(facts=tuple(notes), step=30, recent=(thought,)), (*code, test))).request.body
    assert all(f"- part {n}: rounds" in told for n in range(8)) and re.search(r"some_name_\d+ = ", told)


def test_what_one_output_says_of_several_tests_is_one_line():
    seen = [Fact(FactKind.OBSERVED, f"test_a.py::test_b[{n}]", "AssertionError: 1", 0.9, "a" * 32, 3) for n in range(4)]
    told = made(GatheredContext(state(facts=tuple(seen), step=30))).request.body
    assert "- step 3: test_a.py::test_b[0] and others: AssertionError: 1\n" in told and told.count("AssertionError") == 1
