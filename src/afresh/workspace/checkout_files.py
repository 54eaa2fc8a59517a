"""The files of the user's checkout, listed without git and without ignored ones; and a scratch copy to try things in."""

import codecs
import contextlib
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from afresh.errors import BadInput, ModelMistake
from afresh.workspace.confined_path import is_readable_path
from afresh.workspace.disk_files import has_link_on_path, remove_tree
from afresh.workspace.environment_files import copy_import_files, find_import_files, list_wanted_files
from afresh.workspace.files import MAX_FILE_BYTES, OPEN_READ_FLAGS, stamp_from_stat
from afresh.workspace.ignore_rules import TOOL_CACHE_PATTERNS, IgnoreRules
from afresh.workspace.repository import Repository
from afresh.workspace.worktree_location import make_worktrees_folder

BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
         (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))  # fmt: skip
"""Byte order marks and their encodings; of those that begin alike the longer comes first."""
CODING_LINE_PATTERN = re.compile(rb"\A(?:[^\n]*\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*([-\w.]+)")


def decode_text(path: str, data: bytes) -> str:
    """The text, by its byte order mark, as UTF-8, by its coding line, or as cp1252. ModelMistake for a binary file."""
    text = _try_encodings(data)
    if text is None:
        raise ModelMistake(f"{path} is a binary file of {len(data):,} bytes")
    return text.replace("\r\n", "\n") if "\r\n" in text else text


def _try_encodings(data: bytes) -> str | None:
    text = next((name for first, name in BYTE_ORDER_MARKS if data.startswith(first)), "")
    for encoding in (text, "utf-8" if b"\0" not in data else "", _find_declared_encoding(data), "cp1252", "latin-1"):
        try:
            if encoding and (encoding == text or b"\0" not in data):
                return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return None


def _find_declared_encoding(data: bytes) -> str:
    """The encoding that a coding line names, if it is one of text."""
    match = CODING_LINE_PATTERN.match(data[:400])
    name = match[1].decode() if match else ""
    try:
        return name if name and codecs.lookup(name)._is_text_encoding else ""  # pyright: ignore[reportAttributeAccessIssue]
    except LookupError:
        return ""


GIT_FOLDER = ".git"
AFRESH_FOLDERS = (".afresh/state/", ".afresh/export/")


@dataclass(frozen=True, slots=True)
class CheckoutFiles:
    """The port `Files`, to be read only."""

    root: Path

    def paths(self) -> Sequence[str]:
        return tuple(self.stamps())

    def stamps(self) -> Mapping[str, str]:
        return list_checkout_files(self.root)

    def read(self, path: str) -> str:
        """The text of a file. ModelMistake if it is binary or outside the checkout."""
        if path.startswith("/") or ".." in path.split("/"):
            raise ModelMistake(f"{path} leads out of the checkout")
        try:
            handle = os.open(os.path.join(self.root, path), OPEN_READ_FLAGS)
        except FileNotFoundError:
            raise ModelMistake(f"no such file: {path!r}") from None
        except OSError as error:
            raise ModelMistake(f"{path} can't be opened: {error.strerror}") from error
        with os.fdopen(handle, "rb") as file:
            _refuse_irregular_file(path, os.fstat(handle))
            return decode_text(path, file.read())

    def write(self, path: str, text: str) -> None:
        raise ModelMistake(f"{path} belongs to the user's own checkout, which is not written to")


def list_checkout_files(root: Path) -> dict[str, str]:
    """Regular files that no rule ignores and whose paths are readable, sorted, each with its mark. A rule is obeyed even for a
    file that git tracks."""
    now = time.time_ns()
    found: dict[str, str] = {}
    waiting = [("", IgnoreRules((*TOOL_CACHE_PATTERNS, *_read_lines(root / GIT_FOLDER / "info" / "exclude"))))]
    top = f"{root}/"
    while waiting:
        folder, rules = waiting.pop()
        entries = [entry for entry in _scan_folder(top + folder) if is_readable_path(folder + entry.name)]
        names = {entry.name for entry in entries}
        if folder and GIT_FOLDER in names:
            continue  # another repository
        if ".gitignore" in names:
            rules = rules.below(folder, "\n".join(_read_lines(Path(top + folder, ".gitignore"))))
        ignore = rules.ignore
        for entry in entries:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                if name != GIT_FOLDER and not ignore(folder, name, True) and f"{folder}{name}/" not in AFRESH_FOLDERS:
                    waiting.append((f"{folder}{name}/", rules))
            elif not ignore(folder, name, False) and (its := _stamp_entry(entry, now)):
                found[folder + name] = its
    return {path: found[path] for path in sorted(found)}


def _stamp_entry(entry: os.DirEntry[str], now: int) -> str:
    try:
        known = entry.stat(follow_symlinks=False)
    except OSError:
        return ""  # gone since
    return stamp_from_stat(known, now) if stat.S_ISREG(known.st_mode) else ""


def _scan_folder(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as scandir_iterator:
            return list(scandir_iterator)
    except OSError:
        return []  # not ours to look into, or gone since


def _read_lines(file: Path) -> list[str]:
    try:
        return file.read_text("utf-8", "surrogateescape").split("\n") if file.is_file() else []
    except OSError:
        return []


def _refuse_irregular_file(path: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ModelMistake(f"{path} is not a regular file")
    if status.st_size > MAX_FILE_BYTES:
        raise ModelMistake(f"{path} has {status.st_size:,} bytes, over the {MAX_FILE_BYTES:,} that can be read")


MAX_CHECKOUT_BYTES = 1 << 30


@contextlib.contextmanager
def make_scratch_copy(repository: Repository, names: Sequence[str], wanted: Sequence[str] = ()) -> Iterator[Path]:
    """A folder with copies of these files, and of ignored ones that imports need or that are wanted. BadInput if they are too
    large."""
    folder = Path(mkdtemp(prefix="trial-", dir=make_worktrees_folder(repository)))
    try:
        named = [name for name in names if not has_link_on_path(repository.root, name)]
        _refuse_large(repository.root, named)
        for name in named:
            _copy_file(repository.root / name, folder / name)
        needed = (*find_import_files(repository), *list_wanted_files(repository, wanted))
        copy_import_files(repository.root, folder, tuple(dict.fromkeys(needed)))
        yield folder
    finally:
        remove_tree(folder)


def _refuse_large(root: Path, names: list[str]) -> None:
    size = sum((root / name).lstat().st_size for name in names if os.path.lexists(root / name))
    if size > MAX_CHECKOUT_BYTES:
        raise BadInput(f"the checkout has {size >> 20:,} MB, too much for a copy to try things in", next="pass --check yourself")


def _copy_file(source: Path, target: Path) -> None:
    if source.is_symlink() or source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
