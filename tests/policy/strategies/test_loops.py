"""What the next call is for follows from the state alone, by one loop or the other."""

from dataclasses import replace
from itertools import cycle, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.config.templates.load_template import load_template
from afresh.core.event import QuestionAnswered, TaskEnded
from afresh.core.reducer import apply_event
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.states.strategy_state import (
    PLAN_EXECUTE_STRATEGY,
    REACT_STRATEGY,
    STRATEGY_NAMES,
    PlanItem,
    StrategyChanged,
    StrategyState,
    change_strategy,
    count_strategy_step,
)
from afresh.core.states.verification_state import VerificationState
from afresh.core.states.work_state import PendingReply, WorkState
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.task import Task, TaskStatus
from afresh.core.verdict import Baseline, Ruling, Verdict
from afresh.policy.next_call import choose_strategy, layout_for_next_call
from afresh.policy.phase_limits import (
    PhasePressure,
    count_phase_steps,
    phase_pressure_from_state,
    press_layout,
    scale_phase_steps,
)
from afresh.policy.replan import decide_replan
from support.states import replace_in_parts

BUG = load_template("fix_bug")
PLANNED = replace(BUG, loop=PLAN_EXECUTE_STRATEGY)
NEW = State(
    task=Task(id="t", goal="g"),
    status=TaskStatus.RUNNING,
    workspace=WorkspaceState(first_snapshot="s"),
    verification=VerificationState(baseline=Baseline()),
    work=WorkState(limit=60),
)
ONE, TWO, DONE = PlanItem("mend the parser"), PlanItem("test it"), PlanItem("read it", True)
REFUSED = Verdict(Ruling.FAIL, "test_a fails", final=True)


def planned(*items: PlanItem, **loop: object) -> State:
    return replace(
        NEW,
        work=replace(NEW.work, step=3, plan=items, plan_step=3, strategy=replace(StrategyState(planning=False), **loop)),
        workspace=replace(NEW.workspace, changed=("a.py",)),
    )


def test_react_offers_all_tools_and_adds_no_word():
    layout = layout_for_next_call(NEW, BUG)
    assert (layout.open, layout.cue) == (BUG.at("understand").tools, "")


def test_react_tells_of_another_way_for_a_few_steps():
    told = [
        layout_for_next_call(
            replace(
                NEW, work=replace(NEW.work, step=step, strategy=StrategyState(REACT_STRATEGY, 4, 1, "edits undo each other"))
            ),
            BUG,
        ).cue
        for step in (4, 6, 7)
    ]
    assert told == ["Try a different approach: edits undo each other."] * 2 + [""]


def test_nothing_is_changed_before_there_is_a_plan():
    layout = layout_for_next_call(NEW, PLANNED)
    assert not {"edit", "apply", "complete"} & {*layout.open} and {"read", "run", "plan"} <= {*layout.open}
    assert "then `plan`" in layout.cue


def test_an_answer_of_a_person_ends_the_demand_for_a_new_plan():
    stalled = apply_event(StrategyChanged(3, PLAN_EXECUTE_STRATEGY, "4 steps did nothing"), planned(ONE))
    assert "edit" not in layout_for_next_call(stalled, BUG).open
    answered = apply_event(QuestionAnswered("go on: the counters are reset", "Ada", 1), stalled)
    layout = layout_for_next_call(answered, BUG)
    assert "edit" in layout.open and "plan" not in layout.cue


def test_one_item_is_in_focus_and_the_last_may_complete():
    first, last = (
        layout_for_next_call(planned(DONE, ONE, TWO, steps=2), PLANNED),
        layout_for_next_call(planned(DONE, DONE, TWO), PLANNED),
    )
    assert 'Now item 2 of 3, step 3 of 8: mend the parser. Only this; in the reply that finishes it, plan ["[x] 2"].' in first.cue
    assert "edit" in first.open and "complete" not in first.open and "complete" in last.open
    assert "All items are done" in layout_for_next_call(planned(DONE), PLANNED).cue


