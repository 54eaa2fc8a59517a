"""The ceiling rises by what a prompt lacks, is as ordered without a need, and never exceeds the cap."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from afresh.config.templates.load_template import load_template
from afresh.context.calibration import adopt_project_calibration, calibrate_counter
from afresh.context.token_ceiling import (
    AS_ORDERED,
    choose_ceiling,
    is_better,
    over_ceiling_error,
    raise_ceiling,
    record_ceiling,
    release_reply_reserve,
    settings_for_call,
)
from afresh.core.action import Action, Observation
from afresh.core.event import (
    ActionsExecuted,
    CallRequested,
    ChangeKeptOrReverted,
    CheckpointWritten,
    ReplyReceived,
    StepFinished,
    TaskCreated,
)
from afresh.core.prompt import CallAudit, Prompt, Request, Section, SectionRef, Tier
from afresh.core.reducer import apply_event, fold_entries
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.states.ceiling_state import (
    CallFigures,
    CeilingChanged,
    LargerCeilingRequested,
    ReserveChanged,
    compute_highest_ceiling,
)
from afresh.core.states.token_state import TokenState
from afresh.core.task import Task
from afresh.core.token_calibration import CalibrationLoaded, TokenCalibration
from afresh.core.tokens import EstimatingCounter
from afresh.core.usage import Usage
from afresh.core.verdict import Baseline
from afresh.errors import OverCeiling
from afresh.journal.append import append_events
from afresh.runtime import Runtime
from afresh.views.task_facts import describe_limits
from support.fakes import ComputedModel, FakeClock, MemoryStore
from support.sample_journals import make_entries
from support.states import make_runtime

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


def prompt(state: State, change: CeilingChanged, runtime: Runtime, always: int, unread: int = 0) -> Prompt | OverCeiling:
    """What a build would make of a prompt with so much that is never left out and so much that was read last."""
    raised = apply_event(change, state)
    reserve = settings_for_call(raised, runtime).template.at(state.phase).reply
    if (room := change.budget - reserve - always) < 0:
        return over_ceiling_error(change.budget, reserve, [Section("task", Tier.ALWAYS, "", always)], room)
    sections = (Section("task", Tier.ALWAYS, "", always), Section("files", Tier.DEMAND, "", min(room, unread)))
    left = max(0, unread - room)
    return Prompt(Request("", "", (), reserve), sections, (), change.budget, always + min(room, unread), unread=left)


def prepare(state: State, runtime: Runtime, always: int = 1_500, unread: int = 0) -> tuple[State, Prompt]:
    """As `prepare_call` does."""
    cap = compute_highest_ceiling(state.task, runtime.model.window)
    first = change = choose_ceiling(state, runtime)
    built = prompt(state, change, runtime, always, unread)
    while (larger := raise_ceiling(first, change, built, state.task, cap)) is not change:
        again = prompt(state, larger, runtime, always, unread)
        if not is_better(again, built):
            break
        change, built = larger, again
    if isinstance(built, OverCeiling):
        return prepare(release_reply_reserve(state, runtime, built), runtime, always, unread)
    return record_ceiling(state, runtime, change, built), built


def call(state: State, window: Prompt, cramped: bool = False, said: int = 1) -> list[Any]:
    audit = CallAudit(
        "0" * 64, window.budget, window.tokens, tuple(SectionRef(s.name, s.tier, "", s.tokens) for s in window.sections), (),
        reserve=window.request.reserve, model="m", pieces=1, unmet=window.unread,
    )  # fmt: skip
    reply = Reply("", (), Usage(1, said), cramped=cramped)
    return [CallRequested(state.work.step + 1, audit), ReplyReceived(state.work.step + 1, reply)]


def step(state: State, ok: bool = True, kept: bool = True) -> list[Any]:
    seen = Observation(Action("run"), ok, "", size=100)
    return [
        ActionsExecuted(state.work.step + 1, (seen,)),
        ChangeKeptOrReverted(state.work.step + 1, kept, "s"),
        StepFinished(state.work.step + 1, ""),
    ]


def take_step(
    state: State, parts: Runtime, always: int = 1_500, unread: int = 0, cramped: bool = False, said: int = 1, ok: bool = True
) -> tuple[State, Prompt]:
    state, window = prepare(state, parts, always, unread)
    return append_events(state, parts, [*call(state, window, cramped, said), *step(state, ok)]), window


class Ceiling(RuleBasedStateMachine):
    """Any course of calls, steps, wishes, models and prompts that do not fit."""

    @initialize(ordered=st.integers(500, 8_000), more=st.integers(0, 40_000), window=st.integers(40_000, 400_000))
    def begin(self, ordered: int, more: int, window: int) -> None:
        self.agent = agent(window)
        self.state = begun(self.agent, replace(TASK, budget=ordered, max_budget=ordered + more))

    @property
    def cap(self) -> int:
        return compute_highest_ceiling(self.state.task, self.agent.model.window)

    @rule(
        always=st.floats(0.0, 5.0), unread=st.sampled_from([0, 0, 99, 366, 5_000]), ok=st.booleans(), cramped=st.booleans(),
        said=st.integers(0, 3_000),
    )  # fmt: skip
    def take_a_step(self, always: float, unread: int, ok: bool, cramped: bool, said: int) -> None:
        ordered, never = self.state.task.budget, int(always * self.state.task.budget)
        before, parts = self.state, replace(self.agent, store=MemoryCopy(self.agent.store))
        try:
            self.state, window = take_step(before, self.agent, never, unread, cramped, said, ok)
        except OverCeiling:
            assert never > self.cap - ordered
            self.state = self.agent.store.load("one")
            return
        assert ordered <= window.budget == self.state.budget <= self.cap
        assert window.tokens + window.request.reserve <= window.budget
        assert take_step(before, parts, never, unread, cramped, said, ok)[1] == window, "it depends on the journal alone"
        assert replace(fold_entries(None, self.agent.store.journal("one")), head=self.state.head) == self.state

    @rule()
    def nothing_more_is_needed(self) -> None:
        """Then it is as ordered, whatever was before, unless replies are long or the agent has just asked."""
        state, window = prepare(self.state, replace(self.agent, store=MemoryCopy(self.agent.store)), always=0)
        longer = state.tokens.reserve.largest > min(state.task.budget, 4_000) // 4
        assert window.budget == state.task.budget or longer or state.tokens.ceiling.wishes

    @rule(reason=st.text(min_size=1, max_size=9))
    def wish(self, reason: str) -> None:
        self.state = append_events(self.state, self.agent, [LargerCeilingRequested(reason)])

    @rule(window=st.integers(40_000, 400_000))
    def change_the_model(self, window: int) -> None:
        """The composition root refuses a window that is too small for what was ordered."""
        self.agent = agent(window, store=self.agent.store)

    def teardown(self) -> None:
        if hasattr(self, "state"):
            changes = [e.event for e in self.agent.store.journal("one") if isinstance(e.event, CeilingChanged)]
            assert all(change.reason for change in changes)
            held = self.agent.store.load("one").tokens.ceiling
            assert not changes or (held.budget, held.reason) == (changes[-1].budget, changes[-1].reason)


class MemoryCopy(MemoryStore):
    """Takes what would be written, and leaves the other store alone."""

    def __init__(self, other: Any) -> None:
        super().__init__()
        self.states, self._journals = dict(other.states), {task: list(told) for task, told in other._journals.items()}


TestAnyCourse = Ceiling.TestCase
TestAnyCourse.settings = settings(stateful_step_count=20)


def changes(parts: Runtime) -> list[tuple[int, int, str]]:
    found = [entry.event for entry in parts.store.journal("one") if isinstance(entry.event, CeilingChanged)]
    return [(one.before, one.budget, one.reason) for one in found]


def test_the_cap_is_the_users_limit_or_a_fifth_of_the_window() -> None:
    assert compute_highest_ceiling(TASK, 200_000) == 16_000 and compute_highest_ceiling(TASK, 50_000) == 10_000
    assert compute_highest_ceiling(replace(TASK, max_budget=100_000), 200_000) == 40_000
    assert compute_highest_ceiling(replace(TASK, max_budget=4_000), 200_000) == 4_000
    assert compute_highest_ceiling(TASK, 8_000) == 4_000, "never below what was ordered; such a model is refused before"


def test_it_rises_by_what_is_missing_and_falls_when_the_need_has_passed() -> None:
    parts = agent()
    state, _ = take_step(begun(parts), parts)
    state, first = prepare(state, parts)
    room = first.budget - first.request.reserve - 1_500
    state, window = take_step(state, parts, unread=room + 366)
    assert (window.budget, window.unread) == (4_500, 0)
    state, window = take_step(state, parts)
    assert window.budget == state.budget == 4_000
    why = "366 tokens of what was read or edited lately had no room"
    assert changes(parts) == [(4_000, 4_500, why), (4_500, 4_000, AS_ORDERED)]
    assert describe_limits(state).startswith("4,000 tokens a call now; ordered 4,000, highest 16,000")


def test_steps_that_fail_are_no_need_by_themselves() -> None:
    parts = agent()
    state = begun(parts)
    for _ in range(9):
        state, window = take_step(state, parts, ok=False)
        assert window.budget == 4_000
    assert changes(parts) == []


def test_the_same_need_in_a_row_is_recorded_once() -> None:
    parts = agent()
    state = begun(parts)
    for _ in range(3):
        state, _ = take_step(state, parts, unread=2_000)
    assert len(changes(parts)) == 1


def test_what_was_read_gets_at_most_twice_what_was_ordered() -> None:
    parts = agent()
    _, window = prepare(begun(parts), parts, unread=50_000)
    assert window.budget == 8_000 and window.unread > 40_000


def test_a_raise_that_shows_nothing_more_is_not_made() -> None:
    state, parts = State(task=TASK), agent()
    first = choose_ceiling(state, parts)
    files = (Section("files", Tier.DEMAND, "", 2_000),)
    before = Prompt(Request("", "", (), 800), files, (), 4_000, 3_000, unread=366)
    larger = raise_ceiling(first, first, before, TASK, 16_000)
    assert larger.budget == 4_500
    assert not is_better(replace(before, budget=4_500, tokens=3_500), before), "only filler would fill it"
    assert is_better(replace(before, budget=4_500, tokens=3_500, unread=100), before)


def test_what_is_never_left_out_raises_it_with_a_fifth_for_the_rest_and_is_checkpointed_once() -> None:
    parts = agent()
    state, window = take_step(begun(parts), parts, always=4_200)
    assert window.budget == 6_500, "4,200, 1,000 for the reply, a fifth for the rest"
    state, _ = take_step(state, parts, always=4_250)
    assert [type(e.event) for e in parts.store.journal("one")].count(CheckpointWritten) == 1
    state, _ = take_step(state, parts)
    take_step(state, parts, always=4_200)
    assert [type(e.event) for e in parts.store.journal("one")].count(CheckpointWritten) == 2, "it was calm in between"


def test_a_smaller_model_brings_the_ceiling_down_first_of_all() -> None:
    state, _ = take_step(begun(parts := agent()), parts, always=11_000)
    assert state.budget == 15_000
    assert prepare(state, agent(window=60_000, store=parts.store), always=10_000)[1].budget == 12_000


def test_the_agent_gets_a_thousand_more_for_three_steps_each_time_it_asks() -> None:
    parts = agent()
    state = append_events(begun(parts), parts, [LargerCeilingRequested("line 90"), *step(begun(agent()))])
    budgets = list[int]()
    for number in range(5):
        state, window = take_step(state, parts)
        budgets.append(window.budget)
        if number == 1:
            state = append_events(state, parts, [LargerCeilingRequested("line 95")])
    assert budgets == [5_000, 5_000, 6_000, 6_000, 6_000]
    assert prepare(take_step(state, parts)[0], parts)[1].budget == 4_000
    assert changes(parts)[:2] == [(4_000, 5_000, "the agent asked: line 90"), (5_000, 6_000, "the agent asked: line 95")]


def test_a_wish_beyond_the_limit_is_on_record() -> None:
    parts = agent(window=20_000)
    state = append_events(begun(parts), parts, [LargerCeilingRequested("line 90"), *step(begun(agent()))])
    state, window = take_step(take_step(state, parts)[0], parts)
    assert window.budget == 4_000
    assert changes(parts) == [(4_000, 4_000, "the agent asked: line 90, but 4,000 is the highest")]


def test_a_ceiling_of_an_older_journal_holds_until_the_next_prompt() -> None:
    parts = agent()
    state = append_events(begun(parts), parts, [CeilingChanged(0, 4_000, 16_000, "2 steps in a row failed")])
    assert state.budget == 16_000 and state.tokens.ceiling.reason == "2 steps in a row failed"
    assert prepare(state, parts)[0].budget == 4_000


def test_under_pressure_the_outline_gives_way() -> None:
    calm, soft = (
        State(task=TASK, tokens=TokenState(last_call=CallFigures(budget=4_000, demand=demand))) for demand in (3_000, 3_300)
    )
    plain = agent()
    assert settings_for_call(calm, plain).template.shares == plain.settings.template.shares
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


def in_phase(phase: str, parts: Runtime) -> State:
    """A state in this phase, as far as the reply's reserve looks at it."""
    state = begun(parts)
    baseline = Baseline(())
    workspace = replace(state.workspace, first_snapshot="a", changed=phase != "understand")
    return replace(state, workspace=workspace, verification=replace(state.verification, baseline=baseline))


