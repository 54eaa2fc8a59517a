"""Reads an issue that somebody else wrote: Markdown as copied, or what `gh issue view` and `glab issue view` print."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from afresh.app.orders.check_task_limits import NOTHING_ADDED
from afresh.core.redaction import redact_secrets
from afresh.core.task import Issue
from afresh.core.text import escape_hidden, read_foreign_json
from afresh.core.truncate import to_one_line, truncate_middle
from afresh.errors import BadInput

MAX_FILE_BYTES = 1_000_000
MAX_TITLE_CHARACTERS = 200
MAX_BODY_CHARACTERS = 4_000
"""About a thousand tokens: it is in every prompt of the task."""
ISSUE_NUMBER = re.compile(r"[0-9]{1,9}")
_NUMBER_AT_END = re.compile(r"(?<!\s)\s*\(?#(\d{1,9})\)?\s*$")
_ADDRESS = re.compile(r"https?://[^\s<>\"'`\\]{1,300}")
_NUMBER_IN_ADDRESS = re.compile(r"/issues/(\d{1,9})\b")
_GH_HEADER_LINE = re.compile(r"(\w+):\t(.*)")


def read_issue(path: str) -> Issue:
    """Read it from a file, or from standard input for `-`. Bounded, with hidden characters made visible and secrets redacted."""
    return parse_issue(read_given_text(path), path)


def parse_issue(text: str, path: str) -> Issue:
    issue = _issue_from_json(text, path) if text.lstrip().startswith("{") else _issue_from_text(text)
    if not issue.title:
        raise BadInput(f"{path} has no title of an issue", next="write the title in its first line", safe=NOTHING_ADDED)
    return issue


def read_given_text(path: str) -> str:
    try:
        with sys.stdin.buffer if path == "-" else Path(path).open("rb") as source:
            data = source.read(MAX_FILE_BYTES + 1)
    except OSError as fault:
        raise BadInput(
            f"{path} can't be read: {fault.strerror}", next="name a file, or - for stdin", safe=NOTHING_ADDED
        ) from None
    if len(data) > MAX_FILE_BYTES:
        raise BadInput(f"{path} is larger than {MAX_FILE_BYTES:,} bytes", next="shorten it", safe=NOTHING_ADDED)
    return data.decode("utf-8", errors="replace").removeprefix("\ufeff").replace("\r\n", "\n")


def _issue_from_json(text: str, path: str) -> Issue:
    """GitHub and GitLab name the same things differently. Other fields are not looked at."""
    try:
        foreign_json: Any = read_foreign_json(text)
    except (ValueError, RecursionError) as fault:
        raise BadInput(f"{path} is not valid JSON: {fault}", next="pass it as gh or glab wrote it", safe=NOTHING_ADDED) from None
    number = _first_of(foreign_json, int, "number", "iid")
    body, address = _first_of(foreign_json, str, "body", "description"), _first_of(foreign_json, str, "url", "web_url")
    return make_issue(_first_of(foreign_json, str, "title") or "", body or "", number or 0, address or "")


def _first_of(values: Mapping[str, Any], kind: type, *names: str) -> Any:
    return next((values[name] for name in names if isinstance(values.get(name), kind)), None)


def _issue_from_text(text: str) -> Issue:
    """The first line is the title, with or without its number; a line that is only an address is that of the issue."""
    header, marked, rest = text.partition("\n--\n")
    known = {match[1]: match[2] for line in header.split("\n") if (match := _GH_HEADER_LINE.fullmatch(line))}
    if marked and "title" in known:
        number = known.get("number", "")
        return make_issue(known["title"], rest, int(number) if ISSUE_NUMBER.fullmatch(number) else 0, known.get("url", ""))
    lines = text.strip().split("\n")
    address = next((line.strip() for line in lines[:5] if _ADDRESS.fullmatch(line.strip())), "")
    lines = [line for line in lines if not address or line.strip() != address]
    title = (lines[0] if lines else "").lstrip("#").strip()
    number = _NUMBER_AT_END.search(title)
    return make_issue(_NUMBER_AT_END.sub("", title), "\n".join(lines[1:]), int(number[1]) if number else 0, address)


def make_issue(title: str, body: str, number: int = 0, address: str = "") -> Issue:
    fits = _ADDRESS.fullmatch(address.strip())
    match = _NUMBER_IN_ADDRESS.search(address) if fits else None
    visible = truncate_middle(
        escape_hidden(redact_secrets(body.strip())), MAX_BODY_CHARACTERS, "[… {:,} characters left out]".format
    )
    return Issue(
        title=to_one_line(redact_secrets(title), MAX_TITLE_CHARACTERS),
        body=visible,
        number=(number if ISSUE_NUMBER.fullmatch(str(number)) else 0) or (int(match[1]) if match else 0),
        url=redact_secrets(fits[0]) if fits else "",
    )
