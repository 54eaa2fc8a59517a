"""Exact replacements that turn one text into another: each `old` occurs exactly once when its turn comes."""

import json
from dataclasses import dataclass

from afresh.insight.source import PythonSource


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


def apply_splices(source: PythonSource, splices: list[LineSplice]) -> str:
    return "".join(_render_splices(source, 1, len(source.lines) + 1, splices))


def edits_from_splices(source: PythonSource, splices: list[LineSplice]) -> tuple[TextEdit, ...]:
    """One edit for each splice where they can stand apart, otherwise one for all."""
    result = apply_splices(source, splices)
    apart = tuple(_make_unique_edit(source, [splice]) for splice in sorted(splices, key=lambda splice: splice.start))
    if apply_edits(source.text, apart) == result:
        return apart
    return (_make_unique_edit(source, splices),)


def apply_edits(text: str, changes: tuple[TextEdit, ...]) -> str | None:
    for change in changes:
        if text.count(change.old) != 1:
            return None
        text = text.replace(change.old, change.new)
    return text


def edits_to_json(path: str, changes: tuple[TextEdit, ...]) -> str:
    return json.dumps([{"path": path, "old": change.old, "new": change.new} for change in changes], ensure_ascii=False)


def _make_unique_edit(source: PythonSource, splices: list[LineSplice]) -> TextEdit:
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
    """Counting is not enough: a text that repeats itself can be found a line too early."""
    old, offset = "".join(source.lines[start - 1 : stop - 1]), len("".join(source.lines[: start - 1]))
    return source.text.find(old) == offset == source.text.rfind(old)


def _render_splices(source: PythonSource, start: int, stop: int, splices: list[LineSplice]) -> list[str]:
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
