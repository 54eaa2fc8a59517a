"""What a text names: words that are written like names of code, files and folders. Every reader of a goal asks here."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import PurePosixPath

DOTTED_NAME = re.compile(r"(?<![\w./-])[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*")
COMPOUND_NAME = re.compile(r"[_\d]|[a-z][A-Z]|[A-Z]{2}[a-z]")
PATH_WORD = re.compile(r"(?<![\w./\\-])[\w./\\-]*\w/?")
PATH_AND_LINE = re.compile(r"(?<![\w./-])([\w./-]+\.\w+):(\d+)")
BEFORE_FOLDER = re.compile(r"\b(?:of|in|under|folder|directory|package)\s+\W?$", re.IGNORECASE)
"""Words that lead to a folder: of mako, the package `mako`."""
BEFORE_CAPITAL = re.compile(r"[\w,;)`'\"]\s+$")
"""A capital after this does not begin a sentence."""
LOOK_BEHIND = 24
CODE_BLOCK = re.compile(r"^```.*?^```|^~~~.*?^~~~|(?<=\n\n)(?:(?: {4}|\t)[^\n]*(?:\n+|\Z))+", re.MULTILINE | re.DOTALL)
CODE_SIGN = re.compile(r"```|~~~|>>>|[=(){};]")
"""A fenced block, or indented lines after a blank one; and what shows that these are code."""


class NameForm(IntEnum):
    """How a word is written, which shows how surely it is a name: plain, capitalised, quoted, or like code."""

    PLAIN = 0
    CAPITAL = 1
    QUOTED = 2
    CODE = 3


@dataclass(frozen=True, slots=True)
class NamedWord:
    name: str
    """The name; `::` of the text is written as a dot."""
    form: NameForm
    marked: bool
    """Whether it is in backticks or is called."""
    start: int
    end: int


def find_names(text: str) -> list[NamedWord]:
    """Return every word of a text that could be a name, in its order."""
    return [_read_name(text, match) for match in DOTTED_NAME.finditer(text)]


def _read_name(text: str, match: re.Match[str]) -> NamedWord:
    name, (start, end) = match[0].replace("::", "."), match.span()
    before, after = text[max(0, start - LOOK_BEHIND) : start], text[end : end + 1]
    quote = before[-1:] if after and after == before[-1:] else ""
    called = after == "(" and not text.startswith("(s)", end)
    form = NameForm.PLAIN
    if name.startswith("__") and name.endswith("__"):  # every module and class has one
        pass
    elif called or quote == "`" or "." in name or COMPOUND_NAME.search(name):
        form = NameForm.CODE
    elif quote in ("'", '"') and not name.islower():  # a lower-case word in quotes is a value
        form = NameForm.QUOTED
    elif name[0].isupper() and BEFORE_CAPITAL.search(before):
        form = NameForm.CAPITAL
    return NamedWord(name, form, called or quote == "`", start, end)


def remove_code_blocks(text: str) -> str:
    """Return a text without its examples: what they call is used by the task, but seldom what it is about."""
    return CODE_BLOCK.sub(lambda match: "\n" if CODE_SIGN.search(match[0]) else match[0], text)


def remove_code_names(text: str) -> str:
    """Return a text without what is written like code: names are looked up as names, and their parts are no words of the text."""
    prose = remove_code_blocks(text)
    return DOTTED_NAME.sub(lambda match: " " if _read_name(prose, match).form is NameForm.CODE else match[0], prose)


def match_file_names(text: str, files: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the files whose path is, or ends with, a word of the text, for each such word."""
    ends = index_path_ends(tuple(files))
    words = (match[0].replace("\\", "/").removeprefix("./") for match in PATH_WORD.finditer(text))
    return {word: ends[word.lower()] for word in dict.fromkeys(words) if word.lower() in ends}


@lru_cache(maxsize=4)
def index_path_ends(files: tuple[str, ...]) -> Mapping[str, Sequence[str]]:
    """Return the files for each trailing part of their paths, in lower case."""
    path_ends: dict[str, list[str]] = {}
    for path in files:
        parts = path.lower().split("/")
        for start in range(len(parts)):
            path_ends.setdefault("/".join(parts[start:]), []).append(path)
    return path_ends


def find_named_files(text: str, files: Sequence[str]) -> list[str]:
    """Return the files that a text names, by path or by a unique end of it."""
    file_names = match_file_names(text, files)
    named = {path for word, paths in file_names.items() for path in paths if len(paths) == 1 or path == word}
    return sorted(named)


def find_named_paths(text: str, paths: Sequence[str]) -> list[str]:
    """Return the files and folders that a text names, files by any end of their path. A folder without a slash counts where the
    words lead to one.
    """
    folders = list_folders(paths)
    found = dict.fromkeys(path for same in match_file_names(text, paths).values() for path in same)
    for match in PATH_WORD.finditer(text):
        word = match[0].removeprefix("./")
        if word.rstrip("/") in folders and ("/" in word or BEFORE_FOLDER.search(text[: match.start()][-LOOK_BEHIND:])):
            found[word.rstrip("/")] = None
    return list(found)


def list_folders(paths: Sequence[str]) -> set[str]:
    innermost = {PurePosixPath(path).parent for path in paths}
    return {str(folder) for path in innermost for folder in (path, *path.parents)} - {"."}
