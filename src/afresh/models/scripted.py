"""A model that answers from a script: one reply for each call."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from afresh.core.prompt import Request
from afresh.core.reply import SCRIPTED_MODEL, Reply
from afresh.errors import BadInput, NeedsPerson
from afresh.models.reply_checks import REPLY_EXAMPLE, CountTokens, add_missing_usage, estimate_tokens, reply_from_json
from afresh.ports.model import ReplyListener, ignore_piece


class ScriptedModel:
    """`start` is the number of calls that the task has bought before, so that a restarted process goes on where it was."""

    def __init__(
        self,
        replies: Sequence[Reply | Mapping[str, Any]],
        start: int = 0,
        window: int = 200_000,
        count: CountTokens = estimate_tokens,
        name: str = SCRIPTED_MODEL,
    ) -> None:
        self.replies = tuple(reply if isinstance(reply, Reply) else reply_from_json(reply) for reply in replies)
        self.position, self.window, self.count, self.name = start, window, count, name
        self.requests: list[Request] = []
        """What it was asked, for tests."""

    def propose(self, request: Request, hear: ReplyListener = ignore_piece) -> Reply:
        self.requests.append(request)
        if self.position >= len(self.replies):
            raise NeedsPerson(
                f"the script has {len(self.replies)} replies and this is call {self.position + 1} of the task",
                next="add replies to the script, or resume the task with another --model",
                safe="everything up to the last reply is kept",
            )
        self.position += 1
        return add_missing_usage(self.replies[self.position - 1], request, self.count, self.name)

    def weigh(self, request: Request) -> int:
        return 0


def read_script(path: Path) -> tuple[Reply, ...]:
    """Replies of a JSON lines file, one a line; empty lines don't count."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"the script {path} can't be read: {error}", next="pass --model scripted:FILE with a JSON lines file"
        ) from None
    return tuple(_reply_from_line(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip())


def _reply_from_line(line: str, place: str) -> Reply:
    try:
        return reply_from_json(json.loads(line))
    except ValueError as error:
        raise BadInput(f"{place} is not a reply: {error}", next=f"write one reply a line, such as {REPLY_EXAMPLE}") from None