def test_the_loop_is_the_one_turned_to_before_the_one_ordered_before_that_of_the_type():
    ordered = replace(NEW, task=replace(NEW.task, loop=PLAN_EXECUTE_STRATEGY))
    assert [
        choose_strategy(NEW, BUG),
        choose_strategy(ordered, BUG),
        choose_strategy(replace_in_parts(ordered, strategy=StrategyState(REACT_STRATEGY)), PLANNED),
    ] == [
        REACT_STRATEGY,
        PLAN_EXECUTE_STRATEGY,
        REACT_STRATEGY,
    ]


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (planned(ONE, TWO, steps=7), ""),
        (planned(ONE, TWO, steps=8), "item 1 (mend the parser) is not done after 8 steps"),
        (planned(DONE, TWO, undone=2), "2 changes for item 2 (test it) were undone"),
        (
            replace(planned(DONE, DONE), verification=replace(planned(DONE, DONE).verification, refusals=2, verdict=REFUSED)),
            "completion was refused 2 times, last: test_a fails",
        ),
        (
            replace(
                planned(DONE, DONE, refusals=1),
                verification=replace(planned(DONE, DONE, refusals=1).verification, refusals=2, verdict=REFUSED),
            ),
            "",
        ),
    ],
)
def test_a_plan_that_does_not_work_is_given_up(state: State, why: str):
    assert decide_replan(state, PLANNED) == ([StrategyChanged(3, PLAN_EXECUTE_STRATEGY, why)] if why else [])
    assert decide_replan(state, BUG) == [], "react has no items"


def test_a_turn_asks_for_a_new_plan_with_the_reason_and_too_many_ask_a_person():
    state = replace(planned(ONE, TWO, steps=8), workspace=replace(planned(ONE, TWO, steps=8).workspace, kept=1, reverted=2))
    (turn,) = decide_replan(state, PLANNED)
    assert isinstance(turn, StrategyChanged)
    after = replace(state, work=replace(state.work, strategy=change_strategy(turn, state.work.strategy, 0)))
    layout = layout_for_next_call(after, PLANNED)
    assert "Make a new `plan`: item 1 (mend the parser) is not done after 8 steps." in layout.cue and "edit" not in layout.open
    assert "new `plan`" not in layout_for_next_call(replace_in_parts(after, plan_step=4, step=4), PLANNED).cue
    _, ended = decide_replan(replace(state, work=replace(state.work, strategy=replace(state.work.strategy, turns=2))), PLANNED)
    assert isinstance(ended, TaskEnded) and ended.status is TaskStatus.BLOCKED
    assert "changed its approach 2 times" in ended.reason and "changes kept: 1, undone: 2, 0 of 2 items" in ended.reason


def test_a_plan_that_is_never_made_is_the_only_thing_left_to_do_and_then_a_person_is_asked():
    late, too_late = (replace(NEW, work=replace(NEW.work, step=steps, strategy=StrategyState(steps=steps))) for steps in (12, 18))
    assert layout_for_next_call(late, PLANNED).open == ("plan", "ask") and decide_replan(late, PLANNED) == []
    asked, _ = decide_replan(too_late, PLANNED)
    assert "18 steps have not produced a plan" in asked.question  # pyright: ignore[reportAttributeAccessIssue]


ITEMS = st.lists(st.builds(PlanItem, st.sampled_from("abc"), st.booleans()), max_size=4).map(tuple)
PATTERN = st.lists(st.tuples(ITEMS | st.none(), st.booleans()), min_size=1, max_size=6)
MOST = (PLANNED.pace.replans + 1) * (12 + PLANNED.pace.grace + 5 * PLANNED.pace.item_steps)


