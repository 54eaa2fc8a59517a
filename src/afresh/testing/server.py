"""A provider on the loopback: speaks Anthropic messages and OpenAI chat completions, plays a script, injects faults.

with ModelServer([Fault(429), Reply("hello")]) as server:
    …                                  # an SDK with base_url server.anthropic_url or server.openai_url
    server.received                    # what was asked, in order
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import TracebackType
from typing import Any

from afresh.domain.action import Reply
from afresh.testing import wire_anthropic, wire_openai
from afresh.testing.wire import Turn, Wire

QUICK = {"retry-after-ms": "5"}
"""Lets the SDKs retry at once, so that tests of retries are quick."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An answer that goes wrong: an HTTP error, a connection that is cut in the middle, or a body that is no JSON."""

    status: int = 200
    message: str = "injected fault"
    headers: Mapping[str, str] = field(default_factory=lambda: dict(QUICK))
    cut: bool = False
    body: str | None = None


@dataclass(frozen=True, slots=True)
class Slow:
    """The turn, after some seconds of silence."""

    seconds: float
    turn: Turn


@dataclass(frozen=True, slots=True)
class Received:
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


Step = Reply | Turn | Fault | Slow


class ModelServer:
    """Plays one step of the script for each HTTP request; past its end it answers with an error that says so.

    `count` makes the input tokens that are reported of the body that was asked; without it the script's own are.
    """

    def __init__(self, script: Sequence[Step], count: Callable[[Mapping[str, Any]], int] | None = None) -> None:
        self.script, self.received, self.count = tuple(script), list[Received](), count
        self._lock = Lock()
        self._http = _Loopback(("127.0.0.1", 0), _Exchange)
        self._http.play = self._play
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def anthropic_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def openai_url(self) -> str:
        return f"{self.anthropic_url}/v1"

    def __enter__(self) -> "ModelServer":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _play(self, received: Received) -> Step:
        with self._lock:
            self.received.append(received)
            number = len(self.received)
        if number > len(self.script):
            return Fault(400, f"the script is over: it has {len(self.script)} steps and this is request {number}")
        step = self.script[number - 1]
        return step if self.count is None else _reporting(step, self.count(received.body))


def _reporting(step: Step, tokens: int) -> Step:
    """The same step, with this number of input tokens in its usage."""
    if isinstance(step, Slow):
        return replace(step, turn=replace(step.turn, reply=_counted(step.turn.reply, tokens)))
    if isinstance(step, Turn):
        return replace(step, reply=_counted(step.reply, tokens))
    return step if isinstance(step, Fault) else _counted(step, tokens)


def _counted(reply: Reply, tokens: int) -> Reply:
    return replace(reply, usage=replace(reply.usage, input=tokens, cached=0))


class _Loopback(ThreadingHTTPServer):
    daemon_threads = True
    play: Callable[[Received], Step]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Silent: a client that hangs up first is part of the tests."""


class _Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Loopback  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        step = self.server.play(Received(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        if isinstance(step, Slow):
            time.sleep(step.seconds)
            step = step.turn
        if isinstance(step, Fault):
            self._fail(step)
        else:
            self._answer(step if isinstance(step, Turn) else Turn(step), body)

    def _answer(self, turn: Turn, asked: Mapping[str, Any]) -> None:
        spoken: dict[str, Wire] = {"/v1/messages": wire_anthropic, "/v1/chat/completions": wire_openai}
        path = self.path.partition("?")[0]
        if path not in spoken:
            return self._fail(Fault(404, f"there is nothing at {path}"))
        wire = spoken[path]
        body = wire.body(turn, str(asked.get("model", "")))
        if asked.get("stream"):
            return self._stream(wire.stream(body, turn))
        self._send(200, json.dumps(body), {})

    def _fail(self, fault: Fault) -> None:
        if fault.cut:
            return self._send_half()
        error = {"type": "error", "error": {"type": "injected", "code": None, "message": fault.message}}
        self._send(fault.status, json.dumps(error) if fault.body is None else fault.body, fault.headers)

    def _send(self, status: int, text: str, headers: Mapping[str, str]) -> None:
        raw = text.encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(raw)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def _send_half(self) -> None:
        """Promises more than it sends, and hangs up."""
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "1000")
        self.end_headers()
        self.wfile.write(b'{"id": "msg_')
        self.close_connection = True

    def _stream(self, events: Iterator[str]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            self.wfile.write(event.encode())
            self.wfile.flush()
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: what was asked is in `received`."""
