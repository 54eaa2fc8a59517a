"""The copy that is written by itself: what a lost database would take along, as an export has it, appended after every commit.

It is not flushed to the disk: the database is durable itself, and what the copy lacks after a power cut comes from there. A
line counts only as far as its hash chain holds. What the database does not have is never shortened or overwritten.
"""

import json
import os
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import get_native_id
from typing import NamedTuple

from afresh.core.archived_block import Block, find_block_ids
from afresh.core.codec import to_canonical_json
from afresh.core.event import JournalEntry, JournalHead
from afresh.core.hash_chain import hash_entry
from afresh.errors import AfreshError, Damaged
from afresh.storage.export import copy_files
from afresh.storage.export.manifest import NOTEBOOK_FILE, name_blocks_file, name_journal_file
from afresh.storage.export.write_export import render_entry_line
from afresh.storage.sql.call_turns import read_time_since_boot
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.notebook import SqlNotebook

RECENT_ENTRIES = 64
"""A text that one of the last so many entries names is not written again: about eight steps. Later it may be in the file
twice, so that no step has to read the whole file."""
REMEMBERED_TASKS = 16
COMMITS_PER_PASS = 256
TASKS_PER_PASS = 500
"""Most tasks that are caught up with before a commit is done; the next process goes on."""
NOT_ITS_OWN = "has entries that the database does not have"
REPAIR_ADVICE = "`afresh import` brings back what only the copy has; `afresh doctor --rebuild` writes the rest again"

NOTEBOOK = ""
"""In the place of a task's id."""


MARK_FILE = "copied.json"


class CopyMark(NamedTuple):
    """Up to which change of the database the copy is complete, so that a process looks only at what came after. After a start of
    the machine everything is looked at again: it may have lost power."""

    identity: str
    """Of the database."""
    number: int = 0
    boot: str = ""


def read_copy_mark(folder: Path) -> CopyMark | None:
    """None if there is none, or it can't be understood: then everything is looked at."""
    try:
        mark = CopyMark(*json.loads(copy_files.read_lines(folder / MARK_FILE)))
        return mark if mark.number >= 0 else None
    except (ValueError, TypeError):
        return None


def write_copy_mark(folder: Path, identity: str, number: int) -> None:
    """In one move, since readers take no lock."""
    spare = folder / f".{MARK_FILE}.{get_native_id()}"  # threads of a pool share the process
    copy_files.replace_lines(spare, f"{json.dumps(CopyMark(identity, number, read_time_since_boot()[0]))}\n".encode())
    os.replace(spare, folder / MARK_FILE)


class RecentNames:
    """The texts that the last entries name."""

    def __init__(self, entries: Iterable[list[str]] = ()) -> None:
        self._entries, self._counts = deque[list[str]](), Counter[str]()
        for names in entries:
            self.add(names)

    def add(self, names: list[str]) -> None:
        self._entries.append(names)
        self._counts.update(names)
        if len(self._entries) > RECENT_ENTRIES:
            for name in self._entries.popleft():
                self._counts[name] -= 1

    def __contains__(self, name: str) -> bool:
        return self._counts[name] > 0


