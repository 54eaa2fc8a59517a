"""Reads `.afresh/HEARTBEAT.md`: what a repository wants watched, how often and when."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from afresh.core.heartbeat import MAX_HEARTBEAT_TOKENS, MINUTES_PER_DAY, HeartbeatItem, HeartbeatPlan
from afresh.core.schedule import parse_interval
from afresh.errors import BadInput
from afresh.workspace.disk_files import refuse_symlinks

HEARTBEAT_FILE_NAME = "HEARTBEAT.md"
MAX_FILE_CHARACTERS = 20_000
MAX_ITEMS = 50
MAX_ITEM_CHARACTERS = 300
MIN_CEILING_TOKENS = 600
ITEM_PATTERN = re.compile(r"\s*[-*] (?:\[[ xX]\] )?(.*)")
COMMAND_PATTERN = re.compile(r"`([^`]+)`\s*$")
TIME_PATTERN = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)|24:00")
FRONT_MATTER_MARK = "---"


def load_heartbeat_plan(folder: Path) -> HeartbeatPlan | None:
    """The plan in the folder `.afresh`; None if there is no file. BadInput names the line that is wrong."""
    path = folder / HEARTBEAT_FILE_NAME
    refuse_symlinks(folder, path)
    if not path.is_file():
        return None
    try:
        return parse_heartbeat_plan(path.read_text("utf-8"), str(path))
    except UnicodeDecodeError:
        raise _make_fault(str(path), 1, "the file is not UTF-8") from None


def parse_heartbeat_plan(text: str, name: str = HEARTBEAT_FILE_NAME) -> HeartbeatPlan:
    if len(text) > MAX_FILE_CHARACTERS:
        raise _make_fault(name, 1, f"the file has more than {MAX_FILE_CHARACTERS:,} characters")
    lines = text.split("\n")
    values, begin = _read_front_matter(lines, name)
    items = dict[str, HeartbeatItem]()
    for number, line in enumerate(lines[begin:], begin + 1):
        match = ITEM_PATTERN.fullmatch(line.rstrip())
        if match and match[1].strip():
            item = _parse_item(match[1].strip(), name, number)
            items[item.key] = item
    if len(items) > MAX_ITEMS:
        raise _make_fault(name, 1, f"it has {len(items)} items; {MAX_ITEMS} are the most")
    return HeartbeatPlan(tuple(items.values()), **values)


def _parse_item(text: str, name: str, number: int) -> HeartbeatItem:
    if len(text) > MAX_ITEM_CHARACTERS:
        raise _make_fault(name, number, f"an item has at most {MAX_ITEM_CHARACTERS} characters")
    match = COMMAND_PATTERN.search(text)
    command = match[1].strip() if match else ""
    words = text[: match.start()].strip().rstrip(":").strip() if match and command else text
    return HeartbeatItem(words or command, command)


def _read_front_matter(lines: list[str], name: str) -> tuple[Mapping[str, Any], int]:
    """The settings, and the number of lines before the list."""
    if lines[0].rstrip() != FRONT_MATTER_MARK:
        return {}, 0
    values = dict[str, Any]()
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() == FRONT_MATTER_MARK:
            return values, number
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not key and not value:
            continue
        if not colon or key not in SETTING_READERS:
            raise _make_fault(name, number, f"{key!r} is no setting; there are: {', '.join(SETTING_READERS)}")
        try:
            values[key] = SETTING_READERS[key](value)
        except ValueError as fault:
            raise _make_fault(name, number, f"{key}: {fault}") from None
    raise _make_fault(name, 1, f"the settings have no end: a line {FRONT_MATTER_MARK}")


def _read_active_hours(text: str) -> tuple[int, int]:
    first, dash, last = (part.strip() for part in text.partition("-"))
    if not dash or not TIME_PATTERN.fullmatch(first) or not TIME_PATTERN.fullmatch(last):
        raise ValueError(f"{text!r} are no hours (use 08:00-18:00)")
    begin, end = (sum(int(part) * unit for part, unit in zip(one.split(":"), (60, 1), strict=True)) for one in (first, last))
    if begin == end:
        raise ValueError(f"{text!r} is an empty span (leave the setting out to run at all hours)")
    return begin % MINUTES_PER_DAY, end


def _read_limit(text: str) -> int:
    plain = text.replace(",", "").replace("_", "")
    if not (plain.isascii() and plain.isdigit()) or not MIN_CEILING_TOKENS <= int(plain) <= MAX_HEARTBEAT_TOKENS:
        raise ValueError(f"{text!r} is no number of tokens from {MIN_CEILING_TOKENS} to {MAX_HEARTBEAT_TOKENS:,}")
    return int(plain)


def _read_flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"{text!r} is neither true nor false")
    return text == "true"


def _read_model(text: str) -> str:
    if not re.fullmatch(r"[\w.-]+", text):
        raise ValueError(f"{text!r} is no name of a model in the user's config.toml")
    return text


SETTING_READERS: Mapping[str, Callable[[str], Any]] = {
    "every": parse_interval,
    "active": _read_active_hours,
    "model": _read_model,
    "limit": _read_limit,
    "skip_when_busy": _read_flag,
}


def _make_fault(name: str, line: int, what: str) -> BadInput:
    return BadInput(
        f"{name}:{line}: {what}",
        next="fix the file; an item is such as - tests still pass: `python -m pytest -q`",
        safe="nothing was run",
    )
