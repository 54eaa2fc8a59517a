"""What both wire formats share: the reply that is to be played, and how server-sent events are spelt."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from afresh.domain.action import Reply

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """A reply to play. `cut`: stopped by the limit of its length; `arguments`: this text in place of every call's arguments
    (Anthropic: in a stream only); `changes`: fields of the body to put in or to replace, such as a usage that is wrong."""

    reply: Reply
    cut: bool = False
    arguments: str | None = None
    changes: Mapping[str, Any] | None = None


class Wire(Protocol):
    """One provider's format; a module is one."""

    def body(self, turn: Turn, model: str) -> Body:
        """The whole answer."""
        ...

    def stream(self, body: Body, turn: Turn) -> Iterator[str]:
        """The same answer as server-sent events."""
        ...

    def error(self, kind: str, message: str) -> Body:
        """The body of an HTTP error."""
        ...

    def error_event(self, kind: str, message: str) -> str:
        """An error in the middle of a stream."""
        ...

    def listing(self, models: tuple[str, ...]) -> Body:
        """The answer to the question which models there are."""
        ...


def halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]


def event(kind: str, fields: Body) -> str:
    return f"event: {kind}\n{data({'type': kind} | fields)}"


def data(body: Body) -> str:
    return f"data: {json.dumps(body)}\n\n"
