"""Recorded runs: read, joined to longer sessions, and what of them the next action needs.

A name is a word that looks like a path or an identifier. A line is a whole line of 20 characters or more. Of both, those are
needed that the action really taken next has and an earlier step had, but not the task. The measure is lexical.
"""

import gzip
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from afresh.core.cache_rates import DEFAULT_CACHE_RATES

Run = dict[str, Any]
Step = dict[str, Any]

LEFT_OUT = "codex"
"""Agents whose recorded actions hold output as well: a score of them would mean nothing."""
DATE = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\dZ")
WORD = re.compile(r"[A-Za-z_~.][\w./\-]*\w")
JOINED = re.compile(r"[/_.]|[a-z][A-Z]")
DIGIT, LETTERS = re.compile(r"\d"), re.compile(r"[A-Za-z]{2}")
SHORTEST_NAME, SHORTEST_LINE, FEWEST_CHARACTERS = 5, 20, 7
TALK = "message_user"
FIXED_TOKENS = 1_300
"""System text and tools in front of each call, which are paid too."""


def read(path: Path, limit: int | None = None) -> list[Run]:
    """The runs that can be scored, in the order of the file: one JSON object a line (.jsonl or .jsonl.gz)."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        found = [json.loads(line) for line in file if line.strip()]
    return [run for run in found if LEFT_OUT not in run.get("agent", "").lower()][:limit]


def source(run: Run) -> str:
    return run["id"].split("/")[0].split("-")[0]


def group_by_source(runs: Sequence[Run]) -> dict[str, list[Run]]:
    return {name: [run for run in runs if source(run) == name] for name in sorted({source(run) for run in runs})}


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
    paid: float = 0.0
    """With system text and tools, and a cache that has the beginning which a call shares with the one before."""
    peak: int = 0
    over: int = 0
    """Contexts over the budget. Such a one would not have been sent, so it holds nothing."""
    names: int = 0
    names_held: int = 0
    lines: int = 0
    lines_held: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        added = {name: value + getattr(other, name) for name, value in asdict(self).items()}
        return Tally(**{**added, "peak": max(self.peak, other.peak)})

    def __sub__(self, other: "Tally") -> "Tally":
        """The sums of the steps after `other`; the peak is that of all."""
        return Tally(**{name: value - getattr(other, name) for name, value in asdict(self).items() if name != "peak"})

    def held(self) -> dict[str, float | None]:
        """In percent; nothing where nothing was needed."""
        return {
            kind: round(100 * getattr(self, f"{kind}_held") / wanted, 1) if (wanted := getattr(self, kind)) else None
            for kind in ("names", "lines")
        }


class Seen:
    """The names and lines of a run so far, and those of its task."""

    def __init__(self, task: str) -> None:
        self.task_names, self.task_lines = names(task), lines(task)
        self.names: set[str] = set()
        self.lines: set[str] = set()

    def wanted(self, step: Step) -> tuple[set[str], set[str]]:
        """Nothing is asked of talk and of an action without text."""
        text = action_text(step["action"])
        if not text or step["action"]["tool"] == TALK:
            return set(), set()
        return (names(text) & self.names) - self.task_names, (lines(text) & self.lines) - self.task_lines

    def note(self, step: Step) -> None:
        text = step_text(step)
        self.names |= names(text)
        self.lines |= lines(text)


def tallies(run: Run, contexts: Iterable[str], ceiling: int) -> Iterator[Tally]:
    """The sums after each step. The one tally grows; whoever wants to keep a point copies it."""
    seen, tally, before = Seen(run["task"]), Tally(), ""
    for step, context in zip(run["steps"], contexts, strict=False):
        size, same = count(context), shared(before, context) // 4 + FIXED_TOKENS if tally.steps else 0
        tally.paid += DEFAULT_CACHE_RATES.count_paid_tokens(DEFAULT_CACHE_RATES.estimate_usage(FIXED_TOKENS + size, same))
        tally.steps += 1
        tally.tokens += size
        tally.peak, tally.over, before = max(tally.peak, size), tally.over + (size > ceiling), context
        wanted_names, wanted_lines = seen.wanted(step)
        tally.names += len(wanted_names)
        tally.lines += len(wanted_lines)
        if size <= ceiling:
            tally.names_held += sum(name in context for name in wanted_names)
            tally.lines_held += sum(line in context for line in wanted_lines)
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
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def chains(runs: Sequence[Run], steps: int) -> Iterator[Run]:
    """Runs of the same project joined in the order of their recording, each chain just as long as is needed. What is left over is
    too short and is dropped."""
    groups: dict[str, list[Run]] = {}
    for run in sorted(runs, key=recorded_at):
        groups.setdefault(project(run), []).append(run)
    for group in groups.values():
        pending: list[Run] = []
        for run in group:
            pending.append(run)
            if sum(len(one["steps"]) for one in pending) >= steps:
                yield joined(pending, steps)
                pending = []


def project(run: Run) -> str:
    """Runs of one source on the same code. Only SWE-bench names its projects in the id; a log folder is one project."""
    folder, _, name = run["id"].partition("/")
    return f"{folder}/{name.rsplit('-', 1)[0]}" if "__" in name else folder


def recorded_at(run: Run) -> tuple[str, str]:
    """When, if the file it came from says so; else by id."""
    found = DATE.search(json.dumps(run.get("meta", {})))
    return (found.group() if found else "", run["id"])


def joined(runs: Sequence[Run], steps: int) -> Run:
    """One session in which a person gives the next task when the last is done."""
    first, *others = runs
    taken: list[Step] = list(first["steps"])
    for run in others:
        final = taken[-1]
        if final["action"]["tool"] == TALK and not final.get("observation"):
            taken[-1] = {**final, "observation": run["task"]}
        else:
            taken.append({"thought": "", "action": {"tool": TALK, "text": ""}, "observation": run["task"]})
        taken += run["steps"]
    return {**first, "steps": taken[:steps], "joined": [run["id"] for run in runs]}


class Endless(Sequence[Step]):
    """The same real steps over and over. In each round every name is another one, so that lines keep being new.

    Steps are made when asked for and not kept, so that what memory grows by is what the builder keeps.
    """

    def __init__(self, cycle: Sequence[Step], steps: int) -> None:
        self.cycle, self.steps = cycle, steps

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(self.steps))]
        if not -self.steps <= index < self.steps:
            raise IndexError(index)
        turn, place = divmod(index % self.steps, len(self.cycle))
        return renamed(self.cycle[place], turn)


def renamed(step: Step, turn: int) -> Step:
    """The step with the number of the turn in each of its names: `query.py` becomes `query_2.py`."""

    def changed(value: Any) -> Any:
        if isinstance(value, str):
            return WORD.sub(lambda found: rename(found.group(), turn), value)
        if isinstance(value, dict):
            return {key: changed(inner) for key, inner in value.items()}
        return [changed(inner) for inner in value] if isinstance(value, list) else value

    if not turn:
        return step
    action = {key: value if key in ("tool", "kind") else changed(value) for key, value in step["action"].items()}
    return {**step, "thought": changed(step.get("thought")), "action": action, "observation": changed(step.get("observation"))}


def rename(word: str, turn: int) -> str:
    if not is_name(word.strip(".-")):
        return word
    stem, dot, ending = word.rpartition(".")
    return f"{stem}_{turn}.{ending}" if dot and stem and "/" not in ending else f"{word}_{turn}"
