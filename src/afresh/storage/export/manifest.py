"""An export on disk: the names of its files, what they hold, and how they are read without leaving the folder.

queue.json            the tasks in their order, where each journal ends, and so which lines of the other files count
notebook.jsonl        the project's own journal
journals/TASK.jsonl   one entry a line, as it was hashed, with its hash
blocks/TASK.jsonl     the archived texts that the journal names, in the order in which it does
work/TASK.*           what the task has changed so far, as a patch on its base; and its commit, once it has one; of a part also
                      what its parent had changed before it

All files of a task follow from its journal alone, and grow at their end. queue.json is written last: until then the export is
the one before.
"""

import json
import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

from afresh.core.codec import get_decoder, to_canonical_json
from afresh.core.state import State
from afresh.core.task import TaskStatus, check_task_id
from afresh.errors import BadInput, Damaged
from afresh.storage.sql.format import STORE_FORMAT, make_format_error

COPY_FOLDER = "export"
"""The folder in `state` with the automatic copy."""
QUEUE_FILE = "queue.json"
NOTEBOOK_FILE = "notebook.jsonl"
ATTRIBUTES_FILE = ".gitattributes"
EXPORT_FOLDERS = ("journals", "blocks", "work")
NOTHING_CHANGED_NOTE = "nothing was changed"
EXPORT_AGAIN_ADVICE = "take the file from the commit that it was right in, or export again where the tasks are"


@dataclass(frozen=True, slots=True)
class JournalExtent:
    """How far a journal goes in this export."""

    entries: int
    head: str
    blocks: int = 0
    missing: tuple[str, ...] = ()
    """Blocks that it names and that the archive did not have when it was exported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedTaskRow:
    """A task's line in queue.json. What the journal says too is here for people, and must agree with it."""

    id: str
    number: int
    """Its place in the queue."""
    goal: str
    type: str
    status: TaskStatus
    priority: int = 0
    needs: tuple[str, ...] = ()
    journal: JournalExtent
    patch: str = ""
    """SHA-256 of the patch file; empty when no work is exported, or there is none."""
    before: str = ""
    """The same of the patch that leads to the tree that a part began with."""
    commit: str = ""
    """The commit of the task's branch, when its file is here."""


@dataclass(frozen=True, slots=True)
class ExportManifest:
    tasks: tuple[ExportedTaskRow, ...] = ()
    notebook: JournalExtent | None = None
    format: int = STORE_FORMAT


def make_export_error(path: Path, what: str, line: int = 0) -> Damaged:
    """The error for a damaged export, with its place."""
    place = f"{path}:{line}" if line else str(path)
    return Damaged(f"{place}: {what}", next=EXPORT_AGAIN_ADVICE, safe=NOTHING_CHANGED_NOTE)


def name_journal_file(task: str) -> str:
    return f"journals/{task}.jsonl"


def name_blocks_file(task: str) -> str:
    return f"blocks/{task}.jsonl"


def name_work_files(task: str, state: State) -> dict[str, str]:
    """By the field of TaskWork that they hold. Named by what they lead to, so that those of the export before last until
    queue.json is replaced."""
    tree = state.workspace
    ids = {"patch": tree.snapshot, "before": tree.first_snapshot, "commit": tree.commit}
    return {part: f"work/{task}.{name[:12]}.{part}" for part, name in ids.items()}


def render_manifest(manifest: ExportManifest) -> bytes:
    """The manifest as JSON, one task a line."""
    rows = ",\n".join(to_canonical_json(row) for row in sorted(manifest.tasks, key=lambda row: (row.number, row.id)))
    parts = [f'"format":{manifest.format}']
    if manifest.notebook:
        parts.append(f'"notebook":{to_canonical_json(manifest.notebook)}')
    return ("{\n" + ",\n".join([*parts, f'"tasks":[\n{rows}\n]' if rows else '"tasks":[]']) + "\n}\n").encode()


def read_manifest(folder: Path) -> ExportManifest:
    """BadInput if there is no export there; Damaged if it is not valid."""
    refuse_linked_folders(folder)
    if not (folder / QUEUE_FILE).exists() and not (folder / QUEUE_FILE).is_symlink():
        raise BadInput(f"no export found in {folder}", next="`afresh export` makes one", safe=NOTHING_CHANGED_NOTE)
    place = folder / QUEUE_FILE
    try:
        plain = json.loads(read_export_file(folder, QUEUE_FILE))
    except (ValueError, RecursionError) as fault:
        raise make_export_error(place, f"is not JSON: {fault}", getattr(fault, "lineno", 1)) from None
    if not isinstance(plain, dict):
        raise make_export_error(place, "does not describe an export")
    if plain.get("format") != STORE_FORMAT:
        raise make_format_error(place, plain.get("format"))
    manifest = _decode_manifest(place, plain)
    seen: set[str] = set()
    for row in manifest.tasks:
        if why := _find_row_fault(row, seen):
            raise make_export_error(place, f"task {row.id!r}: {why}")
        seen.add(row.id)
    return manifest


