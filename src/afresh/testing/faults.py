"""What can go wrong with a provider, one noun each, for the script of a `ModelServer`.

    Fault(429, headers=after(seconds=2))   an HTTP error, and how long to wait: `after` in seconds, milliseconds or as a date
    Garbage("<html>")                      a body that is no answer
    HungUp()                               the connection is cut in the middle of the body
    Slow(2.0, step)                        silence before the first byte
    Dripping(0.1, step)                    silence before each event of a stream
    CutStream(3, step)                     the stream ends after three events
    ErrorEvent(3, step)                    an error is sent after three events, then the stream ends

The last four go around any other step, also around each other: `Slow(1.0, CutStream(3, reply))`. A reply itself can be odd:

    EMPTY                                  says nothing and calls nothing
    unknown_tool()                         calls what was not offered
    long_arguments()                       ten megabytes of them
    Turn(reply, arguments="{")             a tool's input that is no JSON
    Turn(reply, cut=True)                  stopped by the limit of its length
    reported(reply, input_tokens=-5)       a usage that is wrong, field by field; without any it is missing
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from time import time
from typing import Any

from afresh.domain.action import Action, Reply
from afresh.testing.wire import Turn

QUICK = {"retry-after-ms": "5"}
"""Lets a client retry at once, so that tests of retries are quick."""

KINDS = {400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error"}
KINDS |= {404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}


@dataclass(frozen=True, slots=True)
class Fault:
    """An HTTP error."""

    status: int
    message: str = "injected fault"
    headers: Mapping[str, str] = field(default_factory=lambda: dict(QUICK))

    @property
    def kind(self) -> str:
        return KINDS.get(self.status, "api_error")


@dataclass(frozen=True, slots=True)
class Garbage:
    """A successful answer that is none."""

    text: str
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class HungUp:
    """Promises more than it sends."""


@dataclass(frozen=True, slots=True)
class Slow:
    seconds: float
    step: "Step"


@dataclass(frozen=True, slots=True)
class Dripping:
    seconds: float
    step: "Step"


@dataclass(frozen=True, slots=True)
class CutStream:
    """`politely`: the connection is closed as after a whole answer, as some proxies do."""

    events: int
    step: "Step"
    politely: bool = False


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    events: int
    step: "Step"
    kind: str = "overloaded_error"
    message: str = "injected fault"


Step = Reply | Turn | Fault | Garbage | HungUp | Slow | Dripping | CutStream | ErrorEvent


@dataclass(frozen=True, slots=True)
class Play:
    """What a step comes to."""

    what: Turn | Fault | Garbage | HungUp
    before: float = 0.0
    between: float = 0.0
    cut: CutStream | None = None
    error: ErrorEvent | None = None

    @property
    def events(self) -> int | None:
        """Events of the stream that are sent; all of them if that is not limited."""
        limits = [limit.events for limit in (self.cut, self.error) if limit]
        return min(limits) if limits else None


def played(step: Step) -> Play:
    match step:
        case Slow(seconds, inner):
            return replace(played(inner), before=seconds)
        case Dripping(seconds, inner):
            return replace(played(inner), between=seconds)
        case CutStream():
            return replace(played(step.step), cut=step)
        case ErrorEvent():
            return replace(played(step.step), error=step)
        case Reply():
            return Play(Turn(step))
        case _:
            return Play(step)


EMPTY = Reply()


def unknown_tool(name: str = "no_such_tool") -> Reply:
    return Reply("", (Action(name, {"really": True}),))


def long_arguments(size: int = 10_000_000, tool: str = "read", argument: str = "path") -> Reply:
    return Reply("", (Action(tool, {argument: "x" * size}),))


def reported(reply: Reply, **usage: Any) -> Turn:
    return Turn(reply, changes={"usage": usage or None})


def after(seconds: float | None = None, milliseconds: float | None = None, date: float | None = None) -> Mapping[str, str]:
    """Headers that ask to wait; `date` is in so many seconds."""
    if milliseconds is not None:
        return {"retry-after-ms": f"{milliseconds:g}"}
    return {"retry-after": f"{seconds:g}" if date is None else formatdate(time() + date, usegmt=True)}
