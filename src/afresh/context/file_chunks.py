"""Parts of a file as a prompt shows them: never a body without the line that names it."""

import ast
import re
from collections.abc import Container, Sequence

from afresh.core.context_item import LEFT_OUT_MARK, Excerpt, SourceLine

MIN_CHUNK_LINES = 10
SPLITTABLE_CHUNK_LINES = 40
MAX_CHUNK_LINES = 70
MAX_TITLE_NAMES = 4
TITLE_DEFINITION = re.compile(r"\s*(?:async\s+def|def|class|func|function|fn)\s+(\w+)|([A-Za-z_]\w*)\s*(?::[^=]+)?=(?!=)")
TOP_LEVEL_LINE = re.compile(r"[A-Za-z_@]")
SCOPE_LINE = re.compile(r"\s*(async\s+def|def|class|func|function|fn|impl|interface|struct|export)\b")


def split_into_chunks(lines: Sequence[str]) -> list[tuple[int, int]]:
    """First and last lines of the parts of a file that make sense alone: whole definitions where these are small enough."""
    parts: list[tuple[int, int]] = []
    decorated = False
    for number, line in enumerate(lines, 1):
        size = number - parts[-1][0] if parts else 0
        long = size >= MAX_CHUNK_LINES or (size >= SPLITTABLE_CHUNK_LINES and not line.strip())
        if not parts or long or (TOP_LEVEL_LINE.match(line) and not decorated and size >= MIN_CHUNK_LINES):
            parts.append((number, number))
        parts[-1] = (parts[-1][0], number)
        decorated = line.startswith("@") or (decorated and not SCOPE_LINE.match(line))
    return parts


def cut_excerpt(kind: str, path: str, lines: Sequence[str], span: tuple[int, int], changed: Container[int] = ()) -> Excerpt:
    """These lines, and above them the `def` and `class` lines that they are inside of."""
    start, end = span
    above = [number for number in _find_enclosing_lines(lines, _find_first_text(lines, start, end)) if number < start]
    shown = tuple([SourceLine(number, lines[number - 1], number in changed) for number in (*above, *range(start, end + 1))])
    return Excerpt(kind, path, start, end, find_excerpt_names(lines, start, end), shown)


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
