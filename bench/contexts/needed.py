"""What the next action refers to, and whether a context holds it. Nothing but Python, since peers run it in their environments.

A name is a word that looks like a path or an identifier. A line is a whole line of 20 characters or more. Of both, those are
needed that the action really taken next has and an earlier step had, but not the task. The measure is lexical.
"""

import json
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

Run = dict[str, Any]
Step = dict[str, Any]

WORD = re.compile(r"[A-Za-z_~.][\w./\-]*\w")
JOINED = re.compile(r"[/_.]|[a-z][A-Z]")
DIGIT, LETTERS = re.compile(r"\d"), re.compile(r"[A-Za-z]{2}")
SHORTEST_NAME, SHORTEST_LINE, FEWEST_CHARACTERS = 5, 20, 7
TALK = "message_user"


def count(text: str) -> int:
    """Tokens, roughly: four characters each. The same for every arm."""
    return (len(text) + 3) // 4


def action_text(action: dict[str, Any]) -> str:
    if action.get("text"):
        return action["text"]
    args = action.get("args")
    return json.dumps(args, ensure_ascii=False).replace("\\n", "\n").replace('\\"', '"') if args else ""


def step_text(step: Step) -> str:
    return "\n".join((step.get("thought") or "", action_text(step["action"]), step.get("observation") or ""))


def is_name(word: str) -> bool:
    return len(word) >= SHORTEST_NAME and bool(JOINED.search(word) or (DIGIT.search(word) and LETTERS.search(word)))


def names(text: str) -> set[str]:
    return {word for found in set(WORD.findall(text)) if is_name(word := found.strip(".-"))}


def lines(text: str) -> set[str]:
    stripped = map(str.strip, text.splitlines())
    return {line for line in stripped if len(line) >= SHORTEST_LINE and len(set(line)) >= FEWEST_CHARACTERS}


@dataclass(slots=True)
class Tally:
    """What was sent, what of it was needed, and what of that was there. Sums, so that tallies can be added."""

    steps: int = 0
    tokens: int = 0
    fresh: int = 0
    """Of these, the tokens after the longest beginning that a context shares with the one before: what no prompt cache has."""
    peak: int = 0
    over: int = 0
    """Contexts over the budget. Such a one would not have been sent, so it holds nothing."""
    scored: int = 0
    names: int = 0
    names_held: int = 0
    lines: int = 0
    lines_held: int = 0
    summaries: int = 0
    summary_tokens: int = 0
    """Of the calls that write summaries: prompt and reply. They are not in `tokens`."""

    def __add__(self, other: "Tally") -> "Tally":
        added = {name: value + getattr(other, name) for name, value in asdict(self).items()}
        return Tally(**{**added, "peak": max(self.peak, other.peak)})

    def recall(self, kind: str) -> float | None:
        """In percent; nothing where nothing was needed."""
        wanted = getattr(self, kind)
        return 100 * getattr(self, f"{kind}_held") / wanted if wanted else None


class Seen:
    """The names and lines of a run so far, and those of its task."""

    def __init__(self, task: str) -> None:
        self.task_names, self.task_lines = names(task), lines(task)
        self.names: set[str] = set()
        self.lines: set[str] = set()

    def wanted(self, step: Step) -> tuple[set[str], set[str]] | None:
        """Nothing is asked of talk and of an action without text."""
        text = action_text(step["action"])
        if not text or step["action"]["tool"] == TALK:
            return None
        return (names(text) & self.names) - self.task_names, (lines(text) & self.lines) - self.task_lines

    def note(self, step: Step) -> None:
        text = step_text(step)
        self.names |= names(text)
        self.lines |= lines(text)


def tallies(run: Run, contexts: Iterable[str], ceiling: int) -> Iterator[Tally]:
    """The sums after each step. The one tally grows; whoever wants to keep a point copies it."""
    seen, tally, before = Seen(run["task"]), Tally(), ""
    for step, context in zip(run["steps"], contexts, strict=False):
        size = count(context)
        tally.steps += 1
        tally.tokens += size
        tally.fresh += size - shared(before, context) // 4
        before = context
        tally.peak = max(tally.peak, size)
        tally.over += size > ceiling
        if tally.steps > 1 and (wanted := seen.wanted(step)) is not None:
            note_held(tally, context if size <= ceiling else "", wanted)
        seen.note(step)
        yield tally


def last(sums: Iterable[Tally]) -> Tally:
    """That of the whole run."""
    return deque(sums, maxlen=1).pop()


def shared(one: str, other: str) -> int:
    """Characters that both begin with, by halving: contexts can be a million characters long."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def note_held(tally: Tally, context: str, wanted: tuple[set[str], set[str]]) -> None:
    tally.scored += 1
    wanted_names, wanted_lines = wanted
    tally.names += len(wanted_names)
    tally.names_held += sum(name in context for name in wanted_names)
    tally.lines += len(wanted_lines)
    tally.lines_held += sum(line in context for line in wanted_lines)


def common_names(text: str) -> list[str]:
    """The most used first."""
    words = Counter(word for found in WORD.findall(text) if is_name(word := found.strip(".-")))
    return [word for word, _ in words.most_common()]
