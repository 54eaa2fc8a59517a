"""Pressure is what can't be left out; levels are few; going down too early makes the next descent wait."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.action import Action, Observation
from afresh.core.ceiling_forecast import can_afford_tool, project_prompt_tokens
from afresh.core.ceiling_state import (
    CALM_STEPS_BEFORE_LOWERING,
    MAX_CALM_STEPS_BEFORE_LOWERING,
    MAX_TOOLS_REMEMBERED,
    CallFigures,
    CeilingPressure,
    CeilingState,
    change_ceiling,
    count_ceiling_step,
    find_next_ceiling_down,
    find_next_ceiling_up,
    list_ceiling_levels,
    pressure_from_demand,
    update_tool_costs,
)
from afresh.core.memory_state import MemoryState, StepRecord
from afresh.core.state import State
from afresh.core.task import Task
from afresh.core.token_state import TokenState

CALM = CallFigures(budget=8_000, reserve=2_000, demand=3_600)
budgets = st.integers(1, 50_000)


def test_pressure_is_soft_from_80_and_critical_from_95_percent() -> None:
    levels = [pressure_from_demand(demand, 4_000) for demand in (3_199, 3_200, 3_799, 3_800, 9_999)]
    assert levels == [
        CeilingPressure.CALM,
        CeilingPressure.SOFT,
        CeilingPressure.SOFT,
        CeilingPressure.CRITICAL,
        CeilingPressure.CRITICAL,
    ]


def test_a_window_that_is_full_of_optional_things_is_calm() -> None:
    assert CallFigures(budget=4_000, reserve=1_000, tokens=2_990, demand=2_400).pressure is CeilingPressure.CALM


def test_the_ladder_is_twice_four_times_and_the_cap() -> None:
    assert list_ceiling_levels(4_000, 40_000) == (4_000, 8_000, 16_000, 40_000)
    assert list_ceiling_levels(4_000, 10_000) == (4_000, 8_000, 10_000) and list_ceiling_levels(4_000, 4_000) == (4_000,)


@given(budgets, st.integers(0, 100_000))
def test_up_and_down_the_ladder_ends_at_its_ends(ordered: int, more: int) -> None:
    cap, at, seen = ordered + more, ordered, [ordered]
    while (higher := find_next_ceiling_up(at, ordered, cap)) > at:
        at = higher
        seen.append(at)
    assert at == cap and len(seen) <= 4
    while (lower := find_next_ceiling_down(at, ordered)) < at:
        at = lower
    assert at == ordered


def test_a_descent_that_is_taken_back_doubles_the_patience_up_to_a_limit() -> None:
    room, patience = CeilingState(), []
    for _ in range(6):
        room = change_ceiling(room, 4_000, 8_000, 1, "up")
        patience.append(room.patience)
        room = change_ceiling(room, 8_000, 4_000, 2, "down")
    assert patience == [CALM_STEPS_BEFORE_LOWERING, 6, 12, 24, MAX_CALM_STEPS_BEFORE_LOWERING, MAX_CALM_STEPS_BEFORE_LOWERING]


def test_a_second_step_up_is_no_descent_taken_back() -> None:
    room = change_ceiling(change_ceiling(CeilingState(), 4_000, 8_000, 1, ""), 8_000, 16_000, 2, "")
    assert (room.patience, room.highest) == (CALM_STEPS_BEFORE_LOWERING, 16_000)


def test_only_failures_while_something_was_missing_count() -> None:
    missing = CallFigures(budget=4_000, demand=2_000, unmet=300)
    room = count_ceiling_step(count_ceiling_step(CeilingState(), missing, False, 4_000), missing, False, 4_000)
    assert room.failing == 2
    assert (
        count_ceiling_step(room, missing, True, 4_000).failing
        == count_ceiling_step(room, CallFigures(budget=4_000), False, 4_000).failing
        == 0
    )


def test_a_step_is_calm_if_it_worked_and_the_level_below_would_hold_what_must_be_in() -> None:
    assert count_ceiling_step(CeilingState(calm=1), CALM, True, 4_000).calm == 2
    assert count_ceiling_step(CeilingState(calm=1), CALM, False, 4_000).calm == 0
    assert (
        count_ceiling_step(CeilingState(calm=1), CallFigures(budget=8_000, reserve=2_000, demand=4_300), True, 4_000).calm == 0
    ), "3,300 of 4,000"
    assert count_ceiling_step(CeilingState(), CallFigures(budget=4_000, demand=100), True, 4_000).calm == 0, (
        "there is no level below"
    )


def seen(tool: str, size: int = 0, lines: int = 0) -> Observation:
    return Observation(Action(tool), True, "", size=size, lines=lines)


def test_what_a_tool_brings_is_learnt_also_the_lines_that_it_shows() -> None:
    costs = {
        cost.tool: (cost.times, cost.tokens)
        for cost in update_tool_costs((), [seen("run", 700), seen("run", 1_400), seen("read", 70, 80)])
    }
    assert costs == {"run": (2, 300.0), "read": (1, 934.0)}


def test_the_table_of_costs_is_bounded_and_keeps_the_most_used() -> None:
    costs = update_tool_costs((), [seen("run", 350)] * 3)
    for number in range(40):
        costs = update_tool_costs(costs, [seen(f"invented{number}", 9)])
    assert len(costs) == MAX_TOOLS_REMEMBERED and costs[0].tool == "run"


def test_what_can_be_afforded_depends_on_what_must_be_in() -> None:
    told = StepRecord(1, "", (seen("run", 3_500),), "", True)
    state = State(
        task=Task(id="t", goal="g"),
        tokens=TokenState(
            last_call=CallFigures(budget=4_000, reserve=1_000, demand=2_500), tool_costs=update_tool_costs((), told.observations)
        ),
        memory=MemoryState(recent=(told,)),
    )
    assert project_prompt_tokens(state) == 3_500 and can_afford_tool(state, "run")
    assert project_prompt_tokens(state, 8_000) == 4_500 and not can_afford_tool(state, "run", 3_000)
    assert can_afford_tool(state, "never used")


@pytest.mark.parametrize(("unmet", "omitted", "failing"), [(0, 0, 0), (0, 100, 0), (0, 101, 1), (1, 1, 1), (300, 900, 1)])
def test_a_failure_counts_when_what_was_left_out_may_have_been_its_cause(unmet: int, omitted: int, failing: int):
    reading = CallFigures(budget=4_000, demand=2_000, unmet=unmet, omitted=omitted)
    assert count_ceiling_step(CeilingState(), reading, False, 4_000).failing == failing
    assert count_ceiling_step(CeilingState(failing=1), reading, True, 4_000).failing == 0
