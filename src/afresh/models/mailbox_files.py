"""The files of a mailbox, written and read so that someone who can put files there gains no other access.

0007-TASK-1f2e3d4c5b6a.request.json    the exact request (written first)
0007-TASK-1f2e3d4c5b6a.request.md      the same to read, and how to answer
0007-TASK-1f2e3d4c5b6a.reply.json      the answer that is waited for
0007-TASK-1f2e3d4c5b6a.rejected.json   an answer that could not be used, and why: .problem.txt
TASK.ended.txt                         how the task ended, and the next command; gone when it was read or a request is posted
"""

import json
import os
import re
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from stat import S_ISREG, S_IWOTH
from typing import Any

from afresh.core.codec import get_decoder
from afresh.core.prompt import REVIEW_REQUEST, Request
from afresh.core.reply import Reply
from afresh.core.truncate import to_one_line
from afresh.errors import BadInput
from afresh.models.reply_checks import CountTokens, check_reply_length, check_tool_calls, reply_from_json

MAX_FILE_BYTES = 4 << 20
"""Bytes of a file that is read. Some thousands of tokens are all that a reply may have."""
_OPEN_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW
_STEM_PATTERN = re.compile(r"(?P<number>\d{4,})-(?:(?P<task>.+)-)?(?P<hash>[0-9a-f]{12})")
REQUEST_SUFFIX = ".request.json"
PAGE_SUFFIX = ".request.md"
REPLY_SUFFIX = ".reply.json"
REJECTED_SUFFIX = ".rejected.json"
PROBLEM_SUFFIX = ".problem.txt"
ENDED_SUFFIX = ".ended.txt"


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """A request that has no reply yet."""

    stem: str
    number: int
    task: str
    since: float
    waited: bool
    """Somebody waits for the reply at this moment; otherwise it is found when the task is resumed."""
    problem: str = ""
    """The fault of the last attempt."""
    kind: str = ""
    """`review` for one that asks whether a changed test was ordered; empty for a step."""


def make_request_stem(task: str, number: int, request: Request) -> str:
    """The task's name is in it, so that any number of tasks may use one folder, and the hash, so that a restarted process finds
    what it had asked."""
    return "-".join(part for part in (f"{number:04d}", _make_file_name(task), request.hash[:12]) if part)


def _make_file_name(task: str) -> str:
    return re.sub(r"[^\w.-]", "_", task, flags=re.ASCII)[:60]


def write_end_note(folder: Path, task: str, what: str, next: str) -> None:
    """Tell who reads the mailbox that no further request of this task comes."""
    write_file_atomically(folder / f"{_make_file_name(task)}{ENDED_SUFFIX}", f"{to_one_line(what)}\n{to_one_line(next)}\n")


def take_end_note(folder: Path) -> BadInput | None:
    """The end of a task that was not reported yet, as the error for reading a request."""
    for path in sorted(folder.glob(f"*{ENDED_SUFFIX}")):
        with suppress(OSError, ValueError):
            what, next, *_ = [*read_plain_file(path).splitlines(), "", ""]
            path.unlink()
            return BadInput(what, next=next)
    return None


def drop_end_notes(folder: Path) -> None:
    for path in folder.glob(f"*{ENDED_SUFFIX}"):
        path.unlink(missing_ok=True)


def make_mailbox_folder(folder: Path) -> None:
    """Make the folder, private and ignored by git. BadInput if other users could answer in the model's place."""
    place = folder.resolve()
    if _is_writable_for_commands(place.parts):
        why = "is inside the state of afresh, where commands of a task may write"
        raise BadInput(f"the mailbox {folder} {why}", next="pass --model mailbox:DIR with another folder")
    try:
        if not place.is_dir():
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_file_atomically(place / ".gitignore", "*\n")
        mode = place.stat().st_mode
    except OSError as error:
        raise mailbox_error_from_os_error(folder, error) from None
    if mode & S_IWOTH:
        raise BadInput(
            f"anybody on this machine can write into the mailbox {folder}, and so answer in the model's place",
            next="choose another folder: --model mailbox:DIR makes one that only you can write into",
            safe="nothing was written",
        )


def _is_writable_for_commands(parts: Sequence[str]) -> bool:
    """Whether a path leads into the state of a project or the worktrees of tasks."""
    pairs = set(pairwise(parts))
    return (".afresh", "state") in pairs or ("afresh", "worktrees") in pairs