def test_a_reply_is_expected_to_be_longer_while_changing_than_while_looking() -> None:
    parts = agent()
    _, looking = prepare(in_phase("understand", parts), parts)
    assert (looking.budget, looking.request.reserve) == (4_000, 1_000)
    parts = agent()
    _, changing = prepare(in_phase("change", parts), parts)
    assert (changing.budget, changing.request.reserve) == (5_000, 2_000), "no code gives way for a longer reply"
    assert changes(parts) == [(4_000, 5_000, "a reply may need 2,000 tokens")]
    parts = agent(window=20_000)
    _, changing = prepare(in_phase("change", parts), parts)
    assert (changing.budget, changing.request.reserve) == (4_000, 1_000), "nor where the ceiling can't be raised"


def test_the_reserve_does_not_grow_with_the_ceiling() -> None:
    task = replace(TASK, budget=16_000, max_budget=16_000)
    assert prepare(begun(parts := agent(), task), parts)[1].request.reserve == 1_000
    small = replace(TASK, budget=1_600)
    assert prepare(begun(parts := agent(), small), parts, always=500)[1].request.reserve == 400


def test_long_replies_make_room_for_the_next_until_they_are_forgotten() -> None:
    parts = agent()
    state, _ = take_step(begun(parts), parts, said=900)
    reserves = list[int]()
    for _ in range(9):
        state, window = take_step(state, parts, said=10)
        reserves.append(window.request.reserve)
    assert reserves == [1_500] * 8 + [1_000]


def test_a_reply_that_was_cut_gets_twice_as_much_up_to_half_of_the_ceiling() -> None:
    parts = agent()
    state, _ = take_step(begun(parts), parts, cramped=True)
    state, window = take_step(state, parts, cramped=True)
    assert (window.budget, window.request.reserve) == (5_000, 2_000)
    state, window = take_step(state, parts, cramped=True)
    assert (window.budget, window.request.reserve) == (6_000, 3_000)
    assert take_step(state, parts)[1].request.reserve == 3_000


def test_where_the_ceiling_cannot_be_raised_a_cut_reply_takes_what_may_be_left_out() -> None:
    parts = agent(window=20_000)
    state, _ = take_step(begun(parts), parts, always=1_500, cramped=True)
    state, window = take_step(state, parts, always=1_500)
    assert (window.budget, window.request.reserve) == (4_000, 1_700), "a fifth is left for what may be cut"
    state, window = prepare(state, parts, always=2_900)
    assert window.request.reserve == 1_000, "it is given back before a prompt fails"
    assert [e.event.share for e in parts.store.journal("one") if isinstance(e.event, ReserveChanged)] == [0.0]
    with pytest.raises(OverCeiling):
        prepare(state, parts, always=3_100)
