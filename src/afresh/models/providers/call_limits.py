"""What one request to a server may take, whatever the server sends: seconds, which a timer counts, and bytes."""

import json
import socket
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from threading import Timer
from typing import Any

from httpx2 import Client, Limits, ReadTimeout, Request, Response, SyncByteStream

MAX_LISTING_BYTES = 4_000_000
MAX_HEAD_BYTES, MAX_BYTES_PER_TOKEN = 1_000_000, 2_000
"""More than any server needs to wrap a token that it streams."""
CHECK_BYTES = 4_096
"""As much is given to the SDK at once: its work for some bytes may grow with all that came before."""
GZIP_HEADER_BITS = 31


class CallDeadline:
    """Shuts the socket of a request when its time is over. httpx tells it of each thing that it does (its extension `trace`)."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.over = seconds, False
        self.socket: socket.socket | None = None
        self.timer = Timer(seconds, self.end_call)
        self.timer.daemon = True
        self.timer.start()

    def __call__(self, event: str, values: Mapping[str, Any]) -> None:
        if find_extra := getattr(values.get("return_value"), "get_extra_info", None):
            self.socket = find_extra("socket")
            self.check()
        elif isinstance(values.get("exception"), Exception):
            self.timer.cancel()
            self.check()
        elif event.endswith("response_closed.complete"):
            self.timer.cancel()

    def end_call(self) -> None:
        """A thread that waits for the socket gets an error. Another thread may shut only the plain part of an encrypted one."""
        self.over = True
        if self.socket:
            with suppress(OSError):
                socket.socket.shutdown(self.socket, socket.SHUT_RDWR)

    def check(self) -> None:
        if self.over:
            raise ReadTimeout(f"the answer was not complete after {self.seconds:g} s")


class LimitedAnswer(SyncByteStream):
    """The body of an answer, unpacked, up to its limits."""

    def __init__(self, response: Response) -> None:
        self.body: Any = response.stream
        self.deadline: CallDeadline = response.request.extensions["trace"]
        self.limit = find_byte_limit(response.request.content)
        self.packed = response.headers.pop("content-encoding", "") == "gzip"

    def __iter__(self) -> Iterator[bytes]:
        unpacker, left = zlib.decompressobj(GZIP_HEADER_BITS) if self.packed else None, self.limit
        for piece in self.body:
            held = unpacker.decompress(piece, left + 1) if unpacker else piece
            left -= len(held)
            if left < 0:
                raise ValueError(f"it sent more than {self.limit:,} bytes")
            for start in range(0, len(held), CHECK_BYTES):
                self.deadline.check()
                yield held[start : start + CHECK_BYTES]
        self.deadline.check()

    def close(self) -> None:
        self.body.close()


def find_byte_limit(body: bytes) -> int:
    """The most bytes of an answer, from the tokens that the request leaves for the reply."""
    asked = json.loads(body or b"{}")
    tokens = asked.get("max_tokens") or asked.get("max_completion_tokens")
    return MAX_HEAD_BYTES + MAX_BYTES_PER_TOKEN * tokens if tokens else MAX_LISTING_BYTES


def make_limited_client() -> Client:
    """A client that follows no redirect (a key goes nowhere else because a server says so). Each request has a connection of its
    own, which its deadline can shut."""
    return Client(
        follow_redirects=False,
        limits=Limits(max_keepalive_connections=0),
        headers={"accept-encoding": "gzip"},
        event_hooks={"request": [_set_deadline], "response": [_limit_answer]},
    )


def _set_deadline(request: Request) -> None:
    request.extensions["trace"] = CallDeadline(request.extensions["timeout"]["read"])


def _limit_answer(response: Response) -> None:
    response.stream = LimitedAnswer(response)
