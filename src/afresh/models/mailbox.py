"""A model behind a folder: each request is a file, and a person or program answers by writing the file of the reply.

The name of a request has the number of the call, the task and the hash of the request (`mailbox_files` lists the files). So a
restarted process finds its request and a reply that was written meanwhile, and nothing is asked twice.
"""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from afresh.core.codec import to_plain_value
from afresh.core.prompt import REVIEW_REQUEST, Request, render_turn
from afresh.core.reply import Reply
from afresh.core.text import to_visible_json
from afresh.errors import TryAgain
from afresh.models.mailbox_files import (
    PAGE_SUFFIX,
    PROBLEM_SUFFIX,
    REJECTED_SUFFIX,
    REPLY_SUFFIX,
    REQUEST_SUFFIX,
    check_mailbox_reply,
    drop_end_notes,
    mailbox_error_from_os_error,
    make_mailbox_folder,
    make_request_stem,
    mark_as_awaited,
    parse_strict_json,
    read_plain_file,
    write_file_atomically,
)
from afresh.models.providers.text_tool_calls import render_tool_lines
from afresh.models.reply_checks import REPLY_EXAMPLE, REPLY_TOO_LONG, CountTokens, add_missing_usage, estimate_tokens
from afresh.ports.model import ReplyListener, ignore_piece

FIRST_PAUSE_SECONDS = 0.05
MAX_PAUSE_SECONDS = 1.0
CHECK_INTERVAL_SECONDS = 3.0
"""Between two looks at whether the worker must stop."""


@dataclass(frozen=True, slots=True)
class MailboxTimeouts:
    """Seconds to wait for a reply (0: for ever), and to let a file that does not parse be finished by its writer."""

    reply: float = 0.0
    writer: float = 2.0


DEFAULT_TIMEOUTS = MailboxTimeouts()


class MailboxModel:
    """`start` is the number of calls that the task has bought before."""

    name = "mailbox"
    check_cancelled: Callable[[], None] = staticmethod(lambda: None)
    """Raises if the worker must stop. The request stays open; `resume` takes its reply."""

    def __init__(
        self,
        folder: Path,
        start: int = 0,
        window: int = 200_000,
        count: CountTokens = estimate_tokens,
        patience: MailboxTimeouts = DEFAULT_TIMEOUTS,
        task: str = "",
    ) -> None:
        self.folder, self.position, self.window, self.count, self.patience = folder, start, window, count, patience
        self.task = task

    def propose(self, request: Request, hear: ReplyListener = ignore_piece) -> Reply:
        stem = make_request_stem(self.task, self.position + 1, request)
        make_mailbox_folder(self.folder)
        try:
            self._write_once(f"{stem}{REQUEST_SUFFIX}", _render_request_json(request))
            self._write_once(f"{stem}{PAGE_SUFFIX}", render_mailbox_message(request, stem))
            drop_end_notes(self.folder)
            with mark_as_awaited(self.folder / f"{stem}{REQUEST_SUFFIX}"):
                reply = self._await(stem, request)
        except OSError as error:
            raise mailbox_error_from_os_error(self.folder, error) from None
        self.position += 1
        return add_missing_usage(replace(reply, cramped=self._was_too_long(stem)), request, self.count, self.name)

    def weigh(self, request: Request) -> int:
        return 0

    def _write_once(self, name: str, text: str) -> None:
        """A restart leaves the file alone: a program that watches the folder must not see the request twice."""
        if not (self.folder / name).exists():
            write_file_atomically(self.folder / name, text)

    def _await(self, stem: str, request: Request) -> Reply:
        began, pause = time.monotonic(), FIRST_PAUSE_SECONDS
        check_at = CHECK_INTERVAL_SECONDS
        while True:
            reply = self._collect(stem, request)
            if reply is not None:
                return reply
            waited = time.monotonic() - began
            if self.patience.reply and waited >= self.patience.reply:
                raise TryAgain(
                    f"nobody has answered {stem} in {self.folder} within {self.patience.reply:g} seconds. The request stays "
                    "open: a reply that is written later is taken when the task is resumed"
                )
            if waited >= check_at:
                self.check_cancelled()
                check_at = waited + CHECK_INTERVAL_SECONDS
            time.sleep(pause)
            pause = min(pause * 1.5, MAX_PAUSE_SECONDS)

    def _collect(self, stem: str, request: Request) -> Reply | None:
        """The reply, if it is there and can be used; what can't is put aside with the reason."""
        path = self.folder / f"{stem}{REPLY_SUFFIX}"
        try:
            plain = parse_strict_json(read_plain_file(path))
        except FileNotFoundError:
            return None
        except ValueError as error:
            if _file_age_seconds(path) >= self.patience.writer:
                self._reject(stem, f"the file is not JSON: {error}")
            return None
        try:
            return check_mailbox_reply(plain, request, self.count)
        except ValueError as error:
            self._reject(stem, str(error))
            return None

    def _was_too_long(self, stem: str) -> bool:
        """Whether an earlier reply was refused for its length, here or by `afresh mailbox`."""
        try:
            return read_plain_file(self.folder / f"{stem}{PROBLEM_SUFFIX}").startswith(REPLY_TOO_LONG)
        except (OSError, ValueError):
            return False

    def _reject(self, stem: str, problem: str) -> None:
        advice = (
            f"{problem}\n\nNothing was done with this reply. Write {stem}{REPLY_SUFFIX} again, in the form\n{REPLY_EXAMPLE}\n"
        )
        with suppress(FileNotFoundError):
            os.replace(self.folder / f"{stem}{REPLY_SUFFIX}", self.folder / f"{stem}{REJECTED_SUFFIX}")
        # last: whoever reads it answers anew, and that reply must not be put aside
        write_file_atomically(self.folder / f"{stem}{PROBLEM_SUFFIX}", advice)


