"""Parts of a file as a prompt shows them: never a body without the line that names it."""

import ast
import re
from collections.abc import Container, Iterator, Sequence
from itertools import pairwise

from afresh.core.context_item import LEFT_OUT_MARK, Excerpt, SourceLine

MIN_CHUNK_LINES = 10
SPLITTABLE_CHUNK_LINES = 40
"""A longer part is split at its definitions, and where it has none at a blank line."""
MAX_CHUNK_LINES = 70
MAX_DEFINITION_LINES = 80
"""A definition that is no longer stays whole."""
MAX_TITLE_NAMES = 4
TITLE_DEFINITION = re.compile(r"\s*(?:async\s+def|def|class|func|function|fn)\s+(\w+)|([A-Za-z_]\w*)\s*(?::[^=]+)?=(?!=)")
TOP_LEVEL_LINE = re.compile(r"[A-Za-z_@]")
SCOPE_LINE = re.compile(r"\s*(async\s+def|def|class|func|function|fn|impl|interface|struct|export)\b")
FUNCTION_LINE = re.compile(r"\s*(?:async\s+)?(?:export\s+)?(?:def|func|function|fn)\s+(\w+)")
BLOCK_LINE = re.compile(r"\s*(?!(?:if|else|for|while|switch|catch|try|do|return|case|with)\b)[\w$#*@].*\{\s*$")
"""It opens a method or a test in a language with braces."""


def split_into_chunks(lines: Sequence[str]) -> list[tuple[int, int]]:
    """First and last lines of the parts of a file that make sense alone: whole definitions where these are small enough."""
    parts, starts = list[tuple[int, int]](), _find_definition_starts(lines)
    for (start, outer), (then, _) in pairwise([*starts, (len(lines) + 1, True)]):
        size, more = (start - parts[-1][0], then - start) if parts else (0, 0)
        if (
            parts
            and (size < MIN_CHUNK_LINES or (not outer and size + more <= SPLITTABLE_CHUNK_LINES))
            and size + more <= MAX_CHUNK_LINES
        ):
            parts[-1] = parts[-1][0], then - 1
        elif then > start:
            parts.append((start, then - 1))
    return [piece for part in parts for piece in _split_long_part(lines, part)]


def _find_definition_starts(lines: Sequence[str]) -> list[tuple[int, bool]]:
    """Where top-level statements begin (True), and the members of what they define: at its first depth."""
    starts, depth, decorated = [(1, True)], 0, False
    for number, line in enumerate(lines, 1):
        indent = _measure_indentation(line)
        if TOP_LEVEL_LINE.match(line):
            starts += [(number, True)] if number > 1 and not decorated else []
            depth = 0
        elif line.strip():
            depth = depth or indent
            member = SCOPE_LINE.match(line) or BLOCK_LINE.match(line) or line.lstrip().startswith("@")
            starts += [(number, False)] if indent == depth and member and not decorated else []
        decorated = line.lstrip().startswith("@") or (decorated and not SCOPE_LINE.match(line))
    return starts


def _split_long_part(lines: Sequence[str], part: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """At blank lines where it has some."""
    start, end = part
    if end - start >= MAX_DEFINITION_LINES:
        for number in range(start + SPLITTABLE_CHUNK_LINES, end - MIN_CHUNK_LINES + 2):
            if number - start >= MAX_CHUNK_LINES or (number - start >= SPLITTABLE_CHUNK_LINES and not lines[number - 1].strip()):
                yield start, number - 1
                start = number
    yield start, end


def cut_excerpt(path: str, lines: Sequence[str], span: tuple[int, int], changed: Container[int] = ()) -> Excerpt:
    """These lines, and above them the `def` and `class` lines that they are inside of."""
    start, end = span
    above = [number for number in _find_enclosing_lines(lines, _find_first_text(lines, start, end)) if number < start]
    shown = tuple([SourceLine(number, lines[number - 1], number in changed) for number in (*above, *range(start, end + 1))])
    return Excerpt("file", path, start, end, find_excerpt_names(lines, start, end), shown)


def find_excerpt_names(lines: Sequence[str], start: int, end: int) -> tuple[str, ...]:
    """The first names that are defined in these lines, or what they are a part of. If they are too many, functions and classes
    before constants."""
    numbers = range(start, end + 1)
    around = [number for number in _find_enclosing_lines(lines, _find_first_text(lines, start, end))[-1:] if number < start]
    found = [match for number in (*around, *numbers) if (match := TITLE_DEFINITION.match(lines[number - 1]))]
    if len(found) > MAX_TITLE_NAMES:
        found.sort(key=lambda match: not match[1])
    more = (LEFT_OUT_MARK,) if len(found) > MAX_TITLE_NAMES else ()
    return (*[match[1] or match[2] for match in found[:MAX_TITLE_NAMES]], *more)


def _find_first_text(lines: Sequence[str], start: int, end: int) -> int:
    """The first line that is not blank."""
    return next((number for number in range(start, end + 1) if lines[number - 1].strip()), start)


def _find_enclosing_lines(lines: Sequence[str], start: int) -> list[int]:
    """Numbers of the `def` and `class` lines above that the line `start` is inside of."""
    if start > len(lines):
        return []
    indent, found = _measure_indentation(lines[start - 1]), list[int]()
    for number in range(start - 1, 0, -1):
        line = lines[number - 1]
        if line.strip() and _measure_indentation(line) < indent:
            indent = _measure_indentation(line)
            if SCOPE_LINE.match(line):
                found.append(number)
        if indent == 0:
            break
    return found[::-1]


def find_block_end(lines: Sequence[str], start: int) -> int:
    """The last line of what the line `start` begins, by its indentation."""
    indent, end = _measure_indentation(lines[start - 1]), start
    for number in range(start + 1, len(lines) + 1):
        line = lines[number - 1]
        if line.strip():
            if _measure_indentation(line) < indent or (_measure_indentation(line) == indent and line.strip()[0] not in "})]"):
                break
            end = number
    return end


def describe_cut_function(lines: Sequence[str], end: int) -> str:
    """That the function which line `end` is inside of goes on after it; empty if none does."""
    if not 0 < end < len(lines):
        return ""
    for number in reversed(_find_enclosing_lines(lines, _find_first_text(lines, end, end))):
        match = FUNCTION_LINE.match(lines[number - 1])
        if match:
            last = find_block_end(lines, number)
            return f", ends inside {match[1]} ({number}-{last})" if last > end else ""
    return ""


def _measure_indentation(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 10_000


def extract_function_source(text: str, names: Sequence[str]) -> str:
    """Source of the function or method with this path of names; empty when there is none."""
    try:
        body: Sequence[ast.stmt] = ast.parse(text).body
    except (SyntaxError, ValueError):
        return ""
    found: ast.stmt | None = None
    for name in names:
        found = next((node for node in body if getattr(node, "name", None) == name), None)
        body = getattr(found, "body", [])
    if found is None:
        return ""
    first = min([found.lineno, *[node.lineno for node in getattr(found, "decorator_list", [])]])
    return "\n".join(text.splitlines()[first - 1 : found.end_lineno])
