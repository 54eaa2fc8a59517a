"""Memory between steps: what goes, what is left of it in words, and what stays however often it happens."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_call_template, load_template
from afresh.context.build_prompt import build_prompt, select_offered_tools
from afresh.context.compaction.compact_memory import compact_by_rules, compact_memory
from afresh.core import event as happened
from afresh.core.action import Action, Observation
from afresh.core.decision import Decision
from afresh.core.event import CompactionRequested, MemoryCompacted
from afresh.core.fact import Fact, FactKind
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.states.ceiling_state import CallFigures
from afresh.core.states.memory_state import MemoryState
from afresh.core.states.strategy_state import PlanItem
from afresh.core.states.work_state import WorkState
from afresh.core.step_history import MAX_KEPT_CHARACTERS, CompactionPolicy, HookAnswer, NameSeen, Passage, PassageVoice
from afresh.core.task import Check, Task
from afresh.core.tokens import EstimatingCounter
from afresh.core.verdict import Baseline, CheckRun, Ruling, Verdict
from afresh.memory.gathered_context import GatheredContext, TraceCache
from afresh.memory.history.score import weights_from_policy
from afresh.memory.history.trace import build_trace
from afresh.memory.passage_retention import compute_memory_capacity, count_passage_characters, is_memory_full
from afresh.memory.summarise import MAX_SUMMARY_TOKENS, rank_summary_names
from afresh.models.scripted import ScriptedModel
from afresh.runtime import COMPACT_BY_RULES, CompactionSettings, Runtime
from support.fakes import FakeClock, MemoryStore
from support.sample_journals import append_events, make_block
from support.states import make_runtime, replace_in_parts

COUNTER = EstimatingCounter()
SMALL = CompactionPolicy(full=0.12, left=0.06, keep_steps=3, keep_passages=6)
TEMPLATE = replace(load_template("fix_bug"), pruning=SMALL)
FAILED = Fact(FactKind.FAILED_APPROACH, "edit a.py", "broke test_z", step=1)
NEVER = (
    "Make the parser work",
    "pytest -q",
    "tabs, never spaces",
    "no new dependency",
    "broke test_z",
    "2 failed",
    "write the docs",
)


class Answering:
    """A hook that always says the same and remembers what it was asked."""

    def __init__(self, *heard: HookAnswer) -> None:
        self.heard, self.asked = list(heard), list[dict[str, Any]]()

    def before_compaction(self, about):
        self.asked.append(dict(about))
        return self.heard.pop(0) if len(self.heard) > 1 else self.heard[0]


def agent_with(store, upkeep=COMPACT_BY_RULES, model=None, style=TEMPLATE) -> Runtime:
    model = model or ScriptedModel(())
    return make_runtime(
        model=model, store=store, tools=TOOLS, template=style, clock=FakeClock(), counter=COUNTER, compaction=upkeep
    )


def begun(store) -> State:
    task = Task(id="one", goal="Make the parser work", checks=(Check("pytest -q"),), budget=4_000)
    red = Verdict(Ruling.FAIL, "2 failed", (CheckRun("pytest -q", 1, failed=2),))
    return append_events(
        store,
        None,
        [
            happened.TaskCreated(task),
            happened.TaskClaimed("me"),
            happened.WorkspaceOpened("b", "afresh/one", "s"),
            happened.BaselineMeasured(Baseline((CheckRun("pytest -q", 1, failed=2),))),
            happened.QuestionAnswered("tabs, never spaces"),
            happened.DecisionMade(Decision("no new dependency", "model")),
            happened.OutputDigested(facts=(FAILED,)),
            happened.VerdictReached(1, red),
            happened.PlanSet((PlanItem("write the docs"),)),
        ],
    )


def stepped(store, state, output="", thought="", did="") -> State:
    """One finished step with its passages."""
    step = state.work.step + 1
    did = did or f"run check_{step} src/part_{step}.py"
    output = output or f"value_of_{step} is {step}\n" * 60 + f"{step} passed in part_{step}.py"
    told = [
        (PassageVoice.THOUGHT, make_block(thought or "Great, now let me go on.")),
        (PassageVoice.ACTION, make_block(did)),
        (PassageVoice.OUTPUT, make_block(output)),
    ]
    passages = tuple(Passage(step, voice, raw.id, len(raw.text), did, (f"part_{step}.py",)) for voice, raw in told)
    seen = Observation(Action("run", {"command": did}), True, output[:100], told[2][1].id, len(output))
    events = [
        happened.ActionsExecuted(step, (seen,)),
        happened.OutputDigested(passages=passages),
        happened.StepFinished(step, did),
    ]
    return append_events(store, state, events, [raw for _, raw in told])


def journal(store) -> list[MemoryCompacted]:
    return [entry.event for entry in store.journal("one") if isinstance(entry.event, MemoryCompacted)]


def window(state, agent):
    past = agent.knowledge.traces.of(state.memory.passages, agent.store.read)
    return build_prompt(
        GatheredContext(state, (), past),
        agent.settings.template,
        select_offered_tools(agent.settings.template.at(state.phase), TOOLS),
        4_000,
        COUNTER,
    )


def long_run(steps, **agent):
    store = MemoryStore()
    made, state = agent_with(store, **agent), begun(store)
    for _ in range(steps):
        state = compact_memory(stepped(store, state), made)
    return store, made, state


def test_dozens_of_compactions_keep_what_must_stay_and_stay_small():
    store = MemoryStore()
    agent, state = agent_with(store, style=replace(TEMPLATE, pruning=replace(SMALL, left=0.08))), begun(store)
    for number in range(1, 461):
        often = f"run ./bin/recheck_all --quick {number}" if number < 420 and number % 5 == 0 else ""
        output = f"value_of_{number} is {number}\n" * 160
        before, state = state.memory.compactions, compact_memory(stepped(store, state, output, did=often), agent)
        if state.memory.compactions > before:
            message = window(state, agent).request.message
            assert all(text in message for text in NEVER)
        assert COUNTER(state.memory.summary.text) <= MAX_SUMMARY_TOKENS
        assert count_passage_characters(state.memory.passages) <= SMALL.full * compute_memory_capacity(4_000) + 5_000
    assert state.memory.compactions == len(journal(store)) >= 60
    assert "recheck_all" in window(state, agent).request.message, "used often, until forty steps ago"
    assert state.memory.forgotten == sum(len(event.gone) for event in journal(store)) > 1_000


def test_memory_that_is_not_nearly_full_is_left_alone():
    store, _, state = long_run(20)
    assert not is_memory_full(state.memory.passages, 4_000, SMALL) and not journal(store)
    assert len(state.memory.passages) == 60 and not state.memory.summary.text


def test_memory_of_many_short_passages_is_full_before_it_has_to_forget_without_a_word():
    store = MemoryStore()
    agent, state = agent_with(store, style=replace(TEMPLATE, pruning=CompactionPolicy())), begun(store)
    for number in range(1, 401):
        state = compact_memory(stepped(store, state, output=f"value {number}", did=f"run check_{number}"), agent)
        assert len(state.memory.passages) <= 0.8 * 0.15 * 4_000 + 3
    assert state.memory.compactions == len(journal(store)) >= 2
    assert state.memory.forgotten == sum(len(event.gone) for event in journal(store)), "each into the summary"
    assert count_passage_characters(state.memory.passages) < 0.1 * compute_memory_capacity(4_000)


def test_a_compaction_tells_what_it_won_and_each_step_in_a_line():
    store, _, state = long_run(30)
    (event,) = journal(store)
    assert event.by == "loop" and event.tokens_won > 3_000 and not event.reply
    newest = state.memory.summary.lines[-1]
    assert newest.text == f"run check_{newest.step} src/part_{newest.step}.py → {newest.step} passed in part_{newest.step}.py"
    assert "let me go on" not in state.memory.summary.text
    assert not any(
        passage.voice is PassageVoice.THOUGHT and passage.step < event.step - 3 for passage in state.memory.passages
    ), "small talk went"
    assert {passage.step for passage in state.memory.passages} >= set(range(event.step - 2, event.step + 1))


def test_what_a_thought_decides_stays_word_for_word():
    store = MemoryStore()
    agent, state = agent_with(store), begun(store)
    said = "We keep the old reader because the new one loses the order of keys."
    state = stepped(store, state, thought=f"Looked at both. {said} Now the tests.")
    while any((passage.step, passage.voice) == (1, PassageVoice.THOUGHT) for passage in state.memory.passages):
        state = compact_memory(stepped(store, state), agent)
    assert f"“{said}”" in state.memory.summary.text


def test_a_passage_that_is_too_old_goes_whatever_its_kind():
    style = replace(TEMPLATE, pruning=replace(SMALL, oldest=10))
    store, _, state = long_run(30, style=style)
    last = journal(store)[-1]
    assert all(last.step - passage.step <= 10 for passage in state.memory.passages)


def test_age_alone_starts_a_compaction_and_so_does_the_number_of_passages():
    roomy = replace(SMALL, full=1.0, left=0.9)
    assert not journal(long_run(30, style=replace(TEMPLATE, pruning=roomy))[0])
    aged, _, state = long_run(30, style=replace(TEMPLATE, pruning=replace(roomy, oldest=10)))
    assert len(journal(aged)) > 1 and state.memory.passages[0].step > 15
    many, _, state = long_run(30, style=replace(TEMPLATE, pruning=replace(roomy, most_passages=20)))
    assert journal(many) and len(state.memory.passages) < 26


def test_a_call_over_the_alert_forces_a_compaction_that_says_so():
    style = replace(TEMPLATE, pruning=replace(SMALL, full=1.0, left=0.5, context=12_000))
    store, agent, state = long_run(20, style=style)
    assert not journal(store)
    large = replace(state, tokens=replace(state.tokens, last_call=CallFigures(budget=16_000, tokens=11_000, reserve=1_000)))
    after = compact_memory(large, agent)
    assert len(after.memory.passages) < len(large.memory.passages)
    assert journal(store)[-1].note.startswith("the last call took 12,000 tokens, the alert is at 12,000")


def test_every_shipped_type_prunes_by_age_number_and_size_of_the_context():
    assert all(
        min(policy.oldest, policy.most_passages, policy.context) > 0
        for policy in (load_template(name).pruning for name in ("fix_bug", "refactor", "discovery", "code_review"))
    )


def test_the_same_journal_gives_the_same_summary_and_a_window_is_rebuilt_from_it():
    first, second = long_run(60), long_run(60)
    assert journal(first[0]) == journal(second[0]) and len(journal(first[0])) > 1
    fresh = replace_in_parts(first[1], traces=TraceCache())
    assert window(first[0].load("one"), fresh).request.text == window(second[2], second[1]).request.text


def test_the_agent_may_ask_and_its_words_stay():
    store, agent, state = long_run(12)
    state = compact_memory(append_events(store, state, [CompactionRequested("reader done; writer.py is next")]), agent)
    (event,) = journal(store)
    assert event.by == "agent" and event.gone and not state.memory.keep
    assert "- kept: reader done; writer.py is next" in window(state, agent).request.message
    for number in range(5):
        state = compact_memory(append_events(store, state, [CompactionRequested(f"{number} " + "ü" * 298)]), agent)
        assert COUNTER(replace(state.memory.summary, keep=()).text) <= MAX_SUMMARY_TOKENS
        assert sum(map(len, state.memory.summary.keep)) <= MAX_KEPT_CHARACTERS


def test_a_hook_is_asked_and_may_put_it_off():
    hook = Answering(HookAnswer(False), HookAnswer(False), HookAnswer(True))
    store, _, _ = long_run(30, upkeep=CompactionSettings(hook))
    assert [about["step"] for about in hook.asked] == list(range(hook.asked[0]["step"], hook.asked[0]["step"] + 3))
    assert hook.asked[0]["going"]["passages"] > 10 and hook.asked[0]["pool"]["room"] == compute_memory_capacity(4_000)
    assert len(journal(store)) == 1 and journal(store)[0].step == hook.asked[-1]["step"]


def test_a_hook_that_fails_stops_nothing_and_is_written_down_once():
    store, _, state = long_run(
        60, upkeep=CompactionSettings(Answering(HookAnswer(True, "exit 3: oops 1"), HookAnswer(True, "exit 3: oops 2")))
    )
    assert len(journal(store)) > 1 and "oops" in journal(store)[0].note
    assert [made.text for made in state.memory.decisions if "hook" in made.text] == [
        "the hook before_compaction failed; memory was compacted all the same"
    ]


def summing(*texts: str) -> ScriptedModel:
    return ScriptedModel([Reply(text) for text in texts])


def test_a_summary_by_the_model_is_used_when_it_holds_every_name_it_must():
    by_rules = long_run(30)[2].memory.summary
    must = [seen.name for seen in by_rules.names[:15]]
    model = summing(f"All parts were checked: {', '.join(must)}. Nothing is open.")
    store, agent, state = long_run(30, model=model, upkeep=CompactionSettings(summary=load_call_template("summary")))
    (request,) = model.requests
    assert COUNTER.whole(request) + request.reserve <= 2_000 and all(name in request.message for name in must)
    assert state.memory.summary.prose.startswith("All parts were checked") and not state.memory.summary.lines
    assert "Nothing is open." in window(state, agent).request.message
    (event,) = journal(store)
    assert event.reply and event.reply.thought == model.replies[0].thought and not event.note
    assert state.spending.calls == 1 and state.spending.usage == event.reply.usage and state.spending.usage.input > 0


@pytest.mark.parametrize(
    ("text", "why"),
    [("All went well.", "it lacks "), ("", "it is empty"), ("word " * 900, "tokens, 280 are allowed")],
    ids=["lacks names", "empty", "too long"],
)
def test_a_summary_by_the_model_that_is_not_sound_is_paid_and_not_used(text, why):
    store, _, state = long_run(30, model=summing(text), upkeep=CompactionSettings(summary=load_call_template("summary")))
    (event,) = journal(store)
    assert why in event.note and event.reply and event.reply.thought == text
    assert state.memory.summary == long_run(30)[2].memory.summary and state.spending.calls == 1


def test_a_model_that_can_not_be_asked_does_not_hold_up_the_work():
    store, _, state = long_run(30, upkeep=CompactionSettings(summary=load_call_template("summary")))
    assert "no summary by the model: the script has 0 replies" in journal(store)[0].note
    assert state.spending.calls == 0 and state.memory.summary.lines


def test_rules_alone_do_when_they_have_room_for_every_step_unless_the_user_wants_it_always():
    for always, calls in ((False, 0), (True, 1)):
        store = MemoryStore()
        agent = agent_with(store, CompactionSettings(summary=load_call_template("summary"), always=always), summing("x"))
        state = begun(store)
        for _ in range(8):
            state = stepped(store, state, output="line\n" * 4_000)
        assert compact_memory(state, agent).spending.calls == calls


def test_a_name_that_is_met_again_keeps_what_it_was_worth():
    """Used in many steps once, printed once since: memory alone would take it for a stranger."""
    raw = make_block("recheck_all stranger_name")
    passage = Passage(90, PassageVoice.OUTPUT, raw.id, len(raw.text))
    past = build_trace((passage,), {raw.id: raw.text}.__getitem__)
    former = (NameSeen("recheck_all", 5, 1.5),)
    names = weights_from_policy(TEMPLATE.weights).names
    first, second = rank_summary_names(former, frozenset([passage]), past, names, COUNTER)
    assert first == NameSeen("recheck_all", 90, 1.5) and second.name == "stranger_name" and second.odds < 0
    assert rank_summary_names(former, frozenset(), past, names, COUNTER) == (first,), (
        "alive in memory, and not to be lost when it goes there"
    )


texts = st.text("abcdefg_./ \n", min_size=1, max_size=200).map(lambda text: text * 60)


@given(
    st.lists(st.tuples(st.sampled_from(PassageVoice), texts), min_size=4, max_size=40),
    st.sampled_from([0.0, 0.02, 0.1]),
    st.integers(1, 5),
)
def test_for_any_memory_what_stays_is_in_order_and_the_summary_is_bounded(said, left, keep_steps):
    archive, passages = dict[str, str](), list[Passage]()
    for step, (voice, text) in enumerate(said, 1):
        raw = make_block(text)
        archive[raw.id] = raw.text
        passages.append(Passage(step, voice, raw.id, len(text)))
    style = replace(TEMPLATE, pruning=CompactionPolicy(0.0, left, keep_steps, 0))
    state = State(
        task=Task(id="t", goal="g", budget=500), memory=MemoryState(passages=tuple(passages)), work=WorkState(step=len(said))
    )
    after = compact_by_rules(state, build_trace(state.memory.passages, archive.__getitem__), style, COUNTER)
    assert after == compact_by_rules(state, build_trace(state.memory.passages, archive.__getitem__), style, COUNTER)
    kept = iter(passages)
    assert all(passage in kept for passage in after.memory.passages)
    assert set(passages[-keep_steps:]) <= set(after.memory.passages)
    assert COUNTER(after.memory.summary.text) <= MAX_SUMMARY_TOKENS
    assert after.memory.forgotten == len(passages) - len(after.memory.passages)