def _file_age_seconds(path: Path) -> float:
    """Seconds since the last write. A time in the future (another machine's clock) counts as long ago."""
    try:
        age = time.time() - path.lstat().st_mtime
    except FileNotFoundError:
        return 0.0
    return age if age >= 0 else float("inf")


SENT_ORDER = ("system", "tools", "message", "turns", "footer")


def _render_request_json(request: Request) -> str:
    """In the order in which it is sent, so that two requests begin alike as far as they are."""
    plain = to_plain_value(request)
    ordered = {name: plain[name] for name in (*SENT_ORDER, *sorted(plain.keys() - set(SENT_ORDER))) if name in plain}
    return to_visible_json(ordered, indent=1)


def render_mailbox_message(request: Request, stem: str) -> str:
    review = request.kind == REVIEW_REQUEST
    thinking = f", {request.thinking} of them for thinking" if request.thinking else ""
    example = {"thought": "why, in a sentence or two", "actions": _make_example_actions(request)}
    return "\n".join(
        (
            *(
                ("<!-- a REVIEW of a changed test, and no step of the task: answer with the JSON object that it asks for -->",)
                * review
            ),
            "<!-- system -->",
            request.system,
            "",
            "<!-- tools -->",
            *map(render_tool_lines, request.tools),
            "",
            "<!-- message -->",
            request.message,
            "",
            *[line for turn in request.turns for line in ("<!-- your reply, and what came of it -->", render_turn(turn), "")],
            *(("<!-- now -->", request.footer, "") if request.footer else ()),
            "<!-- how to answer -->",
            (f"Write `{stem}.reply.json` into this folder (at most about {request.reserve} tokens{thinking}). For example:"),
            "",
            to_visible_json({"how": "neither", "asked": False, "quote": ""} if review else example, indent=1),
            "",
        )
    )


def _make_example_actions(request: Request) -> list[dict[str, Any]]:
    """The first tool with its required arguments, so that the shape is plain."""
    if not request.tools:
        return []
    schema = request.tools[0].parameters
    known = schema.get("properties", {})
    return [
        {
            "tool": request.tools[0].name,
            "args": {name: _make_sample_value(known.get(name, {})) for name in schema.get("required", ())},
        }
    ]


def _make_sample_value(schema: Mapping[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    samples: dict[str, Any] = {"integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}
    return samples.get(str(schema.get("type")), "...")
