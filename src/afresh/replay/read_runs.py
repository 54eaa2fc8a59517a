"""Recorded runs from a file or a folder. The format is recognised by the content of a file, never by its name."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from afresh.errors import BadInput
from afresh.replay.formats import claude_code, codex, mini_swe_agent, openhands, swe_agent
from afresh.replay.json_entries import ONLY_READ_NOTE, JsonEntry, read_entries
from afresh.replay.run import RecordedRun, run_from_trajectory
from afresh.replay.run_builder import runs_from_entries, to_mapping

MAX_PROBED_ENTRIES = 1_000
"""Entries that may be unknown before a file is refused."""

_EVENT_FILE = re.compile(r"(?:event-)?(\d+)(?:-[0-9a-fA-F-]+)?\.json")


@dataclass(frozen=True, slots=True)
class RunFormat:
    name: str
    files: str
    knows: Callable[[object], bool]
    read: Callable[[Iterable[JsonEntry], str], Iterator[RecordedRun]]


def is_trajectory(value: object) -> bool:
    """Whether it is a run in the neutral form."""
    held = to_mapping(value)
    return isinstance(held.get("steps"), list) and "task" in held


def read_trajectories(entries: Iterable[JsonEntry], path: str) -> Iterator[RecordedRun]:
    return runs_from_entries(entries, is_trajectory, lambda plain, where: run_from_trajectory(plain, path))


RUN_FORMATS = (
    RunFormat("neutral", ".jsonl with a run a line", is_trajectory, read_trajectories),
    *(
        RunFormat(module.NAME, module.FILES, module.knows, module.read)
        for module in (claude_code, codex, swe_agent, openhands, mini_swe_agent)
    ),
)
KNOWN_FORMATS_TEXT = ", ".join(f"{form.name} ({form.files})" for form in RUN_FORMATS)


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file of a folder that gave no run, and why."""

    path: str
    why: str


def read_runs(path: str | Path, skipped: list[SkippedFile] | None = None) -> Iterator[RecordedRun]:
    """Every run with at least one step. Other files are an error if they were named, and skipped in a folder."""
    place = Path(path)
    if place.is_dir():
        yield from _read_folder(place, [] if skipped is None else skipped)
    elif place.is_file():
        yield from _read_file(place)
    else:
        what = "is neither a file nor a folder" if place.exists() else "does not exist"
        raise BadInput(f"{place} {what}", next="give a file or folder with recorded sessions")


def _read_folder(folder: Path, skipped: list[SkippedFile]) -> Iterator[RecordedRun]:
    found = False
    for place, read in _find_readable(folder):
        try:
            for run in read(place):
                found = True
                yield run
        except BadInput as fault:
            skipped.append(SkippedFile(str(place), fault.what.removeprefix(f"{place} ")))
    if not found:
        tried = f", though {len(skipped):,} files are there" if skipped else ""
        raise BadInput(
            f"{folder} contains no recorded session{tried}", next=f"known formats: {KNOWN_FORMATS_TEXT}", safe=ONLY_READ_NOTE
        )


def _find_readable(folder: Path) -> Iterator[tuple[Path, Callable[[Path], Iterator[RecordedRun]]]]:
    """The files in order; a folder of OpenHands' events, a file each, is one thing to read."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        events = _find_event_files(Path(place), names)
        if events:
            yield Path(place), _read_event_folder
        for name in sorted(set(names) - set(events)):
            if (Path(place) / name).is_file() and not _is_state_of_events(Path(place), name):
                yield Path(place) / name, _read_file


def _read_file(place: Path) -> Iterator[RecordedRun]:
    with closing(read_entries(place)) as found:
        yield from _read_entries_as_runs(found, place)


def _read_entries_as_runs(found: Iterator[JsonEntry], place: Path) -> Iterator[RecordedRun]:
    form, held = _recognise_format(found, place)
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


def _recognise_format(found: Iterator[JsonEntry], place: Path) -> tuple[RunFormat, Iterator[JsonEntry]]:
    held: list[JsonEntry] = []
    for entry in found:
        held.append(entry)
        form = next((form for form in RUN_FORMATS if form.knows(entry.value)), None)
        if form:
            return form, chain(held, found)
        if len(held) == MAX_PROBED_ENTRIES:
            break
    raise BadInput(
        f"{place} is not a recorded session in a known format", next=f"known formats: {KNOWN_FORMATS_TEXT}", safe=ONLY_READ_NOTE
    )


def _find_event_files(folder: Path, names: Iterable[str]) -> list[str]:
    """The files with an event each, in their order; none if the first is something else."""
    numbered = sorted((int(match[1]), name) for name in names if (match := _EVENT_FILE.fullmatch(name)))
    if not numbered or not any(openhands.is_event(entry.value) for entry in _read_entries_quietly(folder / numbered[0][1])):
        return []
    return [name for _, name in numbered]


def _read_event_folder(folder: Path) -> Iterator[RecordedRun]:
    names = _find_event_files(folder, os.listdir(folder))
    states = [folder.parent / "base_state.json"] if _is_state_of_events(folder.parent, "base_state.json") else []
    files = [*states, *(folder / name for name in names)]
    yield from _read_entries_as_runs(
        (
            JsonEntry(file.name, entry.value, entry.problem, entry.whole)
            for file in files
            for entry in _read_entries_quietly(file)
        ),
        folder,
    )


def _read_entries_quietly(file: Path) -> Iterator[JsonEntry]:
    """The entries of a file; if it can't be read at all, that is the problem of its only entry."""
    try:
        yield from read_entries(file)
    except BadInput as fault:
        yield JsonEntry(file.name, None, fault.what, whole=False)


def _is_state_of_events(folder: Path, name: str) -> bool:
    return name == "base_state.json" and (folder / "events").is_dir()
