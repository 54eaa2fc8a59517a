"""What an action refers to: names and whole lines, and where in a run each of them was last seen.

The measure is lexical. It says that a name or a line stood in front of the model, not that the model acted well on it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from afresh.replay.run import TALK, RunStep

NAME = "name"
LINE = "line"
SHORTEST_NAME = 5
SHORTEST_LINE = 20
FEWEST_CHARACTERS = 7
"""A line of fewer different characters is a ruler, not a statement."""

_word = re.compile(r"[A-Za-z_~.][\w./\-]*\w")
_joined = re.compile(r"[/_.]|[a-z][A-Z]")
_digit = re.compile(r"\d")
_letters = re.compile(r"[A-Za-z]{2}")


class Thing(NamedTuple):
    """A name or a line that an action may refer to."""

    kind: str
    text: str


class Sighting(NamedTuple):
    """Where a thing was last seen: the step's number, and which part of the step."""

    step: int
    part: str


def names(text: str) -> set[str]:
    """Words that look like a path or an identifier."""
    words = {word.strip(".-") for word in _word.findall(text)}
    return {word for word in words if len(word) >= SHORTEST_NAME and _looks_like_code(word)}


def _looks_like_code(word: str) -> bool:
    return bool(_joined.search(word) or (_digit.search(word) and _letters.search(word)))


def lines(text: str) -> set[str]:
    """Whole lines that are long enough to be nobody's accident."""
    stripped = map(str.strip, text.splitlines())
    return {line for line in stripped if len(line) >= SHORTEST_LINE and len(set(line)) >= FEWEST_CHARACTERS}


def things(text: str) -> set[Thing]:
    return {Thing(NAME, name) for name in names(text)} | {Thing(LINE, line) for line in lines(text)}


def parts(step: RunStep) -> Iterator[tuple[str, str]]:
    """A step in the order in which it happened."""
    yield "said", step.said
    yield "thought", step.thought
    yield "action", step.action
    yield "observation", step.observation


class Sightings:
    """Grows with each step by what that step holds; the history is never read again."""

    def __init__(self, task: str) -> None:
        self.given = things(task)
        self.last: dict[Thing, Sighting] = {}

    def needed(self, step: RunStep) -> list[tuple[Thing, Sighting]]:
        """What the action refers to that was seen earlier in the run, but is not in the task. Talk refers to nothing."""
        if step.tool == TALK:
            return []
        wanted = things(step.action) - self.given
        return sorted((thing, self.last[thing]) for thing in wanted if thing in self.last)

    def note(self, number: int, step: RunStep) -> None:
        for part, text in parts(step):
            for thing in things(text):
                self.last[thing] = Sighting(number, part)
