"""Through the loop: the ceiling goes up level by level, for a reason that is on record, and down again; never over its cap."""

from dataclasses import replace

from yard import Step, Yard, other

from afresh.core.ceiling_state import CeilingChanged, LargerCeilingRequested
from afresh.core.event import CallRequested
from afresh.core.progress_state import StallThresholds
from afresh.testing.states import replace_in_parts

CALM = StallThresholds(
    **{sign: () for sign in ("repeated", "cycling", "undoing", "rereading", "failing", "idle_steps", "idle_tokens")}
)
ASKS: Step = ("more_room", {"reason": "line_90 is not shown"})


def yard(answer, window: int = 200_000, **more) -> Yard:
    made = Yard(answer, patience=CALM, max_steps=more.pop("max_steps", 12), **more)
    made.model.window = window
    tools = (*made.runtime.settings.template.tools, "more_room")
    phases = tuple(replace(phase, tools=(*phase.tools, "more_room")) for phase in made.runtime.settings.template.phases)
    made.runtime = replace_in_parts(made.runtime, template=replace(made.runtime.settings.template, tools=tools, phases=phases))
    return made


def changes(made: Yard) -> list[tuple[int, int]]:
    return [(one.before, one.budget) for one in made.events(CeilingChanged)]


def test_the_agent_asks_and_goes_up_to_the_cap_level_by_level():
    made = yard(lambda step: [ASKS] if step <= 4 else [other(step)], budget=4_000, max_steps=5)
    made.works()
    assert changes(made) == [(4_000, 8_000), (8_000, 16_000), (16_000, 16_000), (16_000, 16_000)]
    assert {one.reason for one in made.events(CeilingChanged)[:2]} == {"the agent asked: line_90 is not shown"}
    assert made.events(CeilingChanged)[-1].reason.endswith("but 16,000 is the limit"), (
        "a wish that can't be granted is on record too"
    )
    assert len(made.events(LargerCeilingRequested)) == 4


def test_no_call_is_larger_than_a_fifth_of_the_window_or_than_the_users_limit():
    small = yard(lambda step: [ASKS], window=30_000, budget=4_000, max_steps=5)
    small.works()
    assert changes(small)[0] == (4_000, 6_000) and max(one.audit.budget for one in small.events(CallRequested)) == 6_000
    limited = yard(lambda step: [ASKS], budget=4_000, limit=5_000, max_steps=5)
    limited.works()
    assert max(one.audit.budget for one in limited.events(CallRequested)) == 5_000
    for one in (*small.events(CallRequested), *limited.events(CallRequested)):
        assert one.audit.tokens + one.audit.reserve <= one.audit.budget


def test_it_goes_back_down_once_it_is_not_needed():
    made = yard(lambda step: [ASKS] if step == 1 else [other(step)], budget=4_000)
    made.works()
    up, down = made.events(CeilingChanged)
    assert (up.budget, down.budget) == (8_000, 4_000) and "calm steps in a row" in down.reason and down.step >= up.step + 3


def test_two_failures_in_a_row_raise_it_and_one_does_not():
    """For want of room: what was asked for and had no place."""
    wide = "".join(f"def part_{number}():\n    return '{'and so on ' * 12}'\n\n\n" for number in range(200))

    def answer(step: int) -> list[Step]:
        look: Step = ("read", {"path": "wide.py", "start": 1, "lines": 700})
        lost: Step = ("read", {"path": "nowhere.py"})
        return [look] if step == 1 else [lost] if step in (2, 4, 5) else [other(step)]

    made = yard(answer, budget=4_000, max_steps=6, wide=wide)
    made.works()
    reasons = [(one.step, one.reason) for one in made.events(CeilingChanged)]
    assert [(step, reason.partition(" while")[0]) for step, reason in reasons if "failed" in reason] == [
        (5, "2 steps in a row failed")
    ], reasons


def failing_after_much(printed: int, wide: str = "") -> Yard:
    """A command prints so many lines; four steps later two fail in a row, for reasons that say nothing of room."""

    def shell(command: str, text: str, count: int) -> tuple[int, str]:
        return (1, "AssertionError") if "check" in command else (0, "\n".join(f"row {row} of the list" for row in range(printed)))

    def answer(step: int) -> list[Step]:
        lost: Step = ("read", {"path": "nowhere.py"})
        return [("run", {"command": "list"})] if step == 1 else [lost] if step in (6, 7) else [other(step)]

    made = yard(answer, budget=4_000, max_steps=8, wide=wide, printed=shell)
    made.works()
    return made


def test_two_failures_raise_it_when_something_was_left_out_that_nobody_asked_for():
    made = failing_after_much(2_000)
    (raised,) = [one for one in made.events(CeilingChanged) if "failed" in one.reason]
    assert (raised.step, raised.before, raised.budget) == (7, 4_000, 8_000)
    assert "2 steps in a row failed while about" in raised.reason and "tokens were left out of the window" in raised.reason


def test_two_failures_raise_nothing_when_the_window_shows_all_there_is():
    assert changes(failing_after_much(3)) == []
