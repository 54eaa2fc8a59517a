"""The folder of lessons. People edit these files too: in an existing file only counters and the fields that a command sets are
written, and only if the file has not changed since it was read."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from afresh.config.yaml_reader import FileFault, split_front_matter
from afresh.core.lesson import Lesson, LessonStatus, is_untouched_draft
from afresh.errors import BadInput
from afresh.storage.lessons.lesson_file import (
    MAX_LESSON_BYTES,
    ParsedLesson,
    parse_lesson,
    render_lesson_file,
    set_front_matter_fields,
    to_yaml_scalar,
)
from afresh.workspace.disk_files import refuse_symlinks, replace_file

APPROVED_FOLDER = "approved"
DRAFTS_FOLDER = "drafts"
STATUS_OF_FOLDER = {APPROVED_FOLDER: LessonStatus.APPROVED, DRAFTS_FOLDER: LessonStatus.DRAFT}
NO_FILE_CHANGED = "no file was changed"
FileStamp = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LessonFile:
    """A file, when it was last changed, and what it says."""

    path: Path
    stamp: FileStamp
    read: ParsedLesson


class LessonFolder:
    """`<repository>/.afresh/knowledge`, or the user's patterns: files whose names begin with `mark`. It need not exist. What was
    read is read again only when it has changed."""

    def __init__(self, root: Path, mark: str = "KO-") -> None:
        self.root, self._mark = root, mark
        self._held: dict[Path, LessonFile] = {}

    def held(self) -> list[LessonFile]:
        """Every file, approved ones first. Of two with the same id the first is used; the other gets a fault."""
        lesson_files = {path: self._look(path, status, stamp) for path, status, stamp in self._files()}
        self._held, ids = lesson_files, dict[str, str]()
        return [mark_duplicate_id(lesson_file, ids) for lesson_file in lesson_files.values()]

    def objects(self) -> dict[str, Lesson]:
        return {knowledge.id: knowledge for lesson_file in self.held() if (knowledge := lesson_file.read.knowledge)}

    def place(self, id: str) -> LessonFile:
        """The file of an object. BadInput when there is none."""
        lesson_files = [
            lesson_file for lesson_file in self.held() if lesson_file.read.knowledge and lesson_file.read.knowledge.id == id
        ]
        if not lesson_files:
            raise BadInput(f"no such lesson: {id!r}", next="afresh knowledge list lists them")
        return lesson_files[0]

    def add(self, lesson: Lesson) -> Path | None:
        """A new file among the drafts, which git does not show until a person approves it. None when there is one under this id,
        be it one that can't be read: none is ever replaced."""
        if any(path.name.startswith((f"{lesson.id}-", f"{lesson.id}.")) for path, _, _ in self._files()):
            return None
        folder = self.root / DRAFTS_FOLDER
        refuse_symlinks(self.root, folder)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / ".gitignore").exists():
            replace_file(folder / ".gitignore", b"*\n")
        path = folder / f"{lesson.id}-{make_slug(lesson.title)}.md"
        replace_file(path, render_lesson_file(lesson).encode())
        return path

    def replace_untouched_draft(self, lesson: Lesson) -> Path | None:
        """The file of an unfinished task's draft with what is known now. None when a person has edited or judged it."""
        lesson_file = self.place(lesson.id)
        if not lesson_file.read.knowledge or not is_untouched_draft(lesson_file.read.knowledge):
            return None
        refuse_symlinks(self.root, lesson_file.path.parent)
        os.unlink(lesson_file.path)
        return self.add(lesson)

    def count(self, id: str, change: Callable[[Lesson], Mapping[str, Any]]) -> bool:
        """Set counters by what the file says now. False when it can't be done without touching anything else."""
        try:
            self.set(id, change)
        except BadInput:
            return False
        return True

    def set(self, id: str, change: Callable[[Lesson], Mapping[str, Any]], begin: bool = False) -> LessonFile:
        """Set lines of the front matter; all other bytes stay. `begin`: where there is none, it is put before the text. BadInput
        when the file changes meanwhile, or can't be set in this way."""
        lesson_file = self.place(id)
        refuse_symlinks(self.root, lesson_file.path.parent)
        data = read_file_bytes(lesson_file.path)
        before = parse_lesson(data, lesson_file.read.file, STATUS_OF_FOLDER[lesson_file.path.parent.name]).knowledge
        if before is None or before.id != id:
            raise BadInput(f"{lesson_file.path} is being changed by another process", next="try again", safe=NO_FILE_CHANGED)
        values = change(before)
        text = data.decode("utf-8")
        whole = f"---\n---\n{text}" if begin and split_front_matter(text) is None else text
        after = set_front_matter_fields(whole, {name: to_yaml_scalar(value) for name, value in values.items()}).encode()
        if parse_lesson(after, lesson_file.read.file, STATUS_OF_FOLDER[lesson_file.path.parent.name]).knowledge != replace(
            before, **values
        ):
            raise BadInput(
                f"{lesson_file.path} has front matter that can't be set line by line",
                next=(
                    f"write `{'`, `'.join(f'{name}: {to_yaml_scalar(value)}' for name, value in values.items())}` into it by hand"
                ),
                safe=NO_FILE_CHANGED,
            )
        if read_file_bytes(lesson_file.path) != data:
            raise BadInput(f"{lesson_file.path} was changed just now", next="try again", safe=NO_FILE_CHANGED)
        replace_file(lesson_file.path, after)
        return lesson_file

    def move(self, lesson_file: LessonFile, folder: str) -> Path:
        """Move a file to `approved` or `drafts`, under its own name."""
        target = self.root / folder / lesson_file.path.name
        if lesson_file.path == target:
            return target
        refuse_symlinks(self.root, target.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() or target.is_symlink():
            raise BadInput(f"{target} is in the way of {lesson_file.path}", next="rename one of them", safe="no file was changed")
        os.rename(lesson_file.path, target)
        return target

    def _files(self) -> Iterator[tuple[Path, LessonStatus, FileStamp]]:
        for name, status in STATUS_OF_FOLDER.items():
            folder = self.root / name
            if self.root.is_symlink() or folder.is_symlink() or not folder.is_dir():
                continue
            with os.scandir(folder) as entries:
                named = sorted(
                    entry.name for entry in entries if entry.name.startswith(self._mark) and entry.name.endswith(".md")
                )
            for path in (folder / one for one in named):
                with ignore_missing_file():
                    seen = path.lstat()
                    yield path, status, (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino)

    def _look(self, path: Path, status: LessonStatus, stamp: FileStamp) -> LessonFile:
        known, file = self._held.get(path), f"{path.parent.name}/{path.name}"
        if known and known.stamp == stamp:
            return known
        if path.is_symlink():
            return LessonFile(path, stamp, ParsedLesson(file, None, (FileFault(file, 1, "", "is a link, and not followed"),)))
        try:
            return LessonFile(path, stamp, parse_lesson(read_file_bytes(path), file, status))
        except OSError as fault:
            return LessonFile(path, (), ParsedLesson(file, None, (FileFault(file, 1, "", f"can't be read: {fault.strerror}"),)))


@contextmanager
def ignore_missing_file() -> Iterator[None]:
    """A file that somebody removes while we look is not there."""
    try:
        yield
    except FileNotFoundError:
        return


def mark_duplicate_id(lesson_file: LessonFile, ids: dict[str, str]) -> LessonFile:
    knowledge = lesson_file.read.knowledge
    if knowledge is None or ids.setdefault(knowledge.id, lesson_file.read.file) == lesson_file.read.file:
        return lesson_file
    fault = FileFault(lesson_file.read.file, 1, "", f"has the id {knowledge.id} of {ids[knowledge.id]}, so it is not used")
    return replace(lesson_file, read=replace(lesson_file.read, knowledge=None, notes=(*lesson_file.read.notes, fault)))


def make_slug(title: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))[:40].strip("-") or "note"


def read_file_bytes(path: Path) -> bytes:
    """The beginning of a file, up to one byte over the limit; links are not followed."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
        return file.read(MAX_LESSON_BYTES + 1)
