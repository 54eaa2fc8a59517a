"""How well a policy does on the recorded calls of a task: each prompt is built again under it, from what was gathered for it, and
compared with what the reply went on to say. One that extends another is that one and its turns, all built again."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from afresh.context.build_prompt import SECTION_SEPARATOR
from afresh.context.extend_prompt import build_turn, count_turn_tokens
from afresh.context.measure_yield import measure_call, render_reply_words
from afresh.context.rebuild_call import SETTINGS_KINDS, TEMPLATE_KIND, CallInputs, build_from_recorded, load_call_inputs
from afresh.core.codec import value_from_json
from afresh.core.context_item import Excerpt, Item, Note
from afresh.core.context_policy import ContextPolicy
from afresh.core.event import CallRequested, JournalEntry, ReplyReceived
from afresh.core.item_record import item_from_ref
from afresh.core.prompt import TURN_SECTION, CallAudit, Section, Tier, render_turn
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.tokens import EstimatingCounter
from afresh.errors import OverCeiling
from afresh.evolve.compare_scores import RunScore, StepScore
from afresh.evolve.use_report import is_chosen_section
from afresh.memory.gathered_context import TraceCache
from afresh.ports.storage import JournalStore
from afresh.replay.measure_run import LINE_KIND, CodeReference, find_references


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


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """What a call would have been sent: all of it, and the sections that are new in it."""

    text: str = ""
    excess: int = 0
    """Tokens beyond those that were recorded."""
    new: tuple[Section, ...] = ()


def load_recording(entries: Iterable[JournalEntry], store: JournalStore) -> TaskRecording:
    """The calls of a task that were answered, as far as they were recorded with all that they were built from."""
    state: State | None = None
    asked, replies, at = list[tuple[State, CallRequested]](), dict[int, str](), 0.0
    for entry in entries:
        if isinstance(entry.event, CallRequested) and state and _has_template(entry.event.audit):
            asked.append((state, entry.event))
        elif isinstance(entry.event, ReplyReceived):
            replies[entry.event.step] = render_reply_words(entry.event.reply.actions)
        state, at = fold_entries(state, [entry]), entry.at
    calls = [_load_call(held, call, replies, store) for held, call in asked if call.step in replies]
    return TaskRecording(state.task.id if state else "", at, tuple(calls))


def _has_template(audit: CallAudit) -> bool:
    return any(ref.kind == TEMPLATE_KIND for ref in audit.looks)


def _load_call(state: State, call: CallRequested, replies: dict[int, str], store: JournalStore) -> RecordedCallInputs:
    text = f"{replies[call.step]}\n{replies.get(call.step + 1, '')}"
    inputs = load_call_inputs(state, call.audit, store, TraceCache())
    return RecordedCallInputs(call.audit, inputs, tuple(find_needs(state, call.audit, text, store)), text)


def find_needs(state: State, audit: CallAudit, text: str, store: JournalStore) -> list[CodeReference]:
    """Names and lines of the reply and the next one that afresh had at hand: gathered, remembered or sent. Those of the goal are
    always sent."""
    gathered = [item_from_ref(ref, store.read(ref.block)) for ref in audit.looks if ref.kind not in SETTINGS_KINDS]
    sent = [ref.text(store.read) for ref in audit.sections if is_sized_by_policy(ref.name)]
    remembered = [store.read(passage.block) for passage in state.memory.passages]
    at_hand = find_references("\n".join([*map(render_item_text, gathered), *sent, *remembered]))
    return sorted((find_references(text) & at_hand) - find_references(state.task.goal))


def is_sized_by_policy(name: str) -> bool:
    return is_chosen_section(name) or name == TURN_SECTION


def score_recordings(recordings: Sequence[TaskRecording], policy: ContextPolicy | None, store: JournalStore) -> list[RunScore]:
    """Their calls under another policy, or under the one that they had. A prompt that does not fit holds nothing."""
    return [RunScore(recording.task, tuple(_score_calls(recording.calls, policy, store))) for recording in recordings]


def _score_calls(calls: Sequence[RecordedCallInputs], policy: ContextPolicy | None, store: JournalStore) -> Iterator[StepScore]:
    sent = SentPrompt()
    for call in calls:
        memory = call.inputs.memory if policy is None else replace(call.inputs.memory, policy=policy)
        inputs = replace(call.inputs, memory=memory)
        try:
            sent = _extend(sent, inputs, call.audit) if call.audit.is_extended else _build(inputs, call.audit, store)
        except OverCeiling:
            sent = SentPrompt(excess=call.audit.budget - call.audit.tokens)
        chosen = [section for section in sent.new if is_sized_by_policy(section.name)]
        lines = [need.text for need in call.needs if need.kind == LINE_KIND]
        names = [need.text for need in call.needs if need.kind != LINE_KIND]
        yield StepScore(
            tokens=call.audit.tokens + sent.excess,
            names=len(names),
            names_held=sum(name in sent.text for name in names),
            lines=len(lines),
            lines_held=sum(line in sent.text for line in lines),
            chosen=sum(section.tokens for section in chosen),
            drawn=sum(section.drawn for section in measure_call(sent.new, call.said) if is_sized_by_policy(section.name)),
        )


def _build(inputs: CallInputs, audit: CallAudit, store: JournalStore) -> SentPrompt:
    prompt = build_from_recorded(inputs, audit, store.read)
    return SentPrompt(prompt.request.body, prompt.tokens - audit.tokens, prompt.sections)


def _extend(sent: SentPrompt, inputs: CallInputs, audit: CallAudit) -> SentPrompt:
    counter = value_from_json(EstimatingCounter, audit.counter)
    exchange = build_turn(inputs.memory, counter)
    turn = Section(TURN_SECTION, Tier.DEMAND, render_turn(exchange), count_turn_tokens(exchange, counter))
    recorded = next(ref.tokens for ref in reversed(audit.sections) if ref.name == TURN_SECTION)
    return SentPrompt(f"{sent.text}{SECTION_SEPARATOR}{turn.text}", sent.excess + turn.tokens - recorded, (turn,))


def render_item_text(item: Item) -> str:
    if isinstance(item, Note):
        return item.text
    return item.code if isinstance(item, Excerpt) else str(item.subject)
