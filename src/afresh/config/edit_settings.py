"""Sets values in a file of settings and keeps everything else in it: other settings, order and comments."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from afresh.core.text import to_visible_json
from afresh.errors import BadInput
from afresh.workspace.disk_files import write_durable_file

_TABLE_HEADER = re.compile(r"\s*\[")
_TEXT_VALUE = r"(?:\"(?:[^\"\\]|\\.)*\"|'[^']*')"
_LIST_VALUE = rf"\[\s*(?:{_TEXT_VALUE}\s*,?\s*)*\]"


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A text, a number or a list of texts to be set, or None to remove what is set.

    `table` is empty for the top of the file, else it is such as `models.fast`.
    """

    table: str
    key: str
    value: str | int | tuple[str, ...] | None


def change_settings_file(path: Path, changes: Sequence[SettingChange]) -> bool:
    """Set the values; return whether the file was changed. BadInput, with the lines to add, if it can't be edited safely."""
    before = path.read_text("utf-8") if path.is_file() else ""
    text = before
    for change in changes:
        text = set_text_value(text, change)
    if text == before:
        return False
    _refuse_other_changes(path, before, text, changes)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_durable_file(path, text)
    return True


def set_text_value(text: str, change: SettingChange) -> str:
    """Return the file with this value: in place of the old one, or as a new line of its table."""
    lines = text.splitlines()
    first, last = _find_table_lines(lines, change.table)
    line = f"{change.key} = {to_visible_json(change.value)}"
    if first < 0:
        return text if change.value is None else "\n".join([*lines, *([""] if lines else []), f"[{change.table}]", line]) + "\n"
    old = {int: "[0-9_]+", type(None): ".*"}.get(type(change.value), f"{_TEXT_VALUE}|{_LIST_VALUE}")
    known = re.compile(rf"(\s*){re.escape(change.key)}\s*=\s*(?:{old})(.*)")
    for number in range(first, last):
        if match := known.fullmatch(lines[number]):
            if change.value is None:
                return "\n".join([*lines[:number], *lines[number + 1 :]]) + "\n"
            return "\n".join([*lines[:number], f"{match[1]}{line}{match[2]}", *lines[number + 1 :]]) + "\n"
    if change.value is None:
        return text
    at = _find_insertion_line(lines, first, last)
    gap = [""] if not change.table and at < len(lines) and lines[at].strip() else []
    return "\n".join([*lines[:at], line, *gap, *lines[at:]]) + "\n"


def _find_table_lines(lines: Sequence[str], table: str) -> tuple[int, int]:
    """Return the first line of a table's values and the line after its last; -1 if there is no such table."""
    first = 0
    if table:
        header = re.compile(rf"\s*\[\s*{re.escape(table)}\s*\]\s*(?:#.*)?")
        first = next((number + 1 for number, line in enumerate(lines) if header.fullmatch(line)), -1)
    if first < 0:
        return -1, -1
    return first, next((number for number in range(first, len(lines)) if _TABLE_HEADER.match(lines[number])), len(lines))


def _find_insertion_line(lines: Sequence[str], first: int, last: int) -> int:
    """Return where a new value goes: after the last value, and before the comments that belong to the next table."""
    values = [number for number in range(first, last) if lines[number].strip() and not lines[number].lstrip().startswith("#")]
    return values[-1] + 1 if values else first


def _refuse_other_changes(path: Path, before: str, after: str, changes: Sequence[SettingChange]) -> None:
    try:
        wanted, values = tomllib.loads(before), tomllib.loads(after)
    except (ValueError, RecursionError) as fault:
        raise _make_edit_error(path, str(fault), changes) from None
    for change in changes:
        place = wanted
        for part in _split_table_name(change.table):
            place = place.setdefault(part, {})
        place[change.key] = list(change.value) if isinstance(change.value, tuple) else change.value
        if change.value is None:
            del place[change.key]
    if values != wanted:
        raise _make_edit_error(path, "its layout is unusual", changes)


def _split_table_name(table: str) -> list[str]:
    """The keys that lead to a table; one of them may be quoted."""
    names, place = list[str](), tomllib.loads(f"[{table}]" if table else "")
    while place:
        names.append(next(iter(place)))
        place = place[names[-1]]
    return names


def _make_edit_error(path: Path, why: str, changes: Sequence[SettingChange]) -> BadInput:
    lines = "; ".join(
        f"{f'[{change.table}] ' if change.table else ''}{change.key} = {to_visible_json(change.value)}" for change in changes
    )
    return BadInput(f"{path} can't be edited: {why}", next=f"fix it, or set there yourself: {lines}", safe="nothing was changed")
