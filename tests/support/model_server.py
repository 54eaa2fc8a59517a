"""A provider on the loopback: speaks Anthropic messages and OpenAI chat completions, plays a script, injects faults.

with ModelServer([HttpFault(429), Reply("hello")]) as server:
    …                                  # an SDK with base_url server.anthropic_url or server.openai_url
    server.received                    # what was asked, in order

A script has one step for each call: a reply, a `ScriptedTurn`, or one of the faults of `support.provider_faults`.
Questions that cost nothing (how many tokens, which models) take no step; they are kept in `server.asides`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from threading import Event, Lock, Thread
from types import MappingProxyType, TracebackType
from typing import Any

from support.provider_faults import CutConnection, GarbageAnswer, HttpFault, ScriptStep, ServerAnswer, answer_from_step
from support.wire_formats import AnthropicWire, OpenAIWire, ScriptedTurn, WireBody, WireFormat

ANTHROPIC_WIRE = AnthropicWire()
OPENAI_WIRE = OpenAIWire()
WIRE_OF_PATH: dict[str, WireFormat] = {"/v1/messages": ANTHROPIC_WIRE, "/v1/chat/completions": OPENAI_WIRE}


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def wire(self) -> WireFormat:
        return WIRE_OF_PATH.get(self.path) or (ANTHROPIC_WIRE if "anthropic-version" in self.headers else OPENAI_WIRE)


class ModelServer:
    """Plays one step of the script for each call; past its end it answers with an error that says so.

    `count` makes the input tokens that are reported of the body that was asked; without it the script's own are. `aside` is a
    fault for all questions that cost nothing; `loaded` the context of each model, as Ollama tells it.
    """

    def __init__(
        self,
        script: Sequence[ScriptStep],
        count: Callable[[Mapping[str, Any]], int] | None = None,
        models: tuple[str, ...] = ("loopback",),
        aside: HttpFault | None = None,
        loaded: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self.script, self.count, self.models, self.aside, self.loaded = tuple(script), count, models, aside, loaded
        self.received, self.asides = list[ReceivedRequest](), list[ReceivedRequest]()
        self._lock = Lock()
        self._http = _LoopbackServer(("127.0.0.1", 0), _RequestExchange)
        self._http.played, self._http.answered = self._played, self._answered
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
        self._http.over.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _played(self, received: ReceivedRequest) -> ServerAnswer:
        with self._lock:
            self.received.append(received)
            number = len(self.received)
        if number > len(self.script):
            return ServerAnswer(
                HttpFault(400, f"the script is over: it has {len(self.script)} steps and this is request {number}")
            )
        play = answer_from_step(self.script[number - 1])
        if self.count is None or not isinstance(play.what, ScriptedTurn):
            return play
        usage = replace(play.what.reply.usage, input=self.count(received.body), cached=0, written=0)
        return replace(play, what=replace(play.what, reply=replace(play.what.reply, usage=usage)))

    def _answered(self, received: ReceivedRequest) -> WireBody | HttpFault:
        """What costs nothing: how many tokens a request has, and which models there are."""
        with self._lock:
            self.asides.append(received)
        if self.aside:
            return self.aside
        if received.path == "/v1/messages/count_tokens":
            tokens = self.count(received.body) if self.count else len(json.dumps(received.body)) // 4
            return ANTHROPIC_WIRE.make_token_count(tokens)
        if received.path == "/v1/models":
            listed = received.wire.listing(self.models)
            told = [{"max_model_len": self.loaded[one["id"]]} if one["id"] in self.loaded else {} for one in listed["data"]]
            return listed | {"data": [one | more for one, more in zip(listed["data"], told, strict=True)]}
        if received.path == "/api/ps" and self.loaded:
            return {"models": [{"name": name, "context_length": tokens} for name, tokens in self.loaded.items()]}
        return HttpFault(404, f"there is nothing at {received.path}")


class _LoopbackServer(ThreadingHTTPServer):
    daemon_threads = True
    played: Callable[[ReceivedRequest], ServerAnswer]
    answered: Callable[[ReceivedRequest], WireBody | HttpFault]

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.over = Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Silent: a client that hangs up first is part of the tests."""


class _RequestExchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _LoopbackServer  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        self._receive({})

    def do_POST(self) -> None:
        self._receive(json.loads(self.rfile.read(int(self.headers.get("content-length", 0)))))

    def _receive(self, body: Mapping[str, Any]) -> None:
        path = self.path.partition("?")[0]
        received = ReceivedRequest(path, {name.lower(): value for name, value in self.headers.items()}, body)
        if path in WIRE_OF_PATH:
            return self._play(self.server.played(received), received)
        answer = self.server.answered(received)
        if isinstance(answer, HttpFault):
            return self._fail(answer, received.wire)
        self._send(200, json.dumps(answer))

    def _play(self, play: ServerAnswer, received: ReceivedRequest) -> None:
        self.server.over.wait(play.before)
        match play.what:
            case HttpFault() as fault:
                self._fail(fault, received.wire)
            case GarbageAnswer(text, content_type):
                self._send(200, text, {"content-type": content_type})
            case CutConnection():
                self._send_half('{"id": "msg_1"}')
            case turn:
                self._answer(turn, play, received)

    def _answer(self, turn: ScriptedTurn, play: ServerAnswer, received: ReceivedRequest) -> None:
        body = received.wire.body(turn, str(received.body.get("model", "")))
        if received.body.get("stream"):
            return self._stream(received.wire.stream(body, turn), play, received.wire)
        if play.events is not None:
            return self._send_half(json.dumps(body))
        self._send(200, json.dumps(body))

    def _fail(self, fault: HttpFault, wire: WireFormat) -> None:
        self._send(fault.status, json.dumps(wire.error(fault.kind, fault.message)), fault.headers)

    def _send(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        raw = text.encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", "content-length": str(len(raw)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def _send_half(self, text: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text.encode()) + 1_000))
        self.end_headers()
        self.wfile.write(text.encode()[: len(text) // 2])
        self.close_connection = True

    def _stream(self, events: Iterator[str], play: ServerAnswer, wire: WireFormat) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in islice(events, play.events):
            self.server.over.wait(play.between)
            self._chunk(event)
        if play.error:
            self._chunk(wire.error_event(play.error.kind, play.error.message))
        if play.cut is None or play.cut.politely:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def _chunk(self, text: str) -> None:
        raw = text.encode()
        self.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: what was asked is in `received`."""
