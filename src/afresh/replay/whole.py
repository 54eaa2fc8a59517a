"""Files in which each entry is a whole run."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from afresh.replay.entries import Entry
from afresh.replay.run import Run, told


def run_each(entries: Iterable[Entry], knows: Callable[[object], bool], make: Callable[[Any, str], Run]) -> Iterator[Run]:
    """A run for each entry that is one. What is wrong is named in the run after it, and at the end of the file in the last."""
    held: Run | None = None
    problems: list[str] = []
    for entry in entries:
        if entry.problem:
            problems.append(f"{entry.where}: {entry.problem}")
        if knows(entry.value):
            if held:
                yield held
            run = make(entry.value, entry.where)
            held, problems = replace(run, problems=told([*problems, *run.problems])), []
        elif not entry.problem:
            problems.append(f"{entry.where}: no run, left out")
    if held:
        yield replace(held, problems=told([*held.problems, *problems]))
