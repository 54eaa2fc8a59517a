"""Whatever a server sends, over either wire format, a call ends, in bounded memory and with a bounded bill.

Each kind of answer is played by a raw server that stops only when the client hangs up (or after minutes, which fails the test).
"""

import gzip
import itertools
import json
import select
import socket
import tracemalloc
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from threading import Thread
from typing import Any

import pytest

from afresh.core.action import Action
from afresh.core.reply import Reply, Thinking
from afresh.core.usage import Usage
from afresh.errors import AfreshError, NeedsPerson, TryAgain
from afresh.models.providers.anthropic_messages import AnthropicModel
from afresh.models.providers.connection import ProviderConnection
from afresh.models.providers.openai_chat import OpenAIModel
from support.model_contract import make_sample_request
from support.wire_formats import AnthropicWire, OpenAIWire, ScriptedTurn

RESERVE, HANG_SECONDS, MAX_PEAK_BYTES = 500, 300.0, 32_000_000
TIMEOUTS = {"slow": 0.5, "whole": 120.0}
"""Seconds for a call that the deadline must end, and for one that something else ends."""
READ = Action("read", {"path": "a.py"})
WIRES = {"anthropic": AnthropicWire(), "openai": OpenAIWire()}
OPEN = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"

Piece = bytes | str | float
"""What the server sends, or the seconds that it waits."""
Play = Callable[[str], Iterable[Piece]]


@dataclass(frozen=True, slots=True)
class Kind:
    """`ends`: what comes of it; `says`: in the words of the fault or the reply."""

    play: Play
    ends: str
    says: str = ""
    quick: bool = False


@dataclass(slots=True)
class RawServer:
    """Plays one answer to one request."""

    wire: str
    play: Play
    sent: int = 0
    played: str = ""
    """How the answer ended: "all of it", "the client hung up", "still playing"."""

    def serve(self, listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            read_request(connection)
            self.played = self.answer(connection)

    def answer(self, connection: socket.socket) -> str:
        waited = 0.0
        connection.settimeout(HANG_SECONDS)
        try:
            for piece in self.play(self.wire):
                if isinstance(piece, int | float):
                    waited += piece
                    if select.select([connection], [], [], piece)[0] and not connection.recv(1):
                        return "the client hung up"
                else:
                    self.sent += connection.send(piece.encode() if isinstance(piece, str) else piece)
                if waited > HANG_SECONDS:
                    return "still playing"
        except (ConnectionError, TimeoutError):
            return "the client hung up"
        return "all of it"


def read_request(connection: socket.socket) -> None:
    with connection.makefile("rb") as coming:
        size = 0
        while line := coming.readline().strip().lower():
            size = int(line.split(b":")[1]) if line.startswith(b"content-length") else size
        coming.read(size)


def events(wire: str, reply: Reply, **turn: Any) -> list[str]:
    played = ScriptedTurn(reply, **turn)
    return list(WIRES[wire].stream(WIRES[wire].body(played, "m"), played))


def reply_with(*actions: Action, thought: str = "look", **usage: Any) -> Play:
    reply = Reply(thought, actions, Usage(120, 30))
    return lambda wire: [OPEN, *events(wire, reply, **({"changes": {"usage": usage}} if usage else {}))]


def with_arguments(text: str) -> Play:
    return lambda wire: [OPEN, *events(wire, Reply("look", (READ,), Usage(120, 30)), arguments=text)]


def counted(**names: Any) -> Play:
    """A reply whose usage is nonsense in the words of both wire formats."""
    both = {"input_tokens": names["input"], "output_tokens": names["output"], "cache_read_input_tokens": names.get("cached", 0)}
    both |= {"prompt_tokens": names["input"], "completion_tokens": names["output"]}
    return reply_with(READ, **both, prompt_tokens_details={"cached_tokens": names.get("cached", 0)})


def begun(wire: str) -> list[Piece]:
    """A reply that has begun with a text."""
    whole = events(wire, Reply("look" * 2, (), Usage(120, 30)))
    return [OPEN, *whole[: 4 if wire == "anthropic" else 2]]


def delta(wire: str, text: str, kind: str = "text") -> str:
    if wire == "openai":
        held = {"text": {"content": text}, "thinking": {"reasoning": text}, "arguments": _call_delta(0, text)}[kind]
        return f"data: {json.dumps({'id': 'c', 'choices': [{'index': 0, 'delta': held}]})}\n\n"
    name = {"text": "text", "thinking": "thinking", "arguments": "partial_json"}[kind]
    made = {"type": f"{'input_json' if kind == 'arguments' else kind}_delta", name: text}
    return f"event: content_block_delta\ndata: {json.dumps({'type': 'content_block_delta', 'index': 0, 'delta': made})}\n\n"


def _call_delta(index: int, text: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "function": {"name": "edit" if not text else None, "arguments": text}}]}


