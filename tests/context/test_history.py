"""One history in a window: each step in one place, in order, with nothing told twice that stands elsewhere."""

import re

from hypothesis import given
from hypothesis import strategies as st
from traces import SPOKEN, Said, passages

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_template
from afresh.context.build_prompt import build_prompt, select_offered_tools
from afresh.core.action import Action, Observation
from afresh.core.fact import Fact, FactKind
from afresh.core.prompt import Prompt
from afresh.core.step_history import PassageVoice
from afresh.core.step_record import StepRecord
from afresh.core.task import Check, Task
from afresh.core.tokens import EstimatingCounter
from afresh.memory.gathered_context import GatheredContext
from afresh.memory.history.trace import build_trace
from support.states import make_state

STYLE = load_template("implement_feature")
CHECK = "python -m pytest -q"
TOLD = [re.compile(r"^(\d+)(?: [a-z0-9 ]+)?(?:[>:] |= )"), re.compile(r"^## Last step \((\d+)\)")]
"""How a step begins in the sections `work` and `last`."""


def record(
    step: int, outcome: str, kept: bool = True, text: str = "shown", reverted: str = "", checks: tuple[str, ...] = ()
) -> StepRecord:
    seen = (Observation(Action("read", {"path": "a.py"}), True, text),)
    return StepRecord(step, f"thought of {step}", seen, outcome, kept, reverted, checks)


def window(spoken: list[Said], *recent: StepRecord, budget: int = 6_000, **fields: object) -> Prompt:
    held, archive = passages(spoken)
    task = Task(id="t", goal="Make it work", checks=(Check(CHECK),))
    state = make_state(task, **{"limit": 60, "step": recent[-1].step, "passages": held, "recent": recent, **fields})  # pyright: ignore[reportArgumentType]
    return build_prompt(
        GatheredContext(state, (), build_trace(held, archive.__getitem__)),
        STYLE,
        select_offered_tools(STYLE.at("change"), TOOLS),
        budget,
        EstimatingCounter(),
    )


def text(made: Prompt, name: str) -> str:
    return next((part.text for part in made.sections if part.name == name), "")


def steps_in(made: Prompt) -> list[set[int]]:
    """Of each section, the steps that it tells of."""
    found = zip(("work", "last"), TOLD, strict=True)
    return [{int(match[1]) for line in text(made, name).splitlines() if (match := form.match(line))} for name, form in found]


SAID: list[Said] = [
    (1, PassageVoice.THOUGHT, "first_name may be the cause"), (1, PassageVoice.ACTION, "read src/parcel/c.py"),
    (2, PassageVoice.THOUGHT, "so second_name is looked at"), (2, PassageVoice.ACTION, "run pytest -q tests/test_a.py"),
    (2, PassageVoice.OUTPUT, "$ pytest -q tests/test_a.py\nexit 1\n..F  [100%]\nE  second_name is None"),
    (3, PassageVoice.ACTION, "edit b.py"), (4, PassageVoice.THOUGHT, "thought of 4"), (4, PassageVoice.ACTION, "read a.py"),
]  # fmt: skip
TARGETED = f"{CHECK} (targeted: tests/test_a.py and 3 more)"
RECENT = (
    record(2, "run pytest -q tests/test_a.py (failed) → 1 failed"),
    record(3, f"edit b.py: kept; {TARGETED}: 83 passed", checks=(TARGETED,)),
    record(4, "read a.py"),
)


def test_a_step_is_told_once_with_what_was_thought_done_and_printed_in_this_order():
    made = window(SAID, *RECENT)
    shown = text(made, "work").splitlines()[1:]
    assert shown[:2] == ["1: first_name may be the cause", "1> read src/parcel/c.py"]
    assert shown[2:4] == ["2: so second_name is looked at", "2> run pytest -q tests/test_a.py (failed) → 1 failed"]
    assert shown[4].startswith("2= ") and shown[5:] == ["E  second_name is None", "3> edit b.py: kept; 83 passed"]
    assert steps_in(made) == [{1, 2, 3}, {4}]


def test_without_lines_of_the_work_the_latest_steps_stand_by_themselves():
    assert text(window([], *RECENT), "work").splitlines()[1:] == [
        "2> run pytest -q tests/test_a.py (failed) → 1 failed", "3> edit b.py: kept; 83 passed",
    ]  # fmt: skip


def test_why_a_step_was_undone_stands_where_what_failed_stands_and_only_there():
    why = "14 tests passed before and fail now"
    undone = record(3, f"edit b.py: reverted: {why}", kept=False, reverted="edit b.py")
    fact = Fact(FactKind.FAILED_APPROACH, "edit b.py", why, step=3)
    told, untold = (window(SAID, RECENT[0], undone, RECENT[2], facts=facts) for facts in ((fact,), ()))
    assert "\n3> edit b.py: reverted" in text(told, "work") and told.request.message.count(why) == 1
    assert f"\n3> edit b.py: reverted: {why}" in text(untold, "work")


def test_the_last_thought_stands_once_though_what_it_led_to_had_to_be_cut():
    long = "\n".join(f"value_{number} stands in src/module_{number}.py" for number in range(800))
    made = window(SAID, *RECENT[:2], record(4, "read a.py", text=long), budget=3_600)
    assert "lines cut" in text(made, "last") and made.request.message.count("thought of 4") == 1


OUTCOMES = st.sampled_from(
    ["read a.py", "search 'x' → 3 hits", f"edit a.py: kept; {CHECK}: 3 passed", "edit a.py: reverted: worse"]
)


@given(SPOKEN, st.lists(OUTCOMES, min_size=1, max_size=6), st.sampled_from((2_900, 4_000, 8_000)))
def test_no_step_is_told_in_two_places_and_all_stand_in_order(spoken, outcomes, budget):
    recent = [record(30 - len(outcomes) + number, outcome) for number, outcome in enumerate(outcomes, 1)]
    before = [one for one in spoken if one[0] < 30]
    made = window(before, *recent, budget=budget)
    work, last = steps_in(made)
    assert not work & last and last <= {30}
    order = [int(match[1]) for line in text(made, "work").splitlines() if (match := TOLD[0].match(line))]
    assert order == sorted(order)
    gone = {omission.what for omission in made.omissions if omission.section == "work"}
    told = {f"step {step}" for step in work}
    assert {f"step {one.step}" for one in recent[:-1]} <= told | gone, "shown, or written down as left out"
