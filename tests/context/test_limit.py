"""The limit of a call: as ordered without a need, on the next rung for a reason that is recorded, never above the highest."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.config.templates.load_template import load_template
from afresh.context.build_prompt import build_from_inputs, make_prompt_inputs, settle_limit
from afresh.context.calibration import adopt_project_calibration, calibrate_counter
from afresh.context.limit import AS_ORDERED, Limit, choose_extension_limit, choose_limit
from afresh.context.prepare_call import record_limit, settings_for_call
from afresh.core.context_item import Excerpt, SourceLine
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.core.event import CheckpointWritten, TaskCreated
from afresh.core.fact import Fact, FactKind
from afresh.core.line_region import Region
from afresh.core.prompt import Prompt, Request
from afresh.core.reply import OFFLINE_MODEL, Reply
from afresh.core.state import State
from afresh.core.states.ceiling_state import CallFigures, CeilingChanged, CeilingState, compute_highest_ceiling
from afresh.core.states.prompt_state import PromptState
from afresh.core.states.token_state import TokenState
from afresh.core.task import Task
from afresh.core.token_calibration import CalibrationLoaded, TokenCalibration
from afresh.core.tokens import EstimatingCounter
from afresh.core.verdict import Baseline
from afresh.errors import OverCeiling
from afresh.memory.gathered_context import GatheredContext
from afresh.runtime import CallSettings, Runtime
from afresh.views.task_facts import describe_limits
from support.fakes import ComputedModel, FakeClock, MemoryStore
from support.sample_journals import make_entries
from support.states import make_runtime

TASK = Task(id="one", goal="goal")
TEMPLATE = load_template("fix_bug")
SETTINGS = CallSettings(template=TEMPLATE, tools=(), counter=EstimatingCounter())
WINDOW = 200_000


def make_state(phase: str = "understand", cut: int = 0, task: Task = TASK, **ceiling: Any) -> State:
    state = make_entries(None, [TaskCreated(task)])[1]
    workspace = replace(state.workspace, first_snapshot="a", changed=() if phase == "understand" else ("a.py",))
    verification = replace(state.verification, baseline=Baseline(()))
    tokens = TokenState(cut_replies=cut, ceiling=CeilingState(**ceiling))
    return replace(state, workspace=workspace, verification=verification, tokens=tokens)


def choose(state: State, window: int = WINDOW, model: str = "m") -> Limit:
    return choose_limit(state, TEMPLATE, window, model)


def build(state: State, *items: Any, window: int = WINDOW) -> Prompt:
    return build_from_inputs(make_prompt_inputs(GatheredContext(state, items), SETTINGS, choose(state, window)))


def read_lines(state: State, count: int) -> tuple[State, Excerpt]:
    """So many lines that the last step has read."""
    region = Region("a.py", 1, count, state.work.step)
    lines = tuple(SourceLine(number, f"value_{number} = compute_something({number})") for number in range(1, count + 1))
    return replace(state, memory=replace(state.memory, regions=(region,))), Excerpt("file", "a.py", 1, count, (), lines)


def test_the_highest_is_the_users_limit_or_a_fifth_of_the_window() -> None:
    assert compute_highest_ceiling(TASK, 200_000) == 16_000 and compute_highest_ceiling(TASK, 50_000) == 10_000
    assert compute_highest_ceiling(replace(TASK, max_budget=100_000), 200_000) == 40_000
    assert compute_highest_ceiling(replace(TASK, max_budget=4_000), 200_000) == 4_000
    assert compute_highest_ceiling(TASK, 8_000) == 4_000, "never below what was ordered; such a model is refused before"


@given(
    ordered=st.integers(500, 8_000), more=st.integers(0, 40_000), window=st.integers(40_000, 400_000), cut=st.integers(0, 5),
    wishes=st.integers(0, 4), phase=st.sampled_from(["understand", "change"]), tokens=st.integers(0, 60_000),
)  # fmt: skip
def test_any_limit_is_between_what_was_ordered_and_the_highest(ordered, more, window, cut, wishes, phase, tokens) -> None:
    task = replace(TASK, budget=ordered, max_budget=ordered + more)
    limit = choose(make_state(phase, cut, task, wishes=wishes, wanted="a.py" if wishes else ""), window)
    assert ordered <= limit.usual <= limit.asked <= limit.highest == compute_highest_ceiling(task, window)
    assert 0 < limit.reply < limit.highest and (limit.usual == ordered or limit.reason)
    rung = limit.find_rung(tokens)
    assert ordered <= rung <= limit.highest and (rung >= tokens or rung == limit.highest)
    assert rung == limit.highest or (rung // ordered).bit_count() == 1, "ordered, twice, four times as much"


def test_a_reply_that_changes_code_raises_the_limit_instead_of_squeezing_the_code() -> None:
    looking, changing = choose(make_state()), choose(make_state("change"))
    assert (looking.usual, looking.reply, looking.reason) == (4_000, 1_000, "")
    assert (changing.usual, changing.reply) == (5_000, 2_000) and "2,000 tokens" in changing.reason
    hard = choose(make_state("change", task=replace(TASK, max_budget=4_000)))
    assert (hard.usual, hard.highest, hard.reply) == (4_000, 4_000, 1_000)
    assert choose(make_state(task=replace(TASK, budget=16_000))).reply == 1_000, "it does not grow with the limit"


def test_a_reply_after_one_that_was_cut_gets_twice_as_much_up_to_four_times() -> None:
    assert [choose(make_state(cut=cut)).reply for cut in range(5)] == [1_000, 2_000, 4_000, 4_000, 4_000]
    hard = replace(TASK, max_budget=4_000)
    assert [choose(make_state(cut=cut, task=hard)).reply for cut in range(3)] == [1_000, 2_000, 2_000], "half of it"


def test_the_agent_gets_twice_as_much_for_three_steps_each_time_it_asks() -> None:
    asked = make_state(wishes=1, wanted="line 90")
    assert (choose(asked).usual, choose(asked).reason) == (8_000, "the agent asked: line 90")
    assert choose(replace(asked, work=replace(asked.work, step=4))).usual == 4_000
    assert choose(make_state(wishes=2, wanted="more")).usual == 16_000
    assert choose(asked, window=20_000).reason == "the agent asked: line 90, but 4,000 is the highest"


def test_the_offline_model_gets_what_was_ordered() -> None:
    limit = choose(make_state("change", wishes=1, wanted="x"), model=OFFLINE_MODEL)
    assert (limit.usual, limit.asked, limit.highest) == (4_000, 4_000, 16_000)


def test_lines_that_the_last_step_has_read_go_beyond_the_usual_limit_and_nothing_else_does() -> None:
    state, short = read_lines(make_state(), 60)
    assert (build(state, short).budget, build(state, short).reason) == (4_000, AS_ORDERED)
    state, long = read_lines(make_state(), 300)
    prompt = build(state, long)
    assert prompt.budget == 8_000 and prompt.tokens + prompt.request.reserve > 4_000
    assert "value_300" in prompt.request.message and "read or edited lately" in prompt.reason
    old = replace(state, work=replace(state.work, step=9))
    assert build(old, long).budget == 4_000, "no step has come back to them"
    state, huge = read_lines(make_state(), 3_000)
    assert build(state, huge).budget == 8_000, "one rung for what was read"


def test_what_is_never_left_out_goes_up_to_the_highest_with_a_fifth_for_the_rest() -> None:
    long = replace(TASK, goal="so much " * 4_000)
    prompt = build(make_state(task=long))
    assert prompt.budget == 16_000 and "never left out" in prompt.reason
    with pytest.raises(OverCeiling, match="section 'task' needs"):
        build(make_state(task=long), window=50_000)


def test_a_recent_note_is_worth_a_higher_rung() -> None:
    facts = tuple(Fact(FactKind.NOTE, f"part {n}", f"what I know of part {n}: " + "it is so. " * 60, step=0) for n in range(20))
    state = make_state()
    prompt = build(replace(state, memory=replace(state.memory, facts=facts)))
    assert prompt.budget == 8_000 and all(f"part {n}:" in prompt.request.message for n in range(20))


def test_a_prompt_is_settled_on_the_lowest_rung_by_all_that_is_sent() -> None:
    counter, limit = EstimatingCounter(), Limit(4_000, 8_000, 16_000, 1_000, 4_000, "why")
    for characters, rung in ((3_000, 4_000), (8_000, 8_000), (20_000, 16_000)):
        prompt = Prompt(Request("", "a b " * (characters // 4), (), 1_000), (), (), 0, 0, reason="why")
        settled = settle_limit(prompt, limit, counter)
        assert settled.budget == rung and settled.tokens + 1_000 <= rung
        assert settled.reason == ("why" if rung > 4_000 else AS_ORDERED)


def test_an_extended_prompt_may_have_three_times_what_was_ordered_or_its_base_and_that() -> None:
    state = make_state()

    def bound(state: State, window: int = WINDOW) -> int:
        return choose_extension_limit(state, TEMPLATE, window, DEFAULT_CONTEXT_POLICY).highest

    assert bound(state) == 12_000 and bound(state, 25_000) == 5_000
    raised = replace(state, tokens=replace(state.tokens, prompt=PromptState(ceiling=9_000)))
    assert bound(raised) == 13_000


def agent(**parts: Any) -> Runtime:
    given: dict[str, Any] = {"store": MemoryStore(), "tools": (), "template": TEMPLATE, "clock": FakeClock()}
    model = ComputedModel(lambda request: Reply())
    return make_runtime(model=model, **{**given, "counter": EstimatingCounter(), **parts})


def test_each_limit_is_recorded_once_with_its_reason_and_a_full_one_with_a_checkpoint() -> None:
    parts = agent()
    entries, state = make_entries(None, [TaskCreated(TASK)])
    parts.store.append(entries, (), state)
    prompt = Prompt(Request("", "", (), 1_000), (), (), 4_000, 3_000, reason=AS_ORDERED)
    full = replace(prompt, budget=8_000, tokens=4_000, reason="it was full")
    for one in (prompt, full, full, prompt):
        state = record_limit(state, parts, one)
    changes = [entry.event for entry in parts.store.journal("one") if isinstance(entry.event, CeilingChanged)]
    assert [(one.before, one.budget, one.reason) for one in changes] == [
        (4_000, 8_000, "it was full"),
        (8_000, 4_000, AS_ORDERED),
    ]
    assert sum(isinstance(entry.event, CheckpointWritten) for entry in parts.store.journal("one")) == 1
    assert describe_limits(state).startswith("4,000 tokens a call now; set to 4,000, at most 16,000")


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
    known = State(task=TASK, tokens=TokenState(calibrations=(TokenCalibration("computed", (1.0,), 1),)))
    parts = agent(calibration=TokenCalibration("computed", (1.2,), 5))
    assert adopt_project_calibration(State(task=TASK), parts) == [CalibrationLoaded(parts.settings.calibration)]
    assert adopt_project_calibration(known, parts) == adopt_project_calibration(State(task=TASK), agent()) == []
