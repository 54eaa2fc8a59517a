"""The neutral form: JSON lines, a whole run each."""

from collections.abc import Iterable, Iterator

from afresh.replay.json_entries import JsonEntry
from afresh.replay.run import RecordedRun, run_from_trajectory
from afresh.replay.run_builder import runs_from_entries, to_mapping

NAME = "neutral"
FILES = ".jsonl with a run a line"


def knows(value: object) -> bool:
    held = to_mapping(value)
    return isinstance(held.get("steps"), list) and "task" in held


def read(entries: Iterable[JsonEntry], path: str) -> Iterator[RecordedRun]:
    return runs_from_entries(entries, knows, lambda plain, where: run_from_trajectory(plain, path))
