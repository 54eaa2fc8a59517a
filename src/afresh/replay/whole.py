"""Files in which each entry is a whole run."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from afresh.replay.entries import JsonEntry
from afresh.replay.run import RecordedRun, truncate_problems


def runs_from_entries(
    entries: Iterable[JsonEntry], knows: Callable[[object], bool], make: Callable[[Any, str], RecordedRun]
) -> Iterator[RecordedRun]:
    """A run for each entry that is one. What is wrong is named in the run after it, and at the end of the file in the last."""
    held: RecordedRun | None = None
    problems: list[str] = []
    for entry in entries:
        if entry.problem:
            problems.append(f"{entry.where}: {entry.problem}")
        if knows(entry.value):
            if held:
                yield held
            run = make(entry.value, entry.where)
            held, problems = replace(run, problems=truncate_problems([*problems, *run.problems])), []
        elif not entry.problem:
            problems.append(f"{entry.where}: no run, left out")
    if held:
        yield replace(held, problems=truncate_problems([*held.problems, *problems]))
