"""What of all that was decided and tried a window tells: what concerns the work now, and the rest by name."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_template
from afresh.context.build_prompt import build_prompt, select_offered_tools
from afresh.context.relevance import select_relevant_items, summarise_headings
from afresh.context.section import OFF_TOPIC_REASON
from afresh.core.context_item import Item, Note
from afresh.core.decision import Decision
from afresh.core.fact import Fact, FactKind
from afresh.core.state import State
from afresh.core.states.strategy_state import PlanItem
from afresh.core.states.work_state import WorkState
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.task import Check, Task
from afresh.core.tokens import EstimatingCounter
from afresh.memory.gathered_context import GatheredContext
from support.states import make_state

AREAS = ("parser", "cache", "router", "mailer", "ledger", "calendar", "printer", "archive")


def state(about: str = "", **more) -> State:
    plan = (PlanItem(f"mend the {about}"),) if about else ()
    return make_state(
        task=Task(id="t", goal="Make it work", checks=(Check("pytest -q"),)),
        **more,
        work=WorkState(plan=plan, limit=60),
        workspace=WorkspaceState(first_snapshot="o"),
    )


def text(state: State, *looks: Item, budget: int = 4_000) -> str:
    style = load_template("implement_feature")
    return window(state, looks, budget, style).request.message


def window(state: State, looks, budget: int, style):
    return build_prompt(
        GatheredContext(state, tuple(looks)),
        style,
        select_offered_tools(style.at(state.phase), TOOLS),
        budget,
        EstimatingCounter(),
    )


DECISIONS = tuple(Decision(f"{area} rule {n}", "model", "tested", n, area) for n in range(6) for area in AREAS)
FAILED = tuple(Fact(FactKind.FAILED_APPROACH, f"edit src/{area}.py (a{n} → b{n})", "2 tests fail now", step=n) for n in range(5)
               for area in AREAS)  # fmt: skip


def test_few_are_all_told_and_many_by_what_the_work_is_about() -> None:
    few = text(state("cache", decisions=DECISIONS[:3], facts=FAILED[:3]))
    assert all(one.text in few for one in DECISIONS[:3]) and "more (`search`" not in few
    many = text(state("cache", decisions=DECISIONS, facts=FAILED))
    assert all(f"cache rule {n}" in many for n in range(6))
    assert all(f"edit src/cache.py (a{n} → b{n})" in many for n in range(5))
    assert "42 more (`search` path=@decisions): " in many and "34 more (`search` path=@failed): " in many
    assert all(f"{area}" in many for area in AREAS), "the others are named"


def test_when_the_work_turns_to_something_else_so_does_what_is_told() -> None:
    told = text(state("ledger", decisions=DECISIONS, facts=FAILED))
    assert all(f"ledger rule {n}" in told for n in range(6)) and "cache rule 0" not in told


def test_what_is_only_named_is_written_down_as_left_out() -> None:
    made = window(state("cache", decisions=DECISIONS), (), 4_000, load_template("implement_feature"))
    gone = [one for one in made.omissions if one.section == "decisions"]
    assert len(gone) == 42 and {one.reason for one in gone} == {OFF_TOPIC_REASON} and all(one.tokens > 0 for one in gone)


def test_a_larger_ceiling_tells_more() -> None:
    many = state("cache", decisions=DECISIONS)
    lines = [
        text(replace(many, task=replace(many.task, budget=budget)), budget=budget).count(" rule ")
        for budget in (4_000, 8_000, 16_000)
    ]
    assert lines[0] < lines[1] < lines[2]


def test_decisions_that_only_memory_holds_stand_beside_those_of_the_state() -> None:
    old = Note("decision", "m12345678", "step 3: cache: keep it small")
    assert "- step 3: cache: keep it small" in text(state("cache", decisions=DECISIONS[:2]), old)


words = st.sampled_from(AREAS)


@given(st.lists(st.tuples(words, words), max_size=40), words)
def test_each_is_told_or_left_and_nothing_left_concerns_the_work_more_than_what_is_told(pairs, about: str) -> None:
    items = [f"{one} {two} {number}" for number, (one, two) in enumerate(pairs)]
    found = select_relevant_items(items, str, state(about))
    assert sorted((*found.shown, *found.rest)) == sorted(items)
    assert list(found.shown) == [item for item in items if item in found.shown], "in the order in which they came"
    if any(about in item for item in found.rest):
        assert all(about in item for item in found.shown)


def test_headings_name_files_and_count() -> None:
    assert summarise_headings(["edit src/a.py (x)", "edit src/a.py (y)", "cache"]) == "a.py (2), cache"
    assert summarise_headings([f"area{n}" for n in range(20)]).endswith(", …")


def test_the_order_of_the_journal_does_not_matter_to_whom_it_concerns() -> None:
    forward = select_relevant_items([one.text for one in DECISIONS], str, state("printer"))
    backward = select_relevant_items(
        [one.text for one in reversed(DECISIONS)],
        str,
        replace(state("printer"), work=replace(state("printer").work, step=9)),
    )
    assert set(forward.shown) == set(backward.shown)
