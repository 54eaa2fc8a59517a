"""Recorded runs from a file or a folder. The format is recognised by the content of a file, never by its name."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from afresh.errors import BadInput
from afresh.replay.formats import claude_code, codex, mini_swe_agent
from afresh.replay.json_entries import ONLY_READ_NOTE, JsonEntry, read_entries
from afresh.replay.run import RecordedRun, run_from_trajectory, truncate_problems
from afresh.replay.run_builder import to_mapping

MAX_PROBED_ENTRIES = 1_000
"""Entries that may be unknown before a file is refused."""


@dataclass(frozen=True, slots=True)
class RunFormat:
    name: str
    files: str
    knows: Callable[[object], bool]
    read: Callable[[Iterable[JsonEntry], str], Iterator[RecordedRun]]


def is_trajectory(value: object) -> bool:
    """Whether it is a run in the neutral form."""
    mapping = to_mapping(value)
    return isinstance(mapping.get("steps"), list) and "task" in mapping


def read_trajectories(entries: Iterable[JsonEntry], path: str) -> Iterator[RecordedRun]:
    """A run for each entry that is one. What is wrong is named in the run after it, and at the end of the file in the last."""
    recorded_run: RecordedRun | None = None
    problems: list[str] = []
    for entry in entries:
        if entry.problem:
            problems.append(f"{entry.where}: {entry.problem}")
        if is_trajectory(entry.value):
            if recorded_run:
                yield recorded_run
            run = run_from_trajectory(entry.value, path)
            recorded_run, problems = replace(run, problems=truncate_problems([*problems, *run.problems])), []
        elif not entry.problem:
            problems.append(f"{entry.where}: no run, left out")
    if recorded_run:
        yield replace(recorded_run, problems=truncate_problems([*recorded_run.problems, *problems]))


RUN_FORMATS = (
    RunFormat("neutral", ".jsonl with a run a line", is_trajectory, read_trajectories),
    *(RunFormat(module.NAME, module.FILES, module.knows, module.read) for module in (claude_code, codex, mini_swe_agent)),
)
KNOWN_FORMATS_TEXT = ", ".join(f"{form.name} ({form.files})" for form in RUN_FORMATS)


def read_runs(path: str | Path, skipped: list[str] | None = None) -> Iterator[RecordedRun]:
    """Every run with at least one step. Other files are an error if they were named; in a folder `skipped` gets why."""
    place = Path(path)
    if place.is_dir():
        yield from _read_folder(place, [] if skipped is None else skipped)
    elif place.is_file():
        yield from _read_file(place)
    else:
        what = "is neither a file nor a folder" if place.exists() else "does not exist"
        raise BadInput(f"{place} {what}", next="give a file or folder with recorded sessions")


def _read_folder(folder: Path, skipped: list[str]) -> Iterator[RecordedRun]:
    found = False
    for place in _list_files(folder):
        try:
            for run in _read_file(place):
                found = True
                yield run
        except BadInput as fault:
            skipped.append(fault.what)
    if not found:
        tried = f", though {len(skipped):,} files are there" if skipped else ""
        raise BadInput(
            f"{folder} contains no recorded session{tried}", next=f"known formats: {KNOWN_FORMATS_TEXT}", safe=ONLY_READ_NOTE
        )


def _list_files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        yield from (path for name in sorted(names) if (path := Path(place) / name).is_file())


def _read_file(place: Path) -> Iterator[RecordedRun]:
    with closing(read_entries(place)) as json_entries:
        form, held = _recognise_format(json_entries, place)
        acted = False
        for run in form.read(held, str(place)):
            if run.steps:
                acted = True
                yield run
    if not acted:
        raise BadInput(
            f"{place} looks like a session of {form.name}, but contains no readable step",
            next="give another file",
            safe=ONLY_READ_NOTE,
        )


def _recognise_format(json_entries: Iterator[JsonEntry], place: Path) -> tuple[RunFormat, Iterator[JsonEntry]]:
    held: list[JsonEntry] = []
    for entry in json_entries:
        held.append(entry)
        form = next((form for form in RUN_FORMATS if form.knows(entry.value)), None)
        if form:
            return form, chain(held, json_entries)
        if len(held) == MAX_PROBED_ENTRIES:
            break
    wrong = f": {held[0].problem}" if held and held[0].problem else ""
    raise BadInput(
        f"{place} is not a recorded session in a known format{wrong}",
        next=f"known formats: {KNOWN_FORMATS_TEXT}",
        safe=ONLY_READ_NOTE,
    )
