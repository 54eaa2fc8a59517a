"""Being the model: which requests wait in a mailbox, what they ask, and a reply that is checked before it is posted."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afresh.adapters.models.box import PAGE, PROBLEM, REPLY, Posted, judged, parsed, read_whole, request_of, waiting, write_whole
from afresh.adapters.models.choose import patience
from afresh.adapters.models.letter import letter
from afresh.adapters.models.replies import TOO_LONG
from afresh.domain.action import Reply
from afresh.domain.window import Request
from afresh.engine.tokens import Counter
from afresh.errors import BadInput

__all__ = ["Post", "Posted", "await_one", "folder_of", "pick", "posts", "reply_to", "with_call"]
PAUSE = 0.2


@dataclass(frozen=True, slots=True)
class Post:
    """An open request, with what it asks."""

    posted: Posted
    request: Request
    page: str


def folder_of(name: str) -> Path:
    """As after `mailbox:` in --model, with or without that word and the time-out."""
    return patience(name.removeprefix("mailbox:"))[0]


def posts(folder: Path) -> Sequence[Posted]:
    return waiting(folder)


def pick(folder: Path, name: str = "") -> Post:
    """The one that has waited longest, or the one whose name, number or task begins so."""
    found = waiting(folder)
    fits = [one for one in found if any(part.startswith(name) for part in (one.stem, str(one.number), one.task))]
    if not fits:
        what = f"no open request in {folder} is called {name!r}" if found else f"no request waits in {folder}"
        raise BadInput(what, next="`afresh mailbox list` shows them; --wait waits for one")
    if name and len(fits) > 1 and len({one.task for one in fits}) > 1:
        raise BadInput(
            f"{name!r} fits {len(fits)} requests: {', '.join(one.stem for one in fits[:5])}", next="say more of the name"
        )
    request = request_of(folder, fits[0].stem)
    try:
        page = read_whole(folder / f"{fits[0].stem}{PAGE}")
    except (OSError, ValueError):
        page = letter(request, fits[0].stem)
    return Post(fits[0], request, page)


def await_one(folder: Path, seconds: float) -> None:
    """Until a request is open; BadInput when the time is over."""
    deadline = time.monotonic() + seconds
    while not (folder.is_dir() and any(one.waited for one in waiting(folder))):
        if time.monotonic() >= deadline:
            what = f"no request came into {folder} within {seconds:g} seconds"
            raise BadInput(what, next="is a task at work with this mailbox?")
        time.sleep(PAUSE)


def reply_to(folder: Path, post: Post, text: str) -> Reply:
    """Checked as the one who waits will check it, then posted. BadInput says all that is to be mended; that it was too long is
    told to the one who waits as well, for the next call."""
    try:
        reply = judged(parsed(text), post.request, Counter())
    except ValueError as fault:
        if str(fault).startswith(TOO_LONG):
            with suppress(OSError):
                write_whole(folder / f"{post.posted.stem}{PROBLEM}", f"{fault}\n")
        problem = str(fault).replace("\n", "\n  ")
        raise BadInput(
            f"this is no reply to {post.posted.stem}:\n  {problem}", next="mend it", safe="nothing was posted"
        ) from None
    try:
        write_whole(folder / f"{post.posted.stem}{REPLY}", text)
    except OSError as error:
        raise BadInput(f"the reply can't be written into {folder}: {error}", next="see to the folder's rights") from None
    return reply


def with_call(post: Post, tool: str, given: Sequence[str], thought: str) -> dict[str, Any]:
    """A reply that calls one tool, from words as one types them: NAME=VALUE, or NAME=@FILE for what a file holds."""
    offered = {one.name: one for one in post.request.tools}
    known = offered[tool].parameters.get("properties", {}) if tool in offered else {}
    args: dict[str, Any] = {}
    for word in given:
        name, equals, value = word.partition("=")
        if not equals:
            raise BadInput(f"{word!r} is no argument", next="write NAME=VALUE, or NAME=@FILE", safe="nothing was posted")
        args[name] = _typed(value, known.get(name, {}))
    return {"thought": thought, "actions": [{"tool": tool, "args": args}]}


def _typed(value: str, schema: dict[str, Any]) -> Any:
    """Texts are taken as they are, all else is JSON; @@ begins a text that begins with @."""
    if value.startswith("@@"):
        value = value[1:]
    elif value.startswith("@"):
        value = _content(value[1:])
    if schema.get("type", "string") == "string":
        return value
    try:
        return parsed(value)
    except ValueError:
        return value


def _content(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} can't be read: {error}", next="write @@ for a text that begins with @") from None
