"""How a window tells what the user has said since the goal: word for word, each answer beside its question."""

from afresh.domain.said import Said, words_said
from afresh.domain.state import State
from afresh.domain.text import one_line

NEWEST = "### The user said last (the newest instruction, it goes before the goal above)"
ASKED = 240
"""Characters of an earlier question with its options; of the latest they stand in full. Answers are never cut."""


def spoken(state: State) -> list[str]:
    told = words_said(state)
    return [*map(_earlier, told[:-1]), *[f"{NEWEST}\n{_latest(word)}" for word in told[-1:] if word.text]]


def _earlier(word: Said) -> str:
    asked = f"Asked: {one_line(word.asked, ASKED)} " if word.question else ""
    return f"- {asked}The user said: {word.text}"


def _latest(word: Said) -> str:
    return f"Asked: {word.asked}\nAnswer: {word.text}" if word.question else word.text