@given(PATTERN)
def test_no_pattern_of_steps_goes_on_for_ever_without_a_word_of_a_person(pattern: list[tuple[tuple[PlanItem, ...] | None, bool]]):
    """The whole machine: whatever is planned, marked and undone again and again, it turns a few times and then asks."""
    state, turns = NEW, 0
    for plan, kept in islice(cycle(pattern), MOST + 1):
        for event in (events := decide_replan(state, PLANNED)):
            if isinstance(event, StrategyChanged):
                state, turns = (
                    replace(state, work=replace(state.work, strategy=change_strategy(event, state.work.strategy, 0))),
                    turns + 1,
                )
        if any(isinstance(event, TaskEnded) for event in events):
            break
        step = state.work.step + 1
        state = replace(state, work=replace(state.work, plan=plan, plan_step=step)) if plan is not None else state
        state = replace(
            state,
            work=replace(
                state.work,
                step=step,
                strategy=count_strategy_step(state.work.strategy, state.work.plan, state.work.plan_step, kept),
            ),
        )
        assert layout_for_next_call(state, PLANNED).tools == PLANNED.at("").tools, "what is offered never changes"
    else:
        raise AssertionError("nobody was asked")
    assert turns <= PLANNED.pace.replans


@given(st.integers(0, 200), st.integers(1, 600), st.sampled_from(STRATEGY_NAMES), st.booleans())
def test_a_phase_goes_from_open_to_spent_and_only_a_person_leads_back(spent: int, max_steps: int, loop: str, pending: bool):
    style = replace(BUG, loop=loop)
    ordered = replace(
        NEW,
        task=replace(NEW.task, max_steps=max_steps),
        workspace=replace(NEW.workspace, changed=("a.py",)),
        work=replace(NEW.work, plan=(ONE,), plan_step=1),
    )
    order = [PhasePressure.OPEN, PhasePressure.URGED, PhasePressure.PRESSED, PhasePressure.SPENT]
    layout = style.at("change")
    at = [
        phase_pressure_from_state(replace_in_parts(ordered, phase_steps=(("change", count),)), layout, style.pace)
        for count in (spent, spent + 1)
    ]
    assert order.index(at[0]) <= order.index(at[1])
    under_way = replace_in_parts(ordered, phase_steps=(("change", spent + 1),), pending=PendingReply(1, Reply("")))
    assert phase_pressure_from_state(under_way, layout, style.pace) is at[0] and count_phase_steps(under_way) == spent, (
        "a step keeps the stage it was asked in"
    )
    limit = scale_phase_steps(ordered.task, layout.steps) + 2 * style.pace.grace
    assert (at[0] is PhasePressure.SPENT) or spent < limit
    assert phase_pressure_from_state(replace_in_parts(ordered, phase_steps=()), layout, style.pace) is PhasePressure.OPEN


def test_who_only_looks_has_nothing_left_to_look_with_and_then_is_stopped():
    looking = [replace(NEW, work=replace(NEW.work, step=count, phase_steps=(("understand", count),))) for count in (11, 18, 24)]
    urged, narrowed, _ = [layout_for_next_call(state, BUG) for state in looking]
    assert "read" in urged.open and "The 12 steps of this phase are used up" in urged.cue
    assert not {"read", "search", "run"} & {*narrowed.open} and {"edit", "ask", "plan"} <= {*narrowed.open}
    assert [len(decide_replan(state, BUG)) for state in looking] == [0, 0, 2]
    _, ended = decide_replan(looking[2], BUG)
    assert isinstance(ended, TaskEnded) and "Phase understand has used its 24 steps" in ended.reason


def test_without_a_grace_nothing_but_the_urging_happens():
    endless = replace(BUG, pace=replace(BUG.pace, grace=0))
    state = replace(NEW, work=replace(NEW.work, phase_steps=(("understand", 500),)))
    assert decide_replan(state, endless) == [] and layout_for_next_call(state, endless).open == BUG.at("understand").tools


def test_a_reworded_or_unmarked_item_wins_no_steps():
    loop = count_strategy_step(StrategyState(), (ONE, TWO), 1, True)
    for plan in ((PlanItem("mend it"), TWO), (ONE,), (replace(ONE, done=True), TWO), (ONE, TWO), (replace(ONE, done=True), TWO)):
        loop = count_strategy_step(loop, plan, 2, True)
    assert (loop.done, loop.steps) == (1, 2)


def test_pressing_keeps_what_the_loop_has_said():
    state = replace(planned(ONE, TWO), work=replace(planned(ONE, TWO).work, phase_steps=(("change", 40),)))
    assert press_layout(replace(BUG.at("change"), cue="Now item 1."), state, BUG.pace).cue.startswith("Now item 1.\nThe 40 steps")
