"""The ceiling goes up for a reason, comes down when it is calm, and stays between what was ordered and the cap."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from afresh.config.templates.load_template import load_template
from afresh.context.calibration import adopt_project_calibration, calibrate_counter
from afresh.context.token_ceiling import (
    decide_ceiling_change,
    find_ceiling_shortage,
    raise_ceiling,
    settings_for_call,
    update_ceiling,
)
from afresh.core.action import Action, Observation
from afresh.core.ceiling_state import (
    CallFigures,
    CeilingChanged,
    CeilingState,
    LargerCeilingRequested,
    ReserveChanged,
    compute_highest_ceiling,
    list_ceiling_levels,
)
from afresh.core.event import (
    ActionsExecuted,
    CallRequested,
    ChangeKeptOrReverted,
    CheckpointWritten,
    ReplyReceived,
    StepFinished,
    TaskCreated,
)
from afresh.core.prompt import CallAudit, Prompt, Request, Section, Tier
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.task import Task
from afresh.core.token_calibration import CalibrationLoaded, TokenCalibration
from afresh.core.token_state import TokenState
from afresh.core.tokens import EstimatingCounter
from afresh.core.usage import Usage
from afresh.errors import OverCeiling
from afresh.journal.append import append_events
from afresh.runtime import Runtime
from afresh.testing.fakes import ComputedModel, FakeClock, MemoryStore
from afresh.testing.sample_journals import make_entries
from afresh.testing.states import make_runtime

TASK = Task(id="one", goal="goal")


def agent(window: int = 200_000, **parts: Any) -> Runtime:
    """Only what the ceiling needs of one."""
    model = ComputedModel(lambda request: Reply())
    model.window = window  # pyright: ignore[reportAttributeAccessIssue]
    given: dict[str, Any] = {
        "store": MemoryStore(),
        "tools": (),
        "template": load_template("fix_bug"),
        "clock": FakeClock(),
        "counter": EstimatingCounter(),
    }
    return make_runtime(model=model, **{**given, **parts})


def begun(parts: Runtime, task: Task = TASK) -> State:
    entries, state = make_entries(None, [TaskCreated(task)])
    parts.store.append(entries, (), state)
    return state


def call(state: State, demand: float, unmet: int, cramped: bool = False, said: int = 1) -> list[Any]:
    """A call at the ceiling in force whose never-cut content takes this share of it."""
    budget = state.budget
    tokens = int(budget * demand) - budget // 4
    audit = CallAudit("0" * 64, budget, tokens, (), (), reserve=budget // 4, model="m", pieces=max(1, tokens), unmet=unmet)
    reply = Reply("", (), Usage(1, said), cramped=cramped)
    return [CallRequested(state.work.step + 1, audit), ReplyReceived(state.work.step + 1, reply)]


def step(state: State, ok: bool, kept: bool, size: int = 100) -> list[Any]:
    seen = Observation(Action("run"), ok, "", size=size)
    return [
        ActionsExecuted(state.work.step + 1, (seen,)),
        ChangeKeptOrReverted(state.work.step + 1, kept, "s"),
        StepFinished(state.work.step + 1, ""),
    ]


class Ceiling(RuleBasedStateMachine):
    """Any course of calls, steps, wishes, models and windows that do not fit."""

    @initialize(ordered=st.integers(500, 8_000), more=st.integers(0, 40_000), window=st.integers(40_000, 400_000))
    def begin(self, ordered: int, more: int, window: int) -> None:
        self.agent = agent(window)
        self.state = begun(self.agent, replace(TASK, budget=ordered, max_budget=ordered + more))
        self.calm = 0

    def told(self, events: list[Any]) -> None:
        self.state = append_events(self.state, self.agent, events)

    @property
    def cap(self) -> int:
        return compute_highest_ceiling(self.state.task, self.agent.model.window)

    @rule(demand=st.floats(0.3, 1.0), unmet=st.sampled_from([0, 0, 700]), ok=st.booleans(), cramped=st.booleans())
    def take_a_step(self, demand: float, unmet: int, ok: bool, cramped: bool) -> None:
        before = self.state
        assert decide_ceiling_change(before, self.cap) == decide_ceiling_change(before, self.cap)
        self.state = update_ceiling(before, self.agent)
        assert decide_ceiling_change(self.state, self.cap) is None, "one decision is enough until something happens"
        if before.budget > self.state.budget and before.budget <= self.cap:
            assert self.calm >= before.tokens.ceiling.patience and not before.tokens.ceiling.wanted
        self.told(call(self.state, demand, unmet, cramped))
        self.told(step(self.state, ok, not unmet))
        self.calm = self.calm + 1 if self.state.tokens.ceiling.calm else 0

    @rule(reason=st.text(min_size=1, max_size=9))
    def wish(self, reason: str) -> None:
        self.told([LargerCeilingRequested(reason)])

    @rule(window=st.integers(40_000, 400_000))
    def change_the_model(self, window: int) -> None:
        """The composition root refuses a window that is too small for what was ordered."""
        self.agent = agent(window, store=self.agent.store)

    @precondition(lambda self: self.state.budget <= self.cap)
    @rule()
    def overflow(self) -> None:
        before, fault = self.state, OverCeiling("section 'task' needs 9 tokens, 8 are left")
        if before.budget == self.cap and before.tokens.reserve.share:
            self.state = raise_ceiling(before, self.agent, fault)
            assert self.state.budget == before.budget and not self.state.tokens.reserve.share
        elif before.budget == self.cap:
            with pytest.raises(OverCeiling):
                raise_ceiling(before, self.agent, fault)
        else:
            self.state = raise_ceiling(before, self.agent, fault)
            assert self.state.budget > before.budget and self.state.tokens.ceiling.saved

    @invariant()
    def within_bounds(self) -> None:
        if hasattr(self, "state"):
            afterwards = update_ceiling(self.state, replace(self.agent, store=MemoryCopy(self.agent.store)))
            assert self.state.task.budget <= afterwards.budget <= self.cap
            ladder = list_ceiling_levels(self.state.task.budget, self.cap)
            assert afterwards.budget in ladder or afterwards.budget == self.state.budget
            assert afterwards.tokens.reserve.share <= 0.5 and (
                not afterwards.tokens.reserve.share or afterwards.tokens.reserve.usual == 0.25
            )

    def teardown(self) -> None:
        if hasattr(self, "state"):
            changes = [e.event for e in self.agent.store.journal("one") if isinstance(e.event, CeilingChanged)]
            replies = [e.event for e in self.agent.store.journal("one") if isinstance(e.event, ReserveChanged)]
            assert all(change.reason for change in (*changes, *replies))
            assert self.agent.store.load("one").tokens.ceiling.highest <= max(
                [self.state.task.budget, *(c.budget for c in changes)]
            )


class MemoryCopy(MemoryStore):
    """Takes what would be written, and leaves the other store alone."""

    def __init__(self, other: Any) -> None:
        super().__init__()
        self.states, self._journals = dict(other.states), {task: list(told) for task, told in other._journals.items()}


TestAnyCourse = Ceiling.TestCase
TestAnyCourse.settings = settings(stateful_step_count=20, deadline=None)


def at(**room: Any) -> State:
    return State(
        task=TASK,
        tokens=TokenState(
            ceiling=CeilingState(**room), last_call=CallFigures(budget=room.get("budget", 4_000), reserve=1_000, demand=2_000)
        ),
    )


def test_the_cap_is_the_users_limit_or_a_fifth_of_the_window() -> None:
    assert compute_highest_ceiling(TASK, 200_000) == 16_000 and compute_highest_ceiling(TASK, 50_000) == 10_000
    assert compute_highest_ceiling(replace(TASK, max_budget=100_000), 200_000) == 40_000
    assert compute_highest_ceiling(replace(TASK, max_budget=4_000), 200_000) == 4_000
    assert compute_highest_ceiling(TASK, 8_000) == 4_000, "never below what was ordered; such a model is refused before"


def test_a_smaller_model_brings_the_ceiling_down_first_of_all() -> None:
    change = decide_ceiling_change(at(budget=16_000, wanted="more"), 9_000)
    assert change and change.budget == 9_000 and "9,000 is the most" in change.reason


def test_two_failures_for_want_of_room_raise_it_and_one_does_not() -> None:
    assert decide_ceiling_change(at(failing=1), 16_000) is None
    change = decide_ceiling_change(at(failing=2), 16_000)
    assert change and (change.before, change.budget) == (4_000, 8_000)
    assert decide_ceiling_change(at(failing=2), 4_000) is None, "there is no more to give"


def test_it_stays_up_while_what_the_tools_bring_would_not_fit_below() -> None:
    parts = agent()
    state = begun(parts)
    state = append_events(state, parts, [CeilingChanged(0, 4_000, 8_000, "why not")])
    for _ in range(4):
        state = append_events(state, parts, [*call(state, 0.4, 0), *step(state, True, True, size=11_000)])
    assert state.tokens.ceiling.calm == 4 and decide_ceiling_change(state, 16_000) is None
    state = append_events(state, parts, [*call(state, 0.4, 0), *step(state, True, True, size=10)])
    assert decide_ceiling_change(state, 16_000) is None, "an output of `run` is usually long here"
    while state.work.step < 40 and (change := decide_ceiling_change(state, 16_000)) is None:
        state = append_events(state, parts, [*call(state, 0.4, 0), *step(state, True, True, size=10)])
    assert change and change.budget == 4_000


def test_a_critical_window_at_the_cap_is_checkpointed_once() -> None:
    parts = agent(window=20_000)
    state = append_events(begun(parts), parts, call(begun(agent()), 0.97, 0))
    state = update_ceiling(update_ceiling(state, parts), parts)
    assert [type(e.event) for e in parts.store.journal("one")].count(CheckpointWritten) == 1
    state = append_events(state, parts, call(state, 0.5, 0))
    update_ceiling(append_events(update_ceiling(state, parts), parts, call(state, 0.97, 0)), parts)
    assert [type(e.event) for e in parts.store.journal("one")].count(CheckpointWritten) == 2, "it was calm in between"


def window(state: State, always: int) -> Prompt:
    sections = (Section("task", Tier.ALWAYS, "", always), Section("files", Tier.DEMAND, "", 100))
    return Prompt(Request("", "", (), 1_000), sections, (), state.budget, always + 100)


def test_a_cramped_window_is_not_sent_while_there_is_a_level_above() -> None:
    state = State(task=TASK)
    critical = "critical pressure: what is never left out takes 3,850 of 4,000 tokens"
    assert find_ceiling_shortage(window(state, 2_850), state, agent()) == critical
    assert not find_ceiling_shortage(window(state, 2_750), state, agent())
    assert not find_ceiling_shortage(window(state, 2_850), state, agent(window=20_000)), "at the cap it is better than nothing"


def test_under_pressure_the_outline_gives_way() -> None:
    calm, soft = (
        State(task=TASK, tokens=TokenState(last_call=CallFigures(budget=4_000, demand=demand))) for demand in (3_000, 3_300)
    )
    plain = agent()
    assert settings_for_call(calm, plain).template == plain.settings.template
    shares = settings_for_call(soft, plain).template.shares
    assert (shares[-1].section, shares[-1].part) == ("outline", 0.0)
    assert {share.section for share in shares} == {share.section for share in plain.settings.template.shares}


def test_the_counter_is_the_one_learnt_for_the_model_that_is_asked() -> None:
    state = State(
        task=TASK, tokens=TokenState(calibrations=(TokenCalibration("computed", (1.0,), 1), TokenCalibration("other", (2.0,), 1)))
    )
    parts = agent(counter=EstimatingCounter(framing=77))
    assert calibrate_counter(state, parts) == EstimatingCounter(1.03, 77)
    assert calibrate_counter(State(task=TASK), parts) == EstimatingCounter(1.15, 77)


def test_what_others_have_learnt_is_taken_over_only_by_who_knows_nothing() -> None:
    elsewhere = TokenCalibration("computed", (1.2,), 5)
    parts = agent(calibration=elsewhere)
    assert adopt_project_calibration(State(task=TASK), parts) == [CalibrationLoaded(elsewhere)]
    assert (
        adopt_project_calibration(
            State(task=TASK, tokens=TokenState(calibrations=(TokenCalibration("computed", (1.0,), 1),))), parts
        )
        == []
    )
    assert adopt_project_calibration(State(task=TASK), agent()) == []


def cramped_once(parts: Runtime, demand: float = 0.5) -> State:
    state = begun(parts)
    return update_ceiling(append_events(state, parts, [*call(state, demand, 0, cramped=True), *step(state, True, True)]), parts)


def share_of(state: State, parts: Runtime) -> float:
    return settings_for_call(state, parts).template.at(state.phase).reserve


def test_a_reply_that_was_cut_off_gets_more_of_the_same_ceiling_next_time() -> None:
    parts = agent()
    state = cramped_once(parts)
    assert state.budget == 4_000 and share_of(state, parts) == 0.4
    told = [entry.event for entry in parts.store.journal("one") if isinstance(entry.event, ReserveChanged)]
    assert told == [ReserveChanged(1, 0.25, 0.4, "1,000 tokens were too few for the last reply")]
    assert update_ceiling(state, parts) == state, "once for each such reply"
    state = append_events(state, parts, [*call(state, 0.5, 0, cramped=True), *step(state, True, True)])
    assert share_of(update_ceiling(state, parts), parts) == 0.5, "half of the ceiling is the most"


def test_where_nothing_is_left_to_give_the_ceiling_is_raised_instead() -> None:
    parts = agent()
    state = cramped_once(parts, demand=0.85)
    assert (
        state.budget == 8_000 and not state.tokens.reserve.share and "too few for the last reply" in state.tokens.ceiling.reason
    )
    full = agent(window=20_000)
    assert cramped_once(full, demand=0.85).budget == 4_000, "and if that can't be, nothing changes"


def test_replies_that_are_short_again_give_the_room_back() -> None:
    parts = agent()
    state = cramped_once(parts)
    for said in (1_000, 1_001, 10, 10):
        state = update_ceiling(append_events(state, parts, [*call(state, 0.5, 0, said=said), *step(state, True, True)]), parts)
        assert state.tokens.reserve.share == 0.4
    state = update_ceiling(append_events(state, parts, [*call(state, 0.5, 0, said=10), *step(state, True, True)]), parts)
    assert not state.tokens.reserve.share and share_of(state, parts) == 0.25


def test_a_window_that_does_not_fit_takes_the_room_of_long_replies_before_it_fails() -> None:
    parts, fault = agent(window=20_000), OverCeiling("section 'task' needs 9 tokens, 8 are left", "needs 9")
    state = cramped_once(parts)
    assert state.tokens.reserve.share and state.budget == compute_highest_ceiling(state.task, parts.model.window)
    state = raise_ceiling(state, parts, fault)
    assert not state.tokens.reserve.share
    with pytest.raises(OverCeiling):
        raise_ceiling(state, parts, fault)
