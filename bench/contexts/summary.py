"""What stands in for a model that writes summaries: always the same length, and all of it from the text.

A model's summary under such prompts has some hundred tokens. This one has 1,000, and half of it are the names that the text uses
most, which is kinder to the measure than prose: the goal's beginning, those names, and the last lines.
"""

from dataclasses import dataclass

from contexts.needed import common_names, count, lines

LONGEST = 1_000
GOAL, NAMES = 0.2, 0.5
"""Shares of the length; the last lines have the rest."""


@dataclass(slots=True)
class Spent:
    """What the calls cost that write summaries: prompt and reply."""

    calls: int = 0
    tokens: int = 0

    def summary(self, instructions: str, text: str) -> str:
        written = summarised(text)
        self.calls += 1
        self.tokens += count(instructions) + count(text) + count(written)
        return written


def summarised(text: str) -> str:
    room = LONGEST * 4
    goal = text.strip()[: int(room * GOAL)]
    found = fitting(common_names(text), int(room * NAMES), ", ")
    last = fitting(list(dict.fromkeys(reversed(ordered_lines(text)))), room - len(goal) - len(found) - 40, "\n")
    return f"Goal: {goal}\n\nNames: {found}\n\nLast:\n{last}"


def ordered_lines(text: str) -> list[str]:
    known = lines(text)
    return [line for line in map(str.strip, text.splitlines()) if line in known]


def fitting(words: list[str], room: int, between: str) -> str:
    taken: list[str] = []
    for word in words:
        if len(word) + len(between) <= room:
            room -= len(word) + len(between)
            taken.append(word)
    return between.join(taken)
