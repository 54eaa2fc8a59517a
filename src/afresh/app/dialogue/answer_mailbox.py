"""Lists the requests in a mailbox, shows what they ask, checks a reply before posting it, and says that a task has ended."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afresh.core.prompt import Request
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.task import TaskStatus
from afresh.core.tokens import EstimatingCounter
from afresh.errors import BadInput
from afresh.models.choose_model import choose_model, split_mailbox_spec
from afresh.models.mailbox import render_mailbox_message
from afresh.models.mailbox_files import (
    PAGE_SUFFIX,
    PROBLEM_SUFFIX,
    REPLY_SUFFIX,
    OpenRequest,
    check_mailbox_reply,
    list_open_requests,
    parse_strict_json,
    read_plain_file,
    read_request,
    take_end_note,
    write_end_note,
    write_file_atomically,
)
from afresh.models.model_settings import NamedModel
from afresh.models.reply_checks import REPLY_TOO_LONG
from afresh.views.task_facts import list_next_commands

POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class LoadedRequest:
    """An open request and its content."""

    posted: OpenRequest
    request: Request
    page: str


def find_mailbox_folder(name: str) -> Path:
    """Parse a folder as given after `mailbox:` in --model; the prefix and the time-out are optional."""
    return split_mailbox_spec(name.removeprefix("mailbox:"))[0]


def list_mailbox_requests(folder: Path) -> Sequence[OpenRequest]:
    return list_open_requests(folder)


def pick_request(folder: Path, name: str = "") -> LoadedRequest:
    """Return the oldest open request, or the one whose name or number starts with `name`, or whose task contains it."""
    requests = list_open_requests(folder)
    if not requests and (ended := take_end_note(folder)):
        raise ended
    fits = [
        open_request
        for open_request in requests
        if open_request.stem.startswith(name) or str(open_request.number).startswith(name) or name in open_request.task
    ]
    if not fits:
        what = f"no open request in {folder} is called {name!r}" if requests else f"no open requests in {folder}"
        raise BadInput(what, next="`afresh mailbox DIR --list` lists them; --wait waits for one")
    if name and len(fits) > 1 and len({open_request.task for open_request in fits}) > 1:
        raise BadInput(
            f"{name!r} matches {len(fits)} requests: {', '.join(open_request.stem for open_request in fits[:5])}",
            next="give more of the name",
        )
    request = read_request(folder, fits[0].stem)
    try:
        page = read_plain_file(folder / f"{fits[0].stem}{PAGE_SUFFIX}")
    except (OSError, ValueError):
        page = render_mailbox_message(request, fits[0].stem)
    return LoadedRequest(fits[0], request, page)


def await_request(folder: Path, seconds: float) -> None:
    """Wait until a request is open. Raises BadInput after `seconds`, and at once if the task has ended."""
    deadline = time.monotonic() + seconds
    while not (folder.is_dir() and any(request.waited for request in list_open_requests(folder))):
        if ended := take_end_note(folder):
            raise ended
        if time.monotonic() >= deadline:
            what = f"no request came into {folder} within {seconds:g} seconds"
            raise BadInput(what, next="is a task running with this mailbox?")
        time.sleep(POLL_SECONDS)


def announce_end(model: str, named: Mapping[str, NamedModel], state: State) -> None:
    """Leave a note in the mailbox that was the model of a task which doesn't go on by itself."""
    chosen = choose_model(model, named)
    if chosen.kind == "mailbox" and (state.status is TaskStatus.BLOCKED or state.status.over):
        how = f"over ({state.status})" if state.status.over else "blocked"
        with suppress(OSError):
            write_end_note(
                split_mailbox_spec(chosen.argument)[0],
                state.task.id,
                f"task {state.task.id} is {how}: {state.work.outcome}",
                " or ".join(f"`{command}`" for command in list_next_commands(state)[:2]),
            )


def post_reply(folder: Path, post: LoadedRequest, text: str) -> Reply:
    """Check a reply with the worker's own checks, then post it. BadInput lists every problem. If the reply was too long, the
    worker also learns it, for the next call."""
    try:
        reply = check_mailbox_reply(parse_strict_json(text), post.request, EstimatingCounter())
    except ValueError as fault:
        if str(fault).startswith(REPLY_TOO_LONG):
            with suppress(OSError):
                write_file_atomically(folder / f"{post.posted.stem}{PROBLEM_SUFFIX}", f"{fault}\n")
        problem = str(fault).replace("\n", "\n  ")
        raise BadInput(
            f"invalid reply to {post.posted.stem}:\n  {problem}", next="fix this and reply again", safe="nothing was posted"
        ) from None
    try:
        write_file_atomically(folder / f"{post.posted.stem}{REPLY_SUFFIX}", text)
    except OSError as error:
        raise BadInput(f"the reply can't be written into {folder}: {error}", next="check the folder's permissions") from None
    return reply


def build_tool_reply(post: LoadedRequest, tool: str, words: Sequence[str], thought: str) -> dict[str, Any]:
    """Build a reply with one tool call from command-line words: NAME=VALUE, or NAME=@FILE for a file's content."""
    offered = {schema.name: schema for schema in post.request.tools}
    known = offered[tool].parameters.get("properties", {}) if tool in offered else {}
    args: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise BadInput(f"invalid argument {word!r}", next="write NAME=VALUE, or NAME=@FILE", safe="nothing was posted")
        args[name] = _parse_argument(value, known.get(name, {}))
    return {"thought": thought, "actions": [{"tool": tool, "args": args}]}


def _parse_argument(value: str, schema: dict[str, Any]) -> Any:
    """Parse a value: strings are taken literally, other types as JSON. `

    ` escapes a leading `@`."""
    if value.startswith("@@"):
        value = value[1:]
    elif value.startswith("@"):
        value = _read_argument_file(value[1:])
    if schema.get("type", "string") == "string":
        return value
    try:
        return parse_strict_json(value)
    except ValueError:
        return value


def _read_argument_file(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} can't be read: {error}", next="write @@ for text that begins with @") from None
