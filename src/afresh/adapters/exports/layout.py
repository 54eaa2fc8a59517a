"""An export on disk: what its files are called, what stands in them, and how they are read without leaving the folder.

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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afresh.adapters.workspace.repository import checked_task
from afresh.domain.codec import decoder, dumps
from afresh.domain.conform import misfit
from afresh.domain.task import Status
from afresh.errors import BadInput, Damaged

FORMAT = 1
QUEUE = "queue.json"
NOTEBOOK = "notebook.jsonl"
ATTRIBUTES = ".gitattributes"
FOLDERS = ("journals", "blocks", "work")
UNCHANGED = "nothing was changed"
AGAIN = "take the file from the commit that it was right in, or export again where the tasks are"


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a journal goes in this export."""

    entries: int
    head: str
    blocks: int = 0
    missing: tuple[str, ...] = ()
    """Blocks that it names and that the archive did not have when it was exported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A task's line in queue.json. What the journal says too is here for people, and must agree with it."""

    id: str
    number: int
    """Its place in the queue."""
    goal: str
    type: str
    status: Status
    priority: int = 0
    needs: tuple[str, ...] = ()
    journal: Extent
    patch: str = ""
    """SHA-256 of the patch file; empty when no work is exported, or there is none."""
    before: str = ""
    """The same of the patch that leads to the tree that a part began with."""
    commit: str = ""
    """The commit of the task's branch, when its file is here."""


@dataclass(frozen=True, slots=True)
class Manifest:
    tasks: tuple[Row, ...] = ()
    notebook: Extent | None = None
    format: int = FORMAT


def journal_file(task: str) -> str:
    return f"journals/{task}.jsonl"


def blocks_file(task: str) -> str:
    return f"blocks/{task}.jsonl"


def patch_file(task: str, snapshot: str) -> str:
    """Named by what it leads to, so that the one of the export before lasts until queue.json is replaced."""
    return f"work/{task}.{snapshot[:12]}.patch"


def before_file(task: str, opened: str) -> str:
    """Of a part: it begins with no commit, but with what its parent had changed by then."""
    return f"work/{task}.{opened[:12]}.before"


def commit_file(task: str, commit: str) -> str:
    return f"work/{task}.{commit[:12]}.commit"


def rendered(manifest: Manifest) -> bytes:
    """One task a line."""
    rows = ",\n".join(dumps(row) for row in sorted(manifest.tasks, key=lambda row: (row.number, row.id)))
    parts = [f'"format":{manifest.format}']
    if manifest.notebook:
        parts.append(f'"notebook":{dumps(manifest.notebook)}')
    return ("{\n" + ",\n".join([*parts, f'"tasks":[\n{rows}\n]' if rows else '"tasks":[]']) + "\n}\n").encode()


def read_manifest(folder: Path) -> Manifest:
    """BadInput if there is no export there; Damaged if it can't be believed."""
    refuse_links(folder)
    if not (folder / QUEUE).exists() and not (folder / QUEUE).is_symlink():
        raise BadInput(f"there is no export in {folder}", next="`afresh export` makes one", safe=UNCHANGED)
    try:
        plain = json.loads(read(folder, QUEUE))
    except (ValueError, RecursionError) as fault:
        line = getattr(fault, "lineno", 1)
        raise Damaged(f"{folder / QUEUE}:{line}: is not JSON: {fault}", next=AGAIN, safe=UNCHANGED) from None
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        found = plain.get("format") if isinstance(plain, dict) else "none"
        raise Damaged(
            f"{folder / QUEUE}: format {found!r}, this afresh reads {FORMAT}",
            next="update afresh, or export again with this version",
            safe=UNCHANGED,
        )
    return _manifest(folder, plain)


def _manifest(folder: Path, plain: Mapping[str, Any]) -> Manifest:
    try:
        rows = tuple(decoder(Row)(row) for row in plain["tasks"])
        notebook = decoder(Extent)(plain["notebook"]) if "notebook" in plain else None
        misfits = [misfit(row, Row) for row in rows] + [misfit(notebook, Extent) if notebook else ""]
        wrong = next(filter(None, misfits), "")
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        wrong, rows, notebook = f"{type(fault).__name__} {fault}", (), None
    if wrong:
        raise Damaged(f"{folder / QUEUE}: does not describe an export: {wrong}", next=AGAIN, safe=UNCHANGED)
    seen: set[str] = set()
    for row in rows:
        if why := _unfit(row, seen):
            raise Damaged(f"{folder / QUEUE}: task {row.id!r}: {why}", next=AGAIN, safe=UNCHANGED)
        seen.add(row.id)
    return Manifest(rows, notebook)


def _unfit(row: Row, seen: set[str]) -> str:
    try:
        checked_task(row.id)
    except BadInput:
        return "can't be the id of a task"
    if row.id in seen:
        return "is listed twice"
    return "" if row.number > 0 and row.journal.entries > 0 else "must have a number and entries"


def refuse_links(folder: Path) -> None:
    """A link could have files read, or written, anywhere."""
    for place in (folder, *(folder / name for name in FOLDERS)):
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise BadInput(f"{place} is a link or a file; it must be a folder", next="remove it, or name another", safe=UNCHANGED)


def read(folder: Path, name: str) -> bytes:
    """A file of the export: a real one, not what a link, a pipe or a device leads to."""
    path = folder / name
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise Damaged(f"{path}: is missing; {QUEUE} counts on it", next=AGAIN, safe=UNCHANGED) from None
    except OSError as fault:
        raise BadInput(f"{path}: can't be read: {fault.strerror}", next="it must be a plain file", safe=UNCHANGED) from None
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise BadInput(f"{path}: is not a plain file", next="remove it", safe=UNCHANGED)
        return file.read()


def promise(folder: Path) -> str:
    """What an import from there would bring back, for whoever has lost the database; empty when there is nothing."""
    try:
        count = len(read_manifest(folder).tasks)
    except (BadInput, Damaged):
        return ""
    return f"`afresh import` brings back {count} task{'s' if count > 1 else ''} from {folder}" if count else ""
