"""How well a policy does on the recorded calls of a task: every prompt that was built anew is built again under it, from what was
gathered for it then, and compared with what the reply went on to say."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from afresh.context.measure_yield import measure_call, render_reply_words
from afresh.context.rebuild_call import SETTINGS_KINDS, CallInputs, build_from_recorded, load_call_inputs
from afresh.core.context_policy import ContextPolicy
from afresh.core.event import CallRequested, JournalEntry, ReplyReceived
from afresh.core.item_record import item_from_ref
from afresh.core.prompt import CallAudit
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.errors import OverCeiling
from afresh.evolve.score_runs import RunScore, StepScore, score_step
from afresh.evolve.task_use import render_item_text
from afresh.evolve.use_report import is_chosen_section
from afresh.memory.gathered_context import TraceCache
from afresh.ports.storage import JournalStore
from afresh.replay.measure_run import CodeReference, find_references


@dataclass(frozen=True, slots=True)
class RecordedCallInputs:
    """A call with what it was built from, and what it needed: the same for every policy."""

    audit: CallAudit
    inputs: CallInputs
    needs: tuple[CodeReference, ...]
    said: str


@dataclass(frozen=True, slots=True)
class TaskRecording:
    task: str
    at: float
    calls: tuple[RecordedCallInputs, ...]


def load_recording(entries: Iterable[JournalEntry], store: JournalStore) -> TaskRecording:
    """The calls of a task that were built anew and answered. Extended ones only repeat what one of these has chosen."""
    state: State | None = None
    asked, replies, at = list[tuple[State, CallRequested]](), dict[int, str](), 0.0
    for entry in entries:
        if isinstance(entry.event, CallRequested) and state and not entry.event.audit.is_extended:
            asked.append((state, entry.event))
        elif isinstance(entry.event, ReplyReceived):
            replies[entry.event.step] = render_reply_words(entry.event.reply.actions)
        state, at = fold_entries(state, [entry]), entry.at
    calls = [_load_call(held, call, replies, store) for held, call in asked if call.step in replies]
    return TaskRecording(state.task.id if state else "", at, tuple(calls))


def _load_call(state: State, call: CallRequested, replies: dict[int, str], store: JournalStore) -> RecordedCallInputs:
    said = f"{replies[call.step]}\n{replies.get(call.step + 1, '')}"
    inputs = load_call_inputs(state, call.audit, store, TraceCache())
    return RecordedCallInputs(call.audit, inputs, tuple(find_needs(state, call.audit, said, store)), said)


def find_needs(state: State, audit: CallAudit, said: str, store: JournalStore) -> list[CodeReference]:
    """Names and lines of the reply and the next one that afresh had at hand: gathered, remembered or sent. Those of the goal are
    always sent."""
    gathered = [item_from_ref(ref, store.read(ref.block)) for ref in audit.looks if ref.kind not in SETTINGS_KINDS]
    sent = [ref.text(store.read) for ref in audit.sections if is_chosen_section(ref.name)]
    remembered = [store.read(passage.block) for passage in state.memory.passages]
    at_hand = find_references("\n".join([*map(render_item_text, gathered), *sent, *remembered]))
    return sorted((find_references(said) & at_hand) - find_references(state.task.goal))


def score_recording(recording: TaskRecording, policy: ContextPolicy | None, store: JournalStore) -> RunScore:
    """Its calls under another policy, or under the one that they had. A prompt that does not fit holds nothing."""
    return RunScore(recording.task, tuple(_score_call(call, policy, store) for call in recording.calls))


def _score_call(call: RecordedCallInputs, policy: ContextPolicy | None, store: JournalStore) -> StepScore:
    memory = call.inputs.memory if policy is None else replace(call.inputs.memory, policy=policy)
    try:
        prompt = build_from_recorded(replace(call.inputs, memory=memory), call.audit, store.read)
    except OverCeiling:
        return replace(score_step(call.needs, "", call.audit.budget), drawn=0.0)
    scored = score_step(call.needs, prompt.request.body, prompt.tokens)
    chosen = [section for section in prompt.sections if is_chosen_section(section.name)]
    return replace(
        scored,
        drawn=sum(one.drawn for one in measure_call(prompt.sections, call.said) if is_chosen_section(one.name)),
        chosen=sum(section.tokens for section in chosen),
    )


def score_recordings(recordings: Sequence[TaskRecording], policy: ContextPolicy | None, store: JournalStore) -> list[RunScore]:
    return [score_recording(one, policy, store) for one in recordings]