def _decode_manifest(place: Path, plain: Mapping[str, Any]) -> ExportManifest:
    try:
        rows = tuple(get_decoder(ExportedTaskRow)(row) for row in plain["tasks"])
        notebook = get_decoder(JournalExtent)(plain["notebook"]) if "notebook" in plain else None
        manifest = ExportManifest(rows, notebook)
        wrong = find_type_mismatch(manifest, ExportManifest)
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise make_export_error(place, f"does not describe an export: {type(fault).__name__} {fault}") from None
    if wrong:
        raise make_export_error(
            place, f"does not describe an export: {wrong.removesuffix('.value')} is of another kind than it should be"
        )
    return manifest


def _find_row_fault(row: ExportedTaskRow, seen: set[str]) -> str:
    try:
        check_task_id(row.id)
    except BadInput:
        return "can't be the id of a task"
    if row.id in seen:
        return "is listed twice"
    return "" if row.number > 0 and row.journal.entries > 0 else "must have a number and entries"


def refuse_linked_folders(folder: Path) -> None:
    """A link could have files read, or written, anywhere."""
    for place in (folder, *(folder / name for name in EXPORT_FOLDERS)):
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise BadInput(
                f"{place} is a link or a file; it must be a folder",
                next="remove it, or choose another",
                safe=NOTHING_CHANGED_NOTE,
            )


def read_export_file(folder: Path, name: str) -> bytes:
    """A file of the export: a real one, not what a link, a pipe or a device leads to."""
    path = folder / name
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise make_export_error(path, f"is missing; {QUEUE_FILE} counts on it") from None
    except OSError as fault:
        raise BadInput(
            f"{path}: can't be read: {fault.strerror}", next="it must be a plain file", safe=NOTHING_CHANGED_NOTE
        ) from None
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise BadInput(f"{path}: is not a plain file", next="remove it", safe=NOTHING_CHANGED_NOTE)
        return file.read()


def find_copy_folder(export_folder: Path) -> Path:
    """The copy of the project whose exports are there."""
    return export_folder.parent / "state" / COPY_FOLDER


def describe_import(folder: Path) -> str:
    """What an import from there and from the copy would restore, for a user who has lost the database; empty if nothing."""
    copy, tasks = find_copy_folder(folder), set[str]()
    with suppress(BadInput, Damaged):
        tasks.update(row.id for row in read_manifest(folder).tasks)
    places, copied = [str(folder)] if tasks else [], {path.stem for path in (copy / "journals").glob("*.jsonl")}
    places += [str(copy)] if copied else []
    count = len(tasks | copied)
    return f"`afresh import` brings back {count} task{'s' if count > 1 else ''} from {' and '.join(places)}" if count else ""


MAX_STORED_INTEGER = 1 << 63
"""No number beyond that can be stored."""
ATOM_TESTS: dict[Any, Callable[[Any], bool]] = {
    str: lambda value: type(value) is str,
    bool: lambda value: type(value) is bool,
    int: lambda value: type(value) is int and -MAX_STORED_INTEGER <= value < MAX_STORED_INTEGER,
    float: lambda value: type(value) in (float, int),
    type(None): lambda value: value is None,
}


def find_type_mismatch(value: Any, kind: Any) -> str:
    """Where a value is not of its type: the fields that lead to it, then `value`; empty when it is."""
    if kind in ATOM_TESTS:
        return "" if ATOM_TESTS[kind](value) else "value"
    if is_dataclass(kind):
        if not isinstance(value, cast(type, kind)):
            return "value"
        found = ((name, find_type_mismatch(getattr(value, name), hint)) for name, hint in _list_fields(kind))
        return next((f"{name}.{wrong}" for name, wrong in found if wrong), "")
    origin, kinds = _split_type(kind)
    if origin is tuple:
        return _find_tuple_mismatch(value, kinds)
    if origin in (UnionType, Union):
        return "value" if all(find_type_mismatch(value, raw_value) for raw_value in kinds) else ""
    return "" if _is_member(value, origin or kind) else "value"


def _find_tuple_mismatch(value: Any, kinds: tuple[Any, ...]) -> str:
    if not isinstance(value, tuple):
        return "value"
    members = cast(tuple[Any, ...], value)
    wanted = (kinds[0],) * len(members) if kinds[1:] == (Ellipsis,) else kinds
    return next(filter(None, map(find_type_mismatch, members, wanted)), "") if len(members) == len(wanted) else "value"


def _is_member(value: Any, kind: Any) -> bool:
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return isinstance(value, Mapping) and all(isinstance(key, str) for key in cast(Mapping[Any, Any], value))
    return not (isinstance(kind, type) and issubclass(kind, Enum)) or isinstance(value, kind)


@cache
def _list_fields(kind: Any) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(kind)
    return tuple((field.name, hints[field.name]) for field in fields(kind))


@cache
def _split_type(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(kind), get_args(kind)
