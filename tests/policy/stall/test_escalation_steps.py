"""Through the loop: the ceiling rises for the step that needs it, for a reason that is on record; never over its cap."""

from yard import Step, Yard, other

from afresh.context.limit import AS_ORDERED
from afresh.core.event import CallRequested
from afresh.core.states.ceiling_state import CeilingChanged, LargerCeilingRequested
from afresh.core.states.progress_state import StallThresholds

CALM = StallThresholds(repeats=(), idle_steps=(), idle_tokens=())
ASKS: Step = ("note", {"subject": "room", "text": "line_90 is not shown"})


def yard(answer, window: int = 200_000, **more) -> Yard:
    made = Yard(answer, patience=CALM, max_steps=more.pop("max_steps", 12), **more)
    made.model.window = window
    return made


WIDE = "".join(f"def part_{number}():\n    return '{'and so on ' * 12}'\n\n\n" for number in range(400))


def test_each_wish_of_the_agent_doubles_the_limit_for_three_steps():
    """For what it has looked at: a higher limit that nothing is shown for is not used."""

    def answer(step: int) -> list[Step]:
        return [("read", {"path": "wide.py", "start": 1, "lines": 900}), ASKS] if step <= 2 else [other(step)]

    made = yard(answer, budget=4_000, max_steps=7, wide=WIDE)
    made.works()
    assert [one.audit.budget for one in made.events(CallRequested)][:4] == [4_000, 8_000, 16_000, 16_000]
    asked = [one.reason.startswith("the agent asked: line_90 is not shown") for one in made.events(CeilingChanged)]
    assert asked[:2] == [True, True] and made.events(CeilingChanged)[-1].reason == AS_ORDERED
    assert len(made.events(LargerCeilingRequested)) == 2


def test_no_call_is_larger_than_a_fifth_of_the_window_or_than_the_users_limit():
    reads: list[Step] = [("read", {"path": "wide.py", "start": 1, "lines": 900}), ASKS]
    small = yard(lambda step: reads, window=30_000, budget=4_000, max_steps=5, wide=WIDE)
    small.works()
    assert max(one.audit.budget for one in small.events(CallRequested)) == 6_000
    limited = yard(lambda step: reads, budget=4_000, limit=5_000, max_steps=5, wide=WIDE)
    limited.works()
    assert max(one.audit.budget for one in limited.events(CallRequested)) == 5_000
    for one in (*small.events(CallRequested), *limited.events(CallRequested)):
        assert one.audit.tokens + one.audit.reserve <= one.audit.budget


def test_steps_that_fail_in_a_row_raise_nothing():
    """Even if much was left out that nobody asked for."""

    def shell(command: str, text: str, count: int) -> tuple[int, str]:
        return (1, "AssertionError") if "check" in command else (0, "\n".join(f"row {row} of the list" for row in range(2_000)))

    def answer(step: int) -> list[Step]:
        lost: Step = ("read", {"path": "nowhere.py"})
        return [("run", {"command": "list"})] if step == 1 else [lost] if step in (6, 7) else [other(step)]

    made = yard(answer, budget=4_000, max_steps=8, printed=shell)
    made.works()
    assert made.events(CeilingChanged) == []


def test_lines_that_were_read_raise_it_for_the_steps_after():
    wide = "".join(f"def part_{number}():\n    return '{'and so on ' * 12}'\n\n\n" for number in range(200))

    def answer(step: int) -> list[Step]:
        return [("read", {"path": "wide.py", "start": 1, "lines": 160})] if step == 1 else [other(step)]

    made = yard(answer, budget=4_000, max_steps=6, wide=wide)
    made.works()
    first, *raised, fifth, sixth = [one.audit.budget for one in made.events(CallRequested)]
    assert first == fifth == sixth == 4_000 < min(raised) <= max(raised) <= 8_000, "for three steps, as nothing is edited"
    up, *_, down = made.events(CeilingChanged)
    assert "tokens more for what was read or edited lately" in up.reason and down.reason == AS_ORDERED
