"""What both wire formats share: the reply that is to be played, and how server-sent events are spelt."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from afresh.core.reply import Reply

WireBody = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """A reply to play. `cut`: stopped by the limit of its length; `arguments`: this text in place of every call's arguments
    (Anthropic: in a stream only); `changes`: fields of the body to put in or to replace, such as a usage that is wrong."""

    reply: Reply
    cut: bool = False
    arguments: str | None = None
    changes: Mapping[str, Any] | None = None


class WireFormat(Protocol):
    """One provider's format; a module is one."""

    def body(self, turn: ScriptedTurn, model: str) -> WireBody:
        """The whole answer."""
        ...

    def stream(self, body: WireBody, turn: ScriptedTurn) -> Iterator[str]:
        """The same answer as server-sent events."""
        ...

    def error(self, kind: str, message: str) -> WireBody:
        """The body of an HTTP error."""
        ...

    def error_event(self, kind: str, message: str) -> str:
        """An error in the middle of a stream."""
        ...

    def listing(self, models: tuple[str, ...]) -> WireBody:
        """The answer to the question which models there are."""
        ...


def split_in_halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]


def render_event(kind: str, fields: WireBody) -> str:
    return f"event: {kind}\n{render_data({'type': kind} | fields)}"


def render_data(body: WireBody) -> str:
    return f"data: {json.dumps(body)}\n\n"
