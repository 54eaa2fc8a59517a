"""Pressure is what can't be left out; what is on record of ceilings, wishes and replies."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.core.action import Action, Observation
from afresh.core.states.ceiling_state import (
    MAX_TOOLS_REMEMBERED,
    CallFigures,
    CeilingPressure,
    CeilingState,
    count_open_wishes,
    note_wish,
    pressure_from_demand,
    round_up_ceiling,
    update_tool_costs,
)


def test_pressure_is_soft_from_80_and_critical_from_95_percent() -> None:
    levels = [pressure_from_demand(demand, 4_000) for demand in (3_199, 3_200, 3_799, 3_800, 9_999)]
    assert levels == [
        CeilingPressure.CALM,
        CeilingPressure.SOFT,
        CeilingPressure.SOFT,
        CeilingPressure.CRITICAL,
        CeilingPressure.CRITICAL,
    ]


def test_pressure_is_that_of_the_prompt_that_was_sent_and_optional_things_need_no_more_room() -> None:
    full = CallFigures(budget=4_000, reserve=1_000, tokens=2_990, demand=2_400)
    assert full.pressure is CeilingPressure.CRITICAL and full.needs_pressure is CeilingPressure.CALM


@given(st.integers(1, 50_000))
def test_a_ceiling_is_rounded_up_to_the_next_500(tokens: int) -> None:
    assert tokens <= round_up_ceiling(tokens) < tokens + 500 and round_up_ceiling(tokens) % 500 == 0


def test_wishes_add_up_until_they_are_forgotten() -> None:
    room = note_wish(note_wish(CeilingState(), 4, "one"), 6, "two")
    assert [count_open_wishes(room, step) for step in (6, 9, 10)] == [2, 2, 0]
    assert note_wish(room, 10, "three").wishes == 1


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