def mailbox_error_from_os_error(folder: Path, error: OSError) -> BadInput:
    return BadInput(f"the mailbox {folder} can't be written: {error}", next="pass --model mailbox:DIR")


def write_file_atomically(path: Path, text: str) -> None:
    """Write the file in one move; an existing link is not followed."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN_FLAGS, 0o666), "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)


def read_plain_file(path: Path) -> str:
    """The text of a file. ValueError if it is not a regular file or too large; FileNotFoundError if there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | _OPEN_FLAGS)
    except FileNotFoundError:
        raise
    except OSError:
        raise ValueError("it is no plain file (a link, perhaps) or can't be read: write the reply itself") from None
    with open(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not S_ISREG(about.st_mode):
            raise ValueError("it is no plain file: write the reply itself")
        if about.st_size > MAX_FILE_BYTES:
            raise ValueError(f"it has {about.st_size:,} bytes, {MAX_FILE_BYTES:,} are the most that is read")
        return file.read().decode("utf-8")


def parse_strict_json(text: str) -> Any:
    """The JSON value. ValueError with line and column if it is not JSON."""

    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is no JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def check_mailbox_reply(plain: Any, request: Request, count: CountTokens) -> Reply:
    """The reply as checked against the request. ValueError lists everything that is wrong with it."""
    if request.kind == REVIEW_REQUEST and isinstance(plain, dict) and "how" in plain:
        plain = {"thought": json.dumps(plain, ensure_ascii=False)}
    reply = reply_from_json(plain)
    check_tool_calls(reply, request.tools)
    check_reply_length(reply, request, count)
    return reply


def list_open_requests(folder: Path) -> Sequence[OpenRequest]:
    """Open requests: first those that a worker waits for, then the oldest."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except OSError as error:
        raise BadInput(f"no such mailbox: {folder}: {error.strerror}", next="name the folder after mailbox: in --model") from None
    answered = {name.removesuffix(REPLY_SUFFIX) for name in names if name.endswith(REPLY_SUFFIX)}
    stems = [name.removesuffix(REQUEST_SUFFIX) for name in names if name.endswith(REQUEST_SUFFIX)]
    open_requests = [_read_open_request(folder, stem) for stem in stems if stem not in answered]
    return sorted(
        (request for request in open_requests if request), key=lambda request: (not request.waited, request.since, request.stem)
    )


def read_request(folder: Path, stem: str) -> Request:
    try:
        return get_decoder(Request)(parse_strict_json(read_plain_file(folder / f"{stem}{REQUEST_SUFFIX}")))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        why = "has been changed, or was written by another afresh"
        raise BadInput(f"the request {stem} in {folder} can't be read: it {why}", next="resume the task: it asks again") from None


@contextmanager
def mark_as_awaited(path: Path) -> Iterator[None]:
    """Show in the mailbox that a process waits for the reply, until the block or the process ends."""
    from fcntl import LOCK_EX, LOCK_NB, flock

    descriptor = os.open(path, os.O_RDONLY | _OPEN_FLAGS)
    try:
        for _ in range(10):  # somebody may be looking this very moment
            with suppress(OSError):
                flock(descriptor, LOCK_EX | LOCK_NB)
                break
            time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)


def _read_open_request(folder: Path, stem: str) -> OpenRequest | None:
    match = _STEM_PATTERN.fullmatch(stem)
    if match is None:
        return None
    problem = ""
    with suppress(OSError, ValueError):
        problem = read_plain_file(folder / f"{stem}{PROBLEM_SUFFIX}")
    kind = ""
    with suppress(BadInput):
        kind = read_request(folder, stem).kind
    try:
        since = (folder / f"{stem}{REQUEST_SUFFIX}").lstat().st_mtime
        return OpenRequest(
            stem, int(match["number"]), match["task"] or "", since, _is_awaited(folder / f"{stem}{REQUEST_SUFFIX}"), problem, kind
        )
    except OSError:
        return None


def _is_awaited(path: Path) -> bool:
    from fcntl import LOCK_NB, LOCK_SH, flock

    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | _OPEN_FLAGS)
    try:
        flock(descriptor, LOCK_SH | LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