class JournalCopy:
    def __init__(self, folder: Path, store: SqlJournal, notebook: SqlNotebook, warn: Callable[[str], None]) -> None:
        self.folder, self._store, self._notebook, self._warn = folder, store, notebook, warn
        self._recent = OrderedDict[str, tuple[JournalHead, RecentNames]]()
        self._left_in_pass = 0
        self._warned = False

    def add_entries(self, entries: Sequence[JournalEntry], blocks: Sequence[Block]) -> None:
        """Append what was committed."""
        with self._careful():
            copy_files.make_folders(self.folder)
            last = entries[-1]
            if self._extend(last.task, JournalHead(last.seq, last.hash), entries, {block.id: block.text for block in blocks}):
                self._tell(f"task {last.task} in {self.folder} {NOT_ITS_OWN}: {REPAIR_ADVICE}")
            self._left_in_pass -= 1
            if self._left_in_pass < 0:
                self._left_in_pass = COMMITS_PER_PASS
                self._catch_up()

    def add_notes(self) -> None:
        with self._careful():
            copy_files.make_folders(self.folder)
            if self._extend(NOTEBOOK, self._notebook.head()):
                self._tell(f"the notebook in {self.folder} {NOT_ITS_OWN}: {REPAIR_ADVICE}")

    def list_problems(self) -> list[str]:
        """How the files differ from what the database says. Nothing is changed."""
        return [what for what, _ in self._compare_all()]

    def rebuild(self) -> list[str]:
        """Write again what differs; what the database does not have is left as it is, and returned."""
        copy_files.make_folders(self.folder)
        left = list[str]()
        for what, write in list(self._compare_all()):
            if write is None:
                left.append(what)
            else:
                write()
        copy_files.replace_lines(self.folder / copy_files.ORDER_FILE, self._render_order())
        self._recent.clear()
        if not left:
            last = self._store.read_last_change()
            write_copy_mark(self.folder, last.identity, last.number)
        return left

    def _render_order(self) -> bytes:
        known = self._store.heads()
        others = [task for task in copy_files.read_order(self.folder) if task not in known]
        return "".join(f"{to_canonical_json(task)}\n" for task in [*known, *others]).encode()

    def _compare_all(self) -> Iterator[tuple[str, Callable[[], None] | None]]:
        """What differs, and what writes it again; None: the copy has what the database has not."""
        heads = self._store.heads() | ({NOTEBOOK: notes} if (notes := self._notebook.head()).seq else {})
        for task in copy_files.list_copied_tasks(self.folder):
            if task not in heads:
                yield f"task {task} is in the copy and not in the database", None
        for task in heads:
            entries = list(self._read_entries(task))
            lines, texts = "".join(map(render_entry_line, entries)).encode(), self._render_texts(task, entries)
            path, archive = self.folder / name_lines_file(task), self.folder / name_blocks_file(task)
            found = copy_files.read_lines(path)
            if found == lines and copy_files.has_texts(copy_files.read_lines(archive), texts):
                continue
            own, _ = copy_files.find_chain(found)
            if own.seq > len(entries) or (own.seq and entries[own.seq - 1].hash != own.hash):
                yield f"{path} {NOT_ITS_OWN}", None
                continue
            yield f"{path} is not what the database has", _make_writer(path, lines, archive, texts)

    def _render_texts(self, task: str, entries: Sequence[JournalEntry]) -> bytes:
        kept = copy_files.read_texts(copy_files.read_lines(self.folder / name_blocks_file(task)))
        return self._render_blocks(entries, RecentNames(), kept)

    def _read_entries(self, task: str, after: JournalHead = JournalHead()) -> Iterator[JournalEntry]:
        return self._notebook.entries(after) if task == NOTEBOOK else self._store.journal(task, after)

    def _extend(
        self, task: str, head: JournalHead, entries: Sequence[JournalEntry] = (), texts: Mapping[str, str] | None = None
    ) -> bool:
        """Append what the file lacks. True if it has entries that the database does not have: then it is left alone."""
        path = self.folder / name_lines_file(task)
        with copy_files.open_for_append(path) as file:
            tail, end = copy_files.read_tail(file)
            if tail == head:
                return False
            if not entries or not _follows(tail, entries[0]):
                found = self._find_missing(task, tail, head)
                if found is None:  # its last line may not follow from the others, and then it counts for nothing
                    tail, end = copy_files.find_chain_of_file(file)
                    found = self._find_missing(task, tail, head)
                if found is None:
                    return True
                entries = found
            if tail.seq == 0 and task != NOTEBOOK:
                copy_files.append_lines(self.folder / copy_files.ORDER_FILE, f"{to_canonical_json(task)}\n".encode())
            if task != NOTEBOOK:
                recent = self._recall(task, tail, lambda: copy_files.read_last_lines(file, RECENT_ENTRIES))
                if lines := self._render_blocks(entries, recent, texts or {}):
                    copy_files.append_lines(self.folder / name_blocks_file(task), lines)
                self._remember(task, head, recent)
            copy_files.append_at(file, end, "".join(map(render_entry_line, entries)).encode())
        return False

    def _find_missing(self, task: str, tail: JournalHead, head: JournalHead) -> list[JournalEntry] | None:
        """The entries after the tail; None if the database has other ones up to there, or fewer."""
        if tail.seq > head.seq or (tail.seq == head.seq and tail.hash != head.hash):
            return None
        try:
            found = [entry for entry in self._read_entries(task, tail) if entry.seq > tail.seq]
            if found and _follows(tail, found[0]):
                return found
        except Damaged:
            pass
        past = list(islice(self._read_entries(task), tail.seq))
        return None if past and past[-1].hash != tail.hash else []

    def _render_blocks(self, entries: Sequence[JournalEntry], recent: RecentNames, texts: Mapping[str, str | None]) -> bytes:
        """Lines for the texts that entries name; a text that nobody has is null, so that it is not missed later."""
        lines = list[str]()
        for entry in entries:
            names = find_block_ids(entry.body)
            for name in names:
                if name not in recent:
                    lines.append(f'{{"id":"{name}","text":{to_canonical_json(self._read_text(name, texts))}}}\n')
            recent.add(names)
        return "".join(lines).encode()

    def _read_text(self, name: str, texts: Mapping[str, str | None]) -> str | None:
        try:
            return texts.get(name) or self._store.read(name)
        except (KeyError, Damaged):
            return None

    def _recall(self, task: str, tail: JournalHead, read: Callable[[], list[bytes]]) -> RecentNames:
        head, recent = self._recent.pop(task, (None, RecentNames()))
        if head != tail:
            recent = RecentNames(find_block_ids(line.decode()) for line in read())
        return recent

    def _remember(self, task: str, head: JournalHead, recent: RecentNames) -> None:
        self._recent[task] = (head, recent)
        if len(self._recent) > REMEMBERED_TASKS:
            self._recent.popitem(last=False)

    def _catch_up(self) -> None:
        """Append what processes that were killed, or a power cut, have kept from the copy; at most so many tasks at a time."""
        last, mark = self._store.read_last_change(), read_copy_mark(self.folder)
        if mark and (mark.identity != last.identity or mark.number > last.number):
            mark = None
            if set(copy_files.list_copied_tasks(self.folder)) - self._store.heads().keys():
                return self._tell(f"the database lacks tasks that {self.folder} has: {REPAIR_ADVICE}")
        is_of_this_start = mark and mark.boot == read_time_since_boot()[0]
        changed = self._store.list_changes(mark.number if mark and is_of_this_start else 0, TASKS_PER_PASS)
        heads = {task: head for _, task, head in changed} | {NOTEBOOK: self._notebook.head()}
        if strange := [task or "the notebook" for task, head in heads.items() if self._extend(task, head)]:
            return self._tell(f"{strange[0]} in {self.folder} {NOT_ITS_OWN}: {REPAIR_ADVICE}")
        number = changed[-1][0] if len(changed) == TASKS_PER_PASS else last.number
        if not mark or not is_of_this_start or number != mark.number:
            write_copy_mark(self.folder, last.identity, number)
        return None

    def _tell(self, what: str) -> None:
        if not self._warned:
            self._warned = True
            self._warn(what)

    @contextmanager
    def _careful(self) -> Iterator[None]:
        """The task is safe in the database, whatever happens to the copy."""
        try:
            yield
        except (OSError, AfreshError, ValueError) as fault:
            self._tell(f"the copy in {self.folder} is not up to date: {fault}. Tasks go on; `afresh doctor --rebuild` repairs it")


def name_lines_file(task: str) -> str:
    return NOTEBOOK_FILE if task == NOTEBOOK else name_journal_file(task)


def _follows(tail: JournalHead, entry: JournalEntry) -> bool:
    return entry.seq == tail.seq + 1 and hash_entry(tail.hash, entry.body) == entry.hash


def _make_writer(path: Path, lines: bytes, archive: Path, texts: bytes) -> Callable[[], None]:
    def write() -> None:
        if archive.name != NOTEBOOK_FILE and path.name != NOTEBOOK_FILE:
            copy_files.replace_lines(archive, texts)
        copy_files.replace_lines(path, lines)

    return write
