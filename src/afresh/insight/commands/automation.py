"""Lines that a server would run, from files of YAML, line by line: a parser would recurse as deep as a hostile file is nested."""

import re
from collections.abc import Iterator, Sequence

COMMAND_KEY = re.compile(r"^( *)(- +)?(run|script|command|bash|working-directory|workingDirectory)\s*:(?:\s+(.*?))?\s*$")
BLOCK_SCALAR = re.compile(r"[|>][+-]?\d?(?:\s+#.*)?")
LIST_ITEM = re.compile(r"^( *)- +(.*?)\s*$")
MAX_COMMAND_LINES = 400
"""Lines of commands of one file."""
LineInFolder = tuple[str, str]
"""A line, and the folder that it is run in."""


def read_ci_lines(path: str, text: str) -> Sequence[LineInFolder]:
    """Lines of a shell script, or of the steps of a file of YAML."""
    if not path.endswith((".yml", ".yaml")):
        return [(line, "") for line in join_continued_lines(text.split("\n"))][:MAX_COMMAND_LINES]
    return list(_read_yaml_steps(text.split("\n")))[:MAX_COMMAND_LINES]


def join_continued_lines(lines: Sequence[str]) -> list[str]:
    """Lines without those that go on behind a backslash, comments and blanks."""
    found, held = list[str](), ""
    for line in lines:
        if line.rstrip().endswith("\\"):
            held += line.strip().removesuffix("\\") + " "
            continue
        whole, held = (held + line.strip()).strip(), ""
        if whole and not whole.startswith("#"):
            found.append(whole)
    return found


def _read_yaml_steps(lines: Sequence[str]) -> Iterator[LineInFolder]:
    folders = {_find_step_start(lines, at): match[4] or "" for at, match in _find_keys(lines) if match[3].startswith("working")}
    for at, match in _find_keys(lines):
        if not match[3].startswith("working"):
            column = len(match[1]) + len(match[2] or "")
            for line in join_continued_lines(_read_key_value(lines, at, column, match[4] or "")):
                yield line, strip_quotes(folders.get(_find_step_start(lines, at), ""))


def _find_keys(lines: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
    return ((at, match) for at, line in enumerate(lines) if (match := COMMAND_KEY.match(line)))


def _find_step_start(lines: Sequence[str], at: int) -> int:
    """Where the item of the list begins that this key belongs to."""
    match = COMMAND_KEY.match(lines[at])
    column = len(match[1]) + len(match[2] or "") if match else 0
    for before in range(at, -1, -1):
        item = LIST_ITEM.match(lines[before])
        if item and len(item[1]) < column:
            return before
        if lines[before].strip() and len(lines[before]) - len(lines[before].lstrip()) < column - 2:
            return at
    return at


def _read_key_value(lines: Sequence[str], at: int, column: int, said: str) -> list[str]:
    if said and not BLOCK_SCALAR.fullmatch(said):
        return [strip_quotes(said)]
    below = list[str]()
    for line in lines[at + 1 :]:
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent <= column and not (not said and indent == column and line.lstrip().startswith("- ")):
            break
        below.append(line)
    if said.startswith(">"):
        return [" ".join(line.strip() for line in below)]
    return below if said else [strip_quotes(match[2]) for line in below if (match := LIST_ITEM.match(line))]


def strip_quotes(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
