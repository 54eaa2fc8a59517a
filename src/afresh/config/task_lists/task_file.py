"""Reads a list of tasks from JSON: `{"tasks": [{"goal": …}, …]}`, or the list alone. docs/everyday.md has the fields."""

import json
import re
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from json.decoder import JSONArray, JSONObject, scanstring  # pyright: ignore[reportAttributeAccessIssue]
from json.scanner import py_make_scanner  # pyright: ignore[reportAttributeAccessIssue]
from typing import Any

from afresh.config.task_lists.listed_task import (
    MAX_DETAILS_CHARACTERS,
    MAX_GOAL_CHARACTERS,
    ListedTask,
    check_label,
    check_labels,
    make_fault,
    make_key,
    parse_due,
    refuse_long_list,
)
from afresh.core.text import replace_lone_surrogates

OWN_FIELDS = ("type", "checks")
"""What decides how a task is judged: taken only from a file that the user calls their own."""
MAX_CHECKS = 8
MAX_PRIORITY = 999_999
MAX_NAME_CHARACTERS = 100


class LocatedObject(dict[str, Any]):
    """An object of the file, with the line where it begins."""

    line = 1


def parse_task_file(text: str, name: str, now: float, own: bool = False) -> list[ListedTask]:
    """The tasks in order. `own`: the user says that the file is theirs. BadInput names the line that is wrong."""
    rows = _read_rows(text, name)
    tasks = [_read_task(row, name, now, own) for row in rows]
    names = _collect_names(rows, tasks, name)
    listed = [
        _replace_needs(task, [_find_need(need, names, row, name) for need in _read_needs(row, name)])
        for row, task in zip(rows, tasks, strict=True)
    ]
    refuse_long_list(listed, name)
    return listed


def _read_rows(text: str, name: str) -> list[LocatedObject]:
    try:
        rows = _make_decoder(text).decode(text)
    except json.JSONDecodeError as fault:
        raise make_fault(name, fault.lineno, f"not valid JSON: {fault.msg}") from None
    except (ValueError, RecursionError):
        raise make_fault(name, 1, "not valid JSON: nested too deeply, or a number too long") from None
    if isinstance(rows, LocatedObject):
        if strange := sorted(set(rows) - {"tasks"}):
            raise make_fault(name, 1, f"{strange[0]!r} is no field of a list; it has: tasks")
        rows = rows.get("tasks")
    if not isinstance(rows, list) or not rows:
        raise make_fault(name, 1, 'there are no tasks: {"tasks": [{"goal": "…"}]}')
    for place, row in enumerate(rows, 1):
        if not isinstance(row, LocatedObject):
            raise make_fault(name, 1, f"task {place} is not an object")
    return rows


def _make_decoder(text: str) -> json.JSONDecoder:
    """A decoder whose objects know their line, and whose texts can be encoded."""
    decoder, ends = json.JSONDecoder(), [match.start() for match in re.finditer("\n", text)]

    def parse_object(state: tuple[str, int], *rest: Any) -> tuple[LocatedObject, int]:
        plain, end = JSONObject(state, *rest)
        located = LocatedObject(plain)
        located.line = bisect(ends, state[1] - 1) + 1
        return located, end

    def parse_string(*given: Any) -> tuple[str, int]:
        plain, end = scanstring(*given)
        return replace_lone_surrogates(plain), end

    decoder.parse_string = parse_string  # pyright: ignore[reportAttributeAccessIssue]
    decoder.parse_object, decoder.parse_array = parse_object, JSONArray  # pyright: ignore[reportAttributeAccessIssue]
    decoder.scan_once = py_make_scanner(decoder)  # pyright: ignore[reportAttributeAccessIssue]
    return decoder


def _read_task(row: LocatedObject, name: str, now: float, own: bool) -> ListedTask:
    if strange := sorted(set(row) - set(FIELD_READERS) - {"needs"}):
        raise make_fault(name, row.line, f"{strange[0]!r} is no field of a task; there are: {', '.join(FIELD_READERS)}, needs")
    if not own and (ordered := [field for field in OWN_FIELDS if field in row]):
        raise make_fault(name, row.line, f"it sets {ordered[0]!r}, which is taken only from your own file: pass --own")
    values = dict[str, Any]()
    for field, read in FIELD_READERS.items():
        if field in row:
            try:
                values[field] = read(row[field], now)
            except ValueError as fault:
                raise make_fault(name, row.line, f"{field}: {fault}") from None
    if not values.get("goal"):
        raise make_fault(name, row.line, "the task has no goal")
    named = values.get("name", "")
    return ListedTask(key=make_key("name", named) if named else make_key("goal", values["goal"]), line=row.line, **values)


def _collect_names(rows: Sequence[LocatedObject], tasks: Sequence[ListedTask], name: str) -> dict[str, str]:
    """The key of each task by its local name; no two tasks may have the same key."""
    names, lines = dict[str, str](), dict[str, int]()
    for row, task in zip(rows, tasks, strict=True):
        if task.key in lines:
            again = f"the name {row['name']!r}" if row.get("name") else "the goal"
            raise make_fault(name, row.line, f"{again} is also that of the task in line {lines[task.key]}")
        lines[task.key] = row.line
        if row.get("name"):
            names[row["name"]] = task.key
    return names


def _find_need(need: str, names: Mapping[str, str], row: LocatedObject, name: str) -> str:
    if need not in names:
        raise make_fault(name, row.line, f"needs {need!r}, but no task of the file has this name")
    return names[need]


def _replace_needs(task: ListedTask, needs: Sequence[str]) -> ListedTask:
    return replace(task, needs=tuple(dict.fromkeys(needs))) if needs else task


def _read_needs(row: LocatedObject, name: str) -> list[str]:
    try:
        return _read_texts(row.get("needs", []))
    except ValueError as fault:
        raise make_fault(name, row.line, f"needs: {fault}") from None


def _read_texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(raw_value, str) for raw_value in value):
        raise ValueError("must be a list of texts")
    return [str(raw_value) for raw_value in value]


def _read_text(value: Any, most: int) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text")
    if len(value) > most:
        raise ValueError(f"has more than {most:,} characters")
    return value.strip()


def _read_priority(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > MAX_PRIORITY:
        raise ValueError(f"must be a whole number up to {MAX_PRIORITY:,}")
    return value


def _read_checks(value: Any) -> tuple[str, ...]:
    checks = tuple(text.strip() for text in _read_texts(value))
    if not all(checks) or len(checks) > MAX_CHECKS:
        raise ValueError(f"must be up to {MAX_CHECKS} commands")
    return checks


FIELD_READERS: Mapping[str, Callable[[Any, float], Any]] = {
    "name": lambda value, now: _read_text(value, MAX_NAME_CHARACTERS),
    "goal": lambda value, now: _read_text(value, MAX_GOAL_CHARACTERS),
    "details": lambda value, now: _read_text(value, MAX_DETAILS_CHARACTERS),
    "type": lambda value, now: _read_text(value, MAX_NAME_CHARACTERS),
    "checks": lambda value, now: _read_checks(value),
    "priority": lambda value, now: _read_priority(value),
    "labels": lambda value, now: check_labels(_read_texts(value)),
    "due": lambda value, now: parse_due(_read_text(value, MAX_NAME_CHARACTERS), now),
    "project": lambda value, now: check_label(_read_text(value, MAX_NAME_CHARACTERS)),
}
