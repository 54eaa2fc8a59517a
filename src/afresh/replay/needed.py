"""What an action refers to: names and whole lines, and where in a run each of them was last seen.

The measure is lexical. It says that a name or a line stood in front of the model, not that the model acted well on it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from afresh.replay.run import MESSAGE_USER_TOOL, RecordedStep

NAME_KIND = "name"
LINE_KIND = "line"
MIN_NAME_CHARACTERS = 5
MIN_LINE_CHARACTERS = 20
MIN_DISTINCT_CHARACTERS = 7
"""A line of fewer different characters is a ruler, not a statement."""

_WORD = re.compile(r"[A-Za-z_~.][\w./\-]*\w")
_JOINED_WORD = re.compile(r"[/_.]|[a-z][A-Z]")
_DIGIT = re.compile(r"\d")
_TWO_LETTERS = re.compile(r"[A-Za-z]{2}")


class CodeReference(NamedTuple):
    """A name or a line that an action may refer to."""

    kind: str
    text: str


class ReferenceSighting(NamedTuple):
    """Where a thing was last seen: the step's number, and which part of the step."""

    step: int
    part: str


def find_names(text: str) -> set[str]:
    """Words that look like a path or an identifier."""
    words = {word.strip(".-") for word in _WORD.findall(text)}
    return {word for word in words if len(word) >= MIN_NAME_CHARACTERS and _looks_like_code(word)}


def _looks_like_code(word: str) -> bool:
    return bool(_JOINED_WORD.search(word) or (_DIGIT.search(word) and _TWO_LETTERS.search(word)))


def find_lines(text: str) -> set[str]:
    """Whole lines that are long enough to be nobody's accident."""
    stripped = map(str.strip, text.splitlines())
    return {line for line in stripped if len(line) >= MIN_LINE_CHARACTERS and len(set(line)) >= MIN_DISTINCT_CHARACTERS}


def find_references(text: str) -> set[CodeReference]:
    return {CodeReference(NAME_KIND, name) for name in find_names(text)} | {
        CodeReference(LINE_KIND, line) for line in find_lines(text)
    }


def iterate_step_parts(step: RecordedStep) -> Iterator[tuple[str, str]]:
    """A step in the order in which it happened."""
    yield "said", step.said
    yield "thought", step.thought
    yield "action", step.action
    yield "observation", step.observation


class ReferenceIndex:
    """Grows with each step by what that step holds; the history is never read again."""

    def __init__(self, task: str) -> None:
        self.given = find_references(task)
        self.last: dict[CodeReference, ReferenceSighting] = {}

    def needed(self, step: RecordedStep) -> list[tuple[CodeReference, ReferenceSighting]]:
        """What the action refers to that was seen earlier in the run, but is not in the task. Talk refers to nothing."""
        if step.tool == MESSAGE_USER_TOOL:
            return []
        wanted = find_references(step.action) - self.given
        return sorted((thing, self.last[thing]) for thing in wanted if thing in self.last)

    def note(self, number: int, step: RecordedStep) -> None:
        for part, text in iterate_step_parts(step):
            for thing in find_references(text):
                self.last[thing] = ReferenceSighting(number, part)
