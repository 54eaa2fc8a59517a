"""A model that answers from a script: one reply for each step, and answers to reviews of changed tests."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from afresh.core.prompt import REVIEW_REQUEST, Request
from afresh.core.reply import SCRIPTED_MODEL, Reply
from afresh.errors import BadInput, NeedsPerson
from afresh.models.reply_checks import REPLY_EXAMPLE, CountTokens, add_missing_usage, estimate_tokens, reply_from_json
from afresh.ports.model import ReplyListener, ignore_piece


@dataclass(frozen=True, slots=True)
class ScriptedReview:
    """The answer to every review whose request holds these words. It shifts no other reply."""

    about: str
    reply: Reply


class ScriptedModel:
    """`start` is the number of earlier calls of the task, so that a restarted process continues in the script."""

    def __init__(
        self,
        replies: Sequence[Reply | ScriptedReview | Mapping[str, Any]],
        start: int = 0,
        window: int = 200_000,
        count: CountTokens = estimate_tokens,
        name: str = SCRIPTED_MODEL,
    ) -> None:
        read = [reply if isinstance(reply, Reply | ScriptedReview) else _read_entry(reply) for reply in replies]
        self.replies = tuple(reply for reply in read if isinstance(reply, Reply))
        self.reviews = tuple(review for review in read if isinstance(review, ScriptedReview))
        self.position, self.window, self.count, self.name = start, window, count, name
        self.requests: list[Request] = []
        """The requests so far, for tests."""

    def propose(self, request: Request, hear: ReplyListener = ignore_piece) -> Reply:
        self.requests.append(request)
        if request.kind == REVIEW_REQUEST:
            return add_missing_usage(self._find_review(request), request, self.count, self.name)
        if self.position >= len(self.replies):
            raise NeedsPerson(
                f"the script has {len(self.replies)} replies and this is call {self.position + 1} of the task",
                next="add replies to the script, or resume the task with another --model",
                safe="everything up to the last reply is kept",
            )
        self.position += 1
        return add_missing_usage(self.replies[self.position - 1], request, self.count, self.name)

    def _find_review(self, request: Request) -> Reply:
        if reply := next((review.reply for review in self.reviews if review.about in request.message), None):
            return reply
        raise NeedsPerson("the script has no answer to this review", next='add a line {"review": "WORDS OF THE REQUEST", …}')

    def weigh(self, request: Request) -> int:
        return 0


def read_script(path: Path) -> tuple[Reply | ScriptedReview, ...]:
    """Replies of a JSON lines file, one a line; empty lines don't count. A line with `review` answers reviews of changed tests
    that hold its words; the rest of the line is the answer."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"the script {path} can't be read: {error}", next="pass --model scripted:FILE with a JSON lines file"
        ) from None
    return tuple(_reply_from_line(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip())


def _read_entry(plain: Any) -> Reply | ScriptedReview:
    if not isinstance(plain, Mapping) or "review" not in plain:
        return reply_from_json(plain)
    values = {name: value for name, value in cast("Mapping[str, Any]", plain).items() if name != "review"}
    return ScriptedReview(str(plain["review"]), Reply(json.dumps(values, ensure_ascii=False)))


def _reply_from_line(line: str, place: str) -> Reply | ScriptedReview:
    try:
        return _read_entry(json.loads(line))
    except ValueError as error:
        raise BadInput(f"{place} is not a reply: {error}", next=f"write one reply a line, such as {REPLY_EXAMPLE}") from None