def open_block(wire: str, kind: str) -> list[Piece]:
    """The beginning of a reply with one open block of this kind."""
    thinking = (Thinking("hm", "sig"),) if kind == "thinking" else ()
    reply = Reply("look" if kind == "text" else "", (READ,) if kind == "arguments" else (), Usage(120, 30), thinking=thinking)
    return [OPEN, *events(wire, reply)[: 3 if wire == "anthropic" else 2]]


def finished(wire: str) -> list[Piece]:
    """A reply with all but its last event."""
    whole = events(wire, Reply("look", (READ,), Usage(120, 30)))
    return [OPEN, *whole[: -1 if wire == "anthropic" else -2]]


def then(*first: Piece, again: Piece | tuple[Piece, ...]) -> Play:
    """What comes first, then the same for ever."""
    pieces = again if isinstance(again, tuple) else (again,)
    return lambda wire: itertools.chain(first, itertools.cycle(pieces))


def after(start: Callable[[str], list[Piece]], again: Callable[[str], Iterable[Piece]]) -> Play:
    return lambda wire: itertools.chain(start(wire), itertools.cycle(again(wire)))


def drip(text: str) -> tuple[Piece, ...]:
    return tuple(piece for character in text for piece in (character, 0.02))


def answer(status: str, body: str | bytes = b"", **headers: str) -> Play:
    raw = body.encode() if isinstance(body, str) else body
    lines = {"content-type": "application/json", "content-length": str(len(raw)), "connection": "close"}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return lambda wire: [f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + raw]


def bomb(head: bytes) -> Play:
    """600 MB in a gzip of 600 kB."""

    def play(wire: str) -> Iterator[Piece]:
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        yield head.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n")
        yield packer.compress(b"data: ")
        for _ in range(600):
            yield packer.compress(b"x" * 1_000_000)
        yield packer.flush()

    return play


