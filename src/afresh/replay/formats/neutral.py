"""The neutral form: JSON lines, a whole run each."""

from collections.abc import Iterable, Iterator

from afresh.replay.content import mapping
from afresh.replay.entries import Entry
from afresh.replay.run import Run, from_trajectory
from afresh.replay.whole import run_each

NAME = "neutral"
FILES = ".jsonl with a run a line"


def knows(value: object) -> bool:
    held = mapping(value)
    return isinstance(held.get("steps"), list) and "task" in held


def read(entries: Iterable[Entry], path: str) -> Iterator[Run]:
    return run_each(entries, knows, lambda plain, where: from_trajectory(plain, path))
