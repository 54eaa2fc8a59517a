"""What can go wrong with a provider, one class each, for the script of a `ModelServer`.

    HttpFault(429, headers=make_retry_headers(seconds=2))   an HTTP error, and how long to wait
    GarbageAnswer("<html>")                a body that is not an answer
    CutConnection()                        the connection is cut in the middle of the body
    SlowStart(2.0, step)                   silence before the first byte
    SlowStream(0.1, step)                  silence before each event of a stream
    CutStream(3, step)                     the stream ends after three events
    StreamError(3, step)                   an error is sent after three events, then the stream ends

The last four wrap any other step, also each other: `SlowStart(1.0, CutStream(3, reply))`. A reply itself can be odd:

    EMPTY_REPLY                            says nothing and calls nothing
    call_unknown_tool()                    calls a tool that was not offered
    call_with_long_arguments()             ten megabytes of them
    ScriptedTurn(reply, arguments="{")     arguments that are not JSON
    ScriptedTurn(reply, cut=True)          stopped by the limit of its length
    report_usage(reply, input_tokens=-5)   a wrong usage, field by field; without fields it is missing
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from time import time
from typing import Any

from afresh.core.action import Action
from afresh.core.reply import Reply
from support.wire_formats import ScriptedTurn

QUICK_RETRY_HEADERS = {"retry-after-ms": "5"}
"""Lets a client retry at once, so that tests of retries are quick."""

ERROR_TYPE_OF_STATUS = {400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error"}
ERROR_TYPE_OF_STATUS |= {404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}


@dataclass(frozen=True, slots=True)
class HttpFault:
    """An HTTP error."""

    status: int
    message: str = "injected fault"
    headers: Mapping[str, str] = field(default_factory=lambda: dict(QUICK_RETRY_HEADERS))

    @property
    def kind(self) -> str:
        return ERROR_TYPE_OF_STATUS.get(self.status, "api_error")


@dataclass(frozen=True, slots=True)
class GarbageAnswer:
    """A successful answer that is none."""

    text: str
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class CutConnection:
    """Promises more than it sends."""


@dataclass(frozen=True, slots=True)
class SlowStart:
    seconds: float
    step: "ScriptStep"


@dataclass(frozen=True, slots=True)
class SlowStream:
    seconds: float
    step: "ScriptStep"


@dataclass(frozen=True, slots=True)
class CutStream:
    """`politely`: the connection is closed as after a whole answer, as some proxies do."""

    events: int
    step: "ScriptStep"
    politely: bool = False


@dataclass(frozen=True, slots=True)
class StreamError:
    events: int
    step: "ScriptStep"
    kind: str = "overloaded_error"
    message: str = "injected fault"


ScriptStep = Reply | ScriptedTurn | HttpFault | GarbageAnswer | CutConnection | SlowStart | SlowStream | CutStream | StreamError


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """What the server does for a step of the script."""

    what: ScriptedTurn | HttpFault | GarbageAnswer | CutConnection
    before: float = 0.0
    between: float = 0.0
    cut: CutStream | None = None
    error: StreamError | None = None

    @property
    def events(self) -> int | None:
        """Events of the stream that are sent; all of them if that is not limited."""
        limits = [limit.events for limit in (self.cut, self.error) if limit]
        return min(limits) if limits else None


def answer_from_step(step: ScriptStep) -> ServerAnswer:
    match step:
        case SlowStart(seconds, inner):
            return replace(answer_from_step(inner), before=seconds)
        case SlowStream(seconds, inner):
            return replace(answer_from_step(inner), between=seconds)
        case CutStream():
            return replace(answer_from_step(step.step), cut=step)
        case StreamError():
            return replace(answer_from_step(step.step), error=step)
        case Reply():
            return ServerAnswer(ScriptedTurn(step))
        case _:
            return ServerAnswer(step)


EMPTY_REPLY = Reply()


def call_unknown_tool(name: str = "no_such_tool") -> Reply:
    return Reply("", (Action(name, {"really": True}),))


def call_with_long_arguments(size: int = 10_000_000, tool: str = "read", argument: str = "path") -> Reply:
    return Reply("", (Action(tool, {argument: "x" * size}),))


def report_usage(reply: Reply, **usage: Any) -> ScriptedTurn:
    return ScriptedTurn(reply, changes={"usage": usage or None})


def make_retry_headers(
    seconds: float | None = None, milliseconds: float | None = None, date: float | None = None
) -> Mapping[str, str]:
    """Headers that ask to wait; `date`: seconds from now."""
    if milliseconds is not None:
        return {"retry-after-ms": f"{milliseconds:g}"}
    return {"retry-after": f"{seconds:g}" if date is None else formatdate(time() + date, usegmt=True)}