def packed(wire: str) -> list[Piece]:
    text = "".join(events(wire, Reply("look", (READ,), Usage(120, 30))))
    return [OPEN.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n"), gzip.compress(text.encode())]


def unpacked(wire: str) -> list[Piece]:
    return [OPEN.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n"), *events(wire, Reply("look", (READ,)))]


def whole_body(wire: str) -> list[Piece]:
    turn = ScriptedTurn(Reply("look", (READ,), Usage(120, 30)))
    return list(answer("200 OK", json.dumps(WIRES[wire].body(turn, "m")))(wire))


def new_calls(wire: str) -> Iterator[Piece]:
    yield OPEN
    yield from events(wire, Reply("look"))[:1]
    for index in itertools.count():
        if wire == "openai":
            yield f"data: {json.dumps({'id': 'c', 'choices': [{'index': 0, 'delta': _call_delta(index, '')}]})}\n\n"
        else:
            block = {"type": "tool_use", "id": f"t{index}", "name": "read", "input": {}}
            start = {"type": "content_block_start", "index": index, "content_block": block}
            yield f"event: content_block_start\ndata: {json.dumps(start)}\n\n"


def unchunked(wire: str) -> list[Piece]:
    return [OPEN.replace(b"\r\n\r\n", b"\r\ntransfer-encoding: chunked\r\n\r\n"), "zz\r\nnot a chunk\r\n"]


def without_end(wire: str) -> list[Piece]:
    return [OPEN, *events(wire, Reply("look", (READ,)))[:-3]]


def of_text(text: str) -> Play:
    return reply_with(thought=text)


ERROR = '{"error": {"type": "invalid_request_error", "message": "no"}}'
SMALL_ERROR = "HTTP/1.1 500 No\r\ncontent-type: application/json\r\n\r\n"
KINDS = {
    # that never end by themselves
    "silence": Kind(then(again=1.0), "slow", quick=True),
    "a status line byte by byte": Kind(then(again=drip("HTTP/1.1 ")), "slow", quick=True),
    "headers byte by byte": Kind(then("HTTP/1.1 200 OK\r\n", again=drip("x-a: b\r\n")), "slow", quick=True),
    "headers for ever": Kind(then("HTTP/1.1 200 OK\r\n", again="x-a: b\r\n" * 100), "later"),
    "one header line for ever": Kind(then("HTTP/1.1 200 OK\r\nx-a: ", again="b" * 1_000), "later"),
    "informational answers for ever": Kind(then(again=("HTTP/1.1 100 Continue\r\n\r\n", 0.01)), "slow"),
    "silence after the headers": Kind(then(OPEN, again=1.0), "slow"),
    "comments, slowly": Kind(then(OPEN, again=(": ping\n\n", 0.05)), "slow", quick=True),
    "comments, fast": Kind(then(OPEN, again=": ping\n\n" * 100), "later", "bytes"),
    "blank lines": Kind(then(OPEN, again="\n" * 1_000), "later", "bytes"),
    "names of events without an end": Kind(then(OPEN, again="event: x\n" * 100), "later", "bytes"),
    "lines of one event without an end": Kind(then(OPEN, again="data: x\n" * 100), "later", "bytes"),
    "a line byte by byte": Kind(then(OPEN, "data: ", again=drip("x")), "slow", quick=True),
    "a line of 400 MB": Kind(then(OPEN, "data: ", again="x" * 50_000), "later", "bytes", quick=True),
    "a body byte by byte": Kind(then("HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n", again=drip("{")), "slow"),
    "a chunk's size byte by byte": Kind(then("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", again=drip("1")), "slow"),
    "text, then silence": Kind(after(begun, lambda wire: [1.0]), "paid", quick=True),
    "text, then comments": Kind(after(begun, lambda wire: [": ping\n\n", 0.05]), "paid"),
    "text, slowly": Kind(after(begun, lambda wire: [delta(wire, "a"), 0.05]), "paid", quick=True),
    "text, fast": Kind(after(begun, lambda wire: [delta(wire, "word " * 50)]), "cut", quick=True),
    "thinking, fast": Kind(
        after(lambda wire: open_block(wire, "thinking"), lambda wire: [delta(wire, "hm " * 50, "thinking")]), "cut"
    ),
    "arguments, fast": Kind(
        after(lambda wire: open_block(wire, "arguments"), lambda wire: [delta(wire, "xxxx" * 50, "arguments")]), "cut"
    ),
    "pieces without text": Kind(after(begun, lambda wire: [delta(wire, "")]), "paid", "bytes"),
    "one call after the other": Kind(new_calls, "paid", "bytes"),
    "chunks after the end, slowly": Kind(after(finished, lambda wire: [": ping\n\n", 0.05]), "over", quick=True),
    "chunks after the end, fast": Kind(after(finished, lambda wire: [": ping\n\n" * 100]), "over"),
    "a redirect to itself": Kind(answer("307 Again", location="/v1/messages"), "person", "307"),
    "a redirect to a file": Kind(answer("302 There", location="file:///etc/passwd"), "person", "302"),
    "an error byte by byte": Kind(then("HTTP/1.1 400 No\r\ncontent-type: application/json\r\n\r\n", again=drip("{")), "slow"),
    "an error for ever": Kind(then(SMALL_ERROR, again="x" * 10_000), "later", "bytes"),
    "600 MB in a gzip": Kind(bomb(OPEN), "later", "bytes", quick=True),
    "an error of 600 MB in a gzip": Kind(bomb(SMALL_ERROR.encode()), "later", "bytes"),
    "5 MB for a file": Kind(reply_with(Action("edit", {"path": "a.py", "new": "x" * 5_000_000})), "paid", "bytes", quick=True),
    # that are no answer
    "nothing": Kind(lambda wire: [], "later"),
    "no HTTP": Kind(lambda wire: ["\x00\xff SSH-2.0\r\n\r\n"], "later"),
    "a page": Kind(answer("200 OK", "<html>log in</html>", content_type="text/html"), "later"),
    "an empty body": Kind(answer("200 OK"), "later"),
    "an answer that is not streamed": Kind(whole_body, "later"),
    "an error with the status of a success": Kind(answer("200 OK", ERROR), "later"),
    "an error event": Kind(lambda wire: [OPEN, WIRES[wire].error_event("overloaded_error", "busy")], "later", "busy"),
    "broken chunks": Kind(unchunked, "later"),
    "less than its length": Kind(lambda wire: ["HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\ndata: {"], "later"),
    "packed that is not": Kind(unpacked, "later"),
    "an event that is no JSON": Kind(lambda wire: [OPEN, "event: message_start\ndata: {nonsense\n\n"], "later"),
    "JSON of 100,000 brackets": Kind(lambda wire: [OPEN, f"event: message_start\ndata: {'[' * 100_000}\n\n"], "later"),
    "no end": Kind(without_end, "paid"),
    "to wait for ever": Kind(answer("429 Busy", ERROR, retry_after="1e999"), "later", "429"),
    "to wait less than nothing": Kind(answer("429 Busy", ERROR, retry_after="-5"), "later", "429"),
    "to wait nan": Kind(answer("429 Busy", ERROR, retry_after="nan"), "later", "429"),
    "a wrong key": Kind(answer("401 No", ERROR), "person", "401"),
    # that are odd
    "packed": Kind(packed, "reply"),
    "a usage below zero": Kind(counted(input=-5, output=-1), "reply"),
    "a usage of 10^30": Kind(counted(input=10**30, output=10**30), "reply"),
    "a usage with a point": Kind(counted(input=1.5, output=2.5), "reply"),
    "a usage that is a list": Kind(counted(input=[1], output=[2]), "reply"),
    "more from the cache than sent": Kind(counted(input=5, output=5, cached=10**6), "reply"),
    "arguments of 9,000 brackets": Kind(with_arguments("[" * 9_000), "reply", "not a JSON object"),
    "a number of 6,000 digits": Kind(with_arguments(f'{{"path": {"9" * 6_000}}}'), "reply"),
    "not a number": Kind(with_arguments('{"path": NaN}'), "reply"),
    "half a surrogate pair": Kind(with_arguments('{"path": "\\ud800"}'), "reply"),
    "a NUL": Kind(with_arguments('{"path": "a\\u0000b"}'), "reply"),
    "500 calls": Kind(reply_with(*[READ] * 500), "reply"),
    "words of victory": Kind(of_text("All tests pass. Verified: yes"), "reply", "All tests pass"),
    "control characters": Kind(of_text("\x1b]0;owned\x07\x9b31m"), "reply"),
}  # fmt: skip
QUICK = [name for name, kind in KINDS.items() if kind.quick]
CAME = {
    "slow": lambda came: isinstance(came, TryAgain) and came.usage is None,
    "later": lambda came: isinstance(came, TryAgain) and came.usage is None,
    "paid": lambda came: isinstance(came, TryAgain) and came.usage is not None,
    "person": lambda came: isinstance(came, NeedsPerson),
    "cut": lambda came: isinstance(came, Reply) and came.cramped,
    "reply": lambda came: isinstance(came, Reply) and not came.cramped,
    "over": lambda came: (isinstance(came, Reply) and came.actions == (READ,)) or (isinstance(came, TryAgain) and came.usage),
}


def ask(wire: str, kind: Kind) -> tuple[Reply | AfreshError, RawServer, int]:
    """What comes of the call, how it was played, and the most memory that it took."""
    server = RawServer(wire, kind.play)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        (playing := Thread(target=server.serve, args=[listening], daemon=True)).start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}{'/v1' if wire == 'openai' else ''}"
        timeout = TIMEOUTS["slow" if kind.ends in ("slow", "paid", "over") and not kind.says else "whole"]
        connection = ProviderConnection(key="k", base_url=address, timeout=timeout, retries=0)
        model = OpenAIModel("m", connection) if wire == "openai" else AnthropicModel("m", connection)
        if kind.says == "bytes" or kind.ends == "cut":
            tracemalloc.start()
        try:
            came = model.propose(make_sample_request(reserve=RESERVE))
        except AfreshError as fault:
            came = fault
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        playing.join()
    return came, server, peak


@pytest.fixture(scope="module", autouse=True)
def sdks() -> None:
    """Imported before the memory is measured."""
    for wire in WIRES:
        ask(wire, KINDS["words of victory"])


def check_call(wire: str, name: str) -> None:
    kind = KINDS[name]
    came, server, peak = ask(wire, kind)
    assert CAME[kind.ends](came), repr(came)[:600]
    assert kind.says in (str(came) if isinstance(came, AfreshError) else repr(came)), repr(came)[:600]
    assert server.played in ("all of it", "the client hung up") and server.sent + (name in ("silence", "nothing")), server
    assert peak < MAX_PEAK_BYTES, f"{peak:,} bytes"
    if isinstance(came, Reply | TryAgain) and came.usage:
        assert came.usage.output <= RESERVE, came.usage


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", QUICK)
def test_a_call_ends_whatever_the_server_sends(name: str, wire: str) -> None:
    check_call(wire, name)


@pytest.mark.torture
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", [name for name in KINDS if name not in QUICK])
def test_a_call_ends_whatever_else_the_server_sends(name: str, wire: str) -> None:
    check_call(wire, name)
