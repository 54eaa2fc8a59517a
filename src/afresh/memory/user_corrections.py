"""Memory as persons have corrected it: other words for a fact, or none. What was forgotten is in no later window."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from afresh.core.action import Observation
from afresh.core.decision import Decision
from afresh.core.fact import Fact
from afresh.core.project_facts import BY_PERSON, FactCorrection, fact_from_decision, fact_from_words, make_fact_id
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.step_history import Summary
from afresh.core.step_record import StepRecord

MIN_FORGOTTEN_CHARACTERS = 12
"""Characters of a forgotten text from which lines that repeat it are withheld too: a shorter one stands in too many."""
FORGOTTEN_LINE = "[forgotten at the user's wish]"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Corrections:
    """A person's corrections, in the order in which they were made."""

    edits: tuple[FactCorrection, ...] = ()

    @property
    def phrases(self) -> tuple[str, ...]:
        """Texts that no line may repeat."""
        found = dict.fromkeys(collapse_whitespace(edit.old) for edit in self.edits if not edit.new)
        return tuple(phrase for phrase in found if len(phrase) >= MIN_FORGOTTEN_CHARACTERS)

    @property
    def by_id(self) -> dict[str, str]:
        """The last text of each corrected fact; empty: forgotten."""
        return {edit.id: edit.new for edit in self.edits}

    def scrub(self, text: str) -> str:
        """The text without lines that a person wants forgotten."""
        return make_scrubber(self.phrases)(text) if self.edits else text


def apply_corrections(state: State, edits: Corrections) -> State:
    if not edits.edits:
        return state
    by_id, whose, scrub = edits.by_id, state.task.id, make_scrubber(edits.phrases)
    facts = correct_items(
        [(fact, fact) for fact in state.memory.facts], whose, by_id, lambda fact, text: replace(fact, text=text)
    )
    told = [
        (decision, fact_from_words(decision.text) if decision.answer else fact_from_decision(decision))
        for decision in state.memory.decisions
    ]
    decisions = correct_items(told, whose, by_id, overrule_decision)
    words = correct_items([(word, fact_from_words(word)) for word in state.dialogue.words], whose, by_id, lambda word, text: text)
    return replace(
        state,
        memory=replace(
            state.memory,
            facts=tuple(replace(fact, subject=scrub(fact.subject), text=scrub(fact.text)) for fact in facts),
            decisions=tuple(decisions),
            recent=tuple(scrub_step_record(step, scrub) for step in state.memory.recent),
            index=tuple(replace(line, phrase=scrub(line.phrase), subject=scrub(line.subject)) for line in state.memory.index),
            summary=scrub_summary(state.memory.summary, scrub),
        ),
        dialogue=replace(state.dialogue, words=tuple(words)),
        work=replace(
            state.work,
            returned_reply=None
            if state.work.returned_reply
            and any(scrub(text) != text for text in list_reply_texts(state.work.returned_reply.reply))
            else state.work.returned_reply,
            plan=tuple(replace(item, text=scrub(item.text)) for item in state.work.plan),
        ),
    )


def correct_items(items: Sequence[tuple[T, Fact]], task: str, edits: Mapping[str, str], write: Callable[[T, str], T]) -> list[T]:
    """The items with a person's corrections applied; a correction may have been corrected, too."""
    kept: list[T] = []
    for item, fact in items:
        text = get_corrected_text(task, fact, edits)
        if text == fact.text or text:
            kept.append(item if text == fact.text else write(item, text))
    return kept


def get_corrected_text(task: str, fact: Fact, edits: Mapping[str, str]) -> str:
    """The words of a fact by now; empty when it is forgotten."""
    text, done = fact.text, set[str]()
    while (name := make_fact_id(task, replace(fact, text=text))) in edits and name not in done:
        done.add(name)
        text = edits[name]
    return text


def overrule_decision(decision: Decision, text: str) -> Decision:
    return replace(decision, text=text, why="", by=BY_PERSON)


def scrub_step_record(step: StepRecord, scrub: Callable[[str], str]) -> StepRecord:
    """What the step did is a part of its outcome and goes with it."""
    seen, outcome = tuple(scrub_observation(observation, scrub) for observation in step.observations), scrub(step.outcome)
    reverted = step.reverted if outcome == step.outcome else ""
    return replace(
        step, thought=scrub(step.thought), observations=seen, outcome=outcome, reverted=reverted, judged=scrub(step.judged)
    )


def scrub_observation(seen: Observation, scrub: Callable[[str], str]) -> Observation:
    args = {name: scrub(value) if isinstance(value, str) else value for name, value in seen.action.args.items()}
    return replace(seen, text=scrub(seen.text), action=replace(seen.action, args=args))


def list_reply_texts(reply: Reply) -> Iterator[str]:
    """What it thought and called with: that can't be withheld line by line, so it goes back whole or not at all."""
    yield from (thinking.text for thinking in reply.thinking)
    yield from (text for action in reply.actions for text in list_strings(action.args))


def list_strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        for raw_value in value.values() if isinstance(value, Mapping) else value:  # pyright: ignore[reportUnknownVariableType]
            yield from list_strings(raw_value)


def scrub_summary(summary: Summary, scrub: Callable[[str], str]) -> Summary:
    lines = tuple(replace(line, text=scrub(line.text)) for line in summary.lines)
    return replace(summary, keep=tuple(map(scrub, summary.keep)), prose=scrub(summary.prose), lines=lines)


def make_scrubber(phrases: Sequence[str]) -> Callable[[str], str]:
    """Withholds every line that repeats one of the phrases, however it is spaced."""

    def scrub(text: str) -> str:
        if not text or not any(phrase in collapse_whitespace(text) for phrase in phrases):
            return text
        lines = [
            FORGOTTEN_LINE if any(phrase in collapse_whitespace(line) for phrase in phrases) else line
            for line in text.splitlines()
        ]
        note = "\n".join(lines)
        return note if not any(phrase in collapse_whitespace(note) for phrase in phrases) else FORGOTTEN_LINE

    return scrub if phrases else lambda text: text


def collapse_whitespace(text: str) -> str:
    return " ".join(text.split())
