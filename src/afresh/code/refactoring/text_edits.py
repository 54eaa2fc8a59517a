"""Replaces lines of a file, and turns the difference into edits that each fit at exactly one place."""

import builtins
import difflib
import symtable
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from afresh.code.python_source import PythonSource


@dataclass(frozen=True, slots=True)
class LineSplice:
    """Lines `start` up to but not including `stop` (counted from 1) become `lines`."""

    start: int
    stop: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextEdit:
    old: str
    new: str


def apply_splices(source: PythonSource, splices: Sequence[LineSplice]) -> str:
    return "".join(_render_splices(source, 1, len(source.lines) + 1, splices))


def find_splices(source: PythonSource, result: PythonSource) -> tuple[LineSplice, ...]:
    """Return the difference between two files as splices of the first."""
    old, new = source.lines, result.lines
    head = next((n for n, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), 0)
    short = min(len(old), len(new)) - head
    tail = next((n for n in range(short) if old[-1 - n] != new[-1 - n]), short)
    matcher = difflib.SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    spans = [[place + head for place in code[1:]] for code in matcher.get_opcodes() if code[0] != "equal"]
    return tuple(_make_splice(old, new, *span) for span in spans)


def _make_splice(old: Sequence[str], new: Sequence[str], start: int, stop: int, first: int, last: int) -> LineSplice:
    """Return a splice. It must contain a line, so a pure deletion includes the line above."""
    if first == last:
        return LineSplice(start, stop + 1, (old[start - 1].rstrip("\r\n"),))
    return LineSplice(start + 1, stop + 1, tuple(line.rstrip("\r\n") for line in new[first:last]))


def edits_from_splices(source: PythonSource, splices: Sequence[LineSplice]) -> tuple[TextEdit, ...]:
    """Return one edit per splice if each can be located uniquely, otherwise one edit for all."""
    apart = tuple(_make_unique_edit(source, [splice]) for splice in sorted(splices, key=lambda splice: splice.start))
    if apply_edits(source.text, apart) == apply_splices(source, splices):
        return apart
    return (_make_unique_edit(source, splices),)


def apply_edits(text: str, edits: Sequence[TextEdit]) -> str | None:
    for edit in edits:
        if text.count(edit.old) != 1:
            return None
        text = text.replace(edit.old, edit.new)
    return text


def _make_unique_edit(source: PythonSource, splices: Sequence[LineSplice]) -> TextEdit:
    start, stop = min(splice.start for splice in splices), max(splice.stop for splice in splices)
    end = len(source.lines) + 1
    downward = True
    while start >= stop or not _is_unique_span(source, start, stop):
        if (downward and stop < end) or start == 1:
            stop += 1
        else:
            start -= 1
        downward = not downward or start == 1
    return TextEdit("".join(source.lines[start - 1 : stop - 1]), "".join(_render_splices(source, start, stop, splices)))


def _is_unique_span(source: PythonSource, start: int, stop: int) -> bool:
    """Whether the lines are found at exactly this place. Counting matches is not enough: repetitive text may match a line too
    early.
    """
    old, offset = "".join(source.lines[start - 1 : stop - 1]), len("".join(source.lines[: start - 1]))
    return source.text.find(old) == offset == source.text.rfind(old)


def _render_splices(source: PythonSource, start: int, stop: int, splices: Sequence[LineSplice]) -> list[str]:
    parts: list[str] = []
    at = start
    for splice in sorted(splices, key=lambda splice: splice.start):
        parts.extend(source.lines[at - 1 : splice.start - 1])
        if splice.start > 1 and not source.lines[splice.start - 2].endswith(("\n", "\r")):
            parts.append(source.newline)
        ends = splice.stop > len(source.lines) and not source.lines[-1].endswith(("\n", "\r"))
        parts.append(source.newline.join(splice.lines) + ("" if ends else source.newline))
        at = splice.stop
    parts.extend(source.lines[at - 1 : stop - 1])
    return parts


BUILTIN_NAMES = frozenset(dir(builtins))
MODULE_ATTRIBUTES = {
    "__file__", "__name__", "__doc__", "__spec__", "__loader__", "__package__", "__builtins__", "__annotations__", "__path__",
}  # fmt: skip


def is_sound_result(source: PythonSource, result: PythonSource) -> bool:
    """Whether the changed file compiles and reads no global name that it does not define. Parsing alone accepts a `return`
    outside a function or a name declared twice.
    """
    try:
        compile(result.text, result.path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return not find_undefined_names(result) - find_undefined_names(source) - BUILTIN_NAMES


@lru_cache(maxsize=256)
def find_undefined_names(source: PythonSource) -> frozenset[str]:
    """Return the names that the file reads as globals and does not define itself, including builtins."""
    top = symtable.symtable(source.text, source.path, "exec")
    defined = {
        symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()
    } | MODULE_ATTRIBUTES
    found: set[str] = set()
    pending = [top]
    while pending:
        table = pending.pop()
        found.update(s.get_name() for s in table.get_symbols() if s.is_referenced() and (s.is_global() or table is top))
        pending.extend(table.get_children())
    return frozenset(found - defined)
