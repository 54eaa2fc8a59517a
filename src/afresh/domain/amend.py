"""Memory as persons have corrected it: other words for a fact, or none. What was forgotten is in no later window."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from afresh.domain.action import Observation, Reply
from afresh.domain.fact import Decision, Fact
from afresh.domain.known import PERSON, Edit, decided, fact_id, said
from afresh.domain.state import State, StepRecord, changed
from afresh.domain.summary import Summary

SHORTEST = 12
"""Characters of a forgotten text from which lines that repeat it are withheld too: a shorter one stands in too many."""
GONE = "[forgotten at the user's wish]"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Edits:
    """In the order in which they were made."""

    edits: tuple[Edit, ...] = ()

    @property
    def phrases(self) -> tuple[str, ...]:
        """Texts that no line may repeat."""
        found = dict.fromkeys(plain(edit.old) for edit in self.edits if not edit.new)
        return tuple(phrase for phrase in found if len(phrase) >= SHORTEST)

    @property
    def by_id(self) -> dict[str, str]:
        """What each edited fact was made to say; empty: nothing."""
        return {edit.id: edit.new for edit in self.edits}

    def scrub(self, text: str) -> str:
        """Without the lines that a person wants forgotten."""
        return scrubbing(self.phrases)(text) if self.edits else text


def amended(state: State, edits: Edits) -> State:
    if not edits.edits:
        return state
    by_id, whose, scrub = edits.by_id, state.task.id, scrubbing(edits.phrases)
    facts = now([(fact, fact) for fact in state.facts], whose, by_id, lambda fact, text: replace(fact, text=text))
    told = [(one, said(one.text) if one.answer else decided(one)) for one in state.decisions]
    decisions = now(told, whose, by_id, overruled)
    words = now([(word, said(word)) for word in state.words], whose, by_id, lambda word, text: text)
    return changed(
        state,
        facts=tuple(replace(fact, subject=scrub(fact.subject), text=scrub(fact.text)) for fact in facts),
        decisions=tuple(decisions),
        words=tuple(words),
        recent=tuple(record(one, scrub) for one in state.recent),
        returned=None if state.returned and any(scrub(text) != text for text in texts(state.returned.reply)) else state.returned,
        index=tuple(replace(line, phrase=scrub(line.phrase), subject=scrub(line.subject)) for line in state.index),
        plan=tuple(replace(item, text=scrub(item.text)) for item in state.plan),
        summary=summary(state.summary, scrub),
    )


def now(items: Sequence[tuple[T, Fact]], task: str, edits: Mapping[str, str], write: Callable[[T, str], T]) -> list[T]:
    """Each as it reads by now; an edit may have been edited in turn."""
    kept: list[T] = []
    for item, fact in items:
        text = reads(task, fact, edits)
        if text == fact.text or text:
            kept.append(item if text == fact.text else write(item, text))
    return kept


def reads(task: str, fact: Fact, edits: Mapping[str, str]) -> str:
    """The words of a fact by now; empty when it is forgotten."""
    text, done = fact.text, set[str]()
    while (name := fact_id(task, replace(fact, text=text))) in edits and name not in done:
        done.add(name)
        text = edits[name]
    return text


def overruled(decision: Decision, text: str) -> Decision:
    return replace(decision, text=text, why="", by=PERSON)


def record(one: StepRecord, scrub: Callable[[str], str]) -> StepRecord:
    seen = tuple(observation(found, scrub) for found in one.observations)
    return replace(one, thought=scrub(one.thought), observations=seen, outcome=scrub(one.outcome))


def observation(seen: Observation, scrub: Callable[[str], str]) -> Observation:
    args = {name: scrub(value) if isinstance(value, str) else value for name, value in seen.action.args.items()}
    return replace(seen, text=scrub(seen.text), action=replace(seen.action, args=args))


def texts(reply: Reply) -> Iterator[str]:
    """What it thought and called with: that can't be withheld line by line, so it goes back whole or not at all."""
    yield from (one.text for one in reply.thinking)
    yield from (text for action in reply.actions for text in strings(action.args))


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        for one in value.values() if isinstance(value, Mapping) else value:  # pyright: ignore[reportUnknownVariableType]
            yield from strings(one)


def summary(told: Summary, scrub: Callable[[str], str]) -> Summary:
    lines = tuple(replace(line, text=scrub(line.text)) for line in told.lines)
    return replace(told, keep=tuple(map(scrub, told.keep)), prose=scrub(told.prose), lines=lines)


def scrubbing(phrases: Sequence[str]) -> Callable[[str], str]:
    """Withholds every line that repeats one of the phrases, however it is spaced."""

    def scrub(text: str) -> str:
        if not text or not any(phrase in plain(text) for phrase in phrases):
            return text
        lines = [GONE if any(phrase in plain(line) for phrase in phrases) else line for line in text.splitlines()]
        told = "\n".join(lines)
        return told if not any(phrase in plain(told) for phrase in phrases) else GONE

    return scrub if phrases else lambda text: text


def plain(text: str) -> str:
    return " ".join(text.split())
