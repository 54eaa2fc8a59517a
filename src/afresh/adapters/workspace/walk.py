"""The files of the user's checkout, by one walk without git: what is ignored is not looked into."""

import os
import stat
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from afresh.adapters.workspace.decode import decode_text
from afresh.adapters.workspace.files import MAX_FILE_BYTES, OPEN_READ_FLAGS
from afresh.adapters.workspace.ignores import TOOL_CACHE_PATTERNS
from afresh.adapters.workspace.marks import stamp_from_stat
from afresh.adapters.workspace.rules import IgnoreRules
from afresh.errors import ModelMistake

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
        """ModelMistake for what is no text or lies outside."""
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
    """Regular files that no rule ignores, sorted, each with its mark. A rule is obeyed even for a file that git tracks."""
    now = time.time_ns()
    found: dict[str, str] = {}
    waiting = [("", IgnoreRules((*TOOL_CACHE_PATTERNS, *_read_lines(root / GIT_FOLDER / "info" / "exclude"))))]
    top = f"{root}/"
    while waiting:
        folder, rules = waiting.pop()
        entries = _scan_folder(top + folder)
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
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []  # not ours to look into, or gone since


def _read_lines(file: Path) -> list[str]:
    try:
        return file.read_text("utf-8", "surrogateescape").split("\n") if file.is_file() else []
    except OSError:
        return []


def _refuse_irregular_file(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise ModelMistake(f"{path} is not a regular file")
    if found.st_size > MAX_FILE_BYTES:
        raise ModelMistake(f"{path} has {found.st_size:,} bytes, over the {MAX_FILE_BYTES:,} that can be read")
