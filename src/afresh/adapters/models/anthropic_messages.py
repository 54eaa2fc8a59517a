"""Claude through the official SDK: native tool use, streamed, with thinking and prompt caching."""

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from afresh.adapters.models.anthropic_body import body
from afresh.adapters.models.anthropic_families import TOOL_PROMPTS, family, plain
from afresh.adapters.models.anthropic_stream import Incoming, reply_of, spoken_reply_of
from afresh.adapters.models.provider import (
    NO_KEY,
    Connection,
    Provider,
    broken_off,
    explain,
    finished,
    understood,
    window_of,
)
from afresh.adapters.models.retry import persistently
from afresh.adapters.models.spoken import in_words
from afresh.domain.action import Reply
from afresh.domain.window import Request
from afresh.errors import AfreshError, TryAgain
from afresh.ports import Hear, unheard

ANTHROPIC = Provider("Anthropic", "anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")
MESSAGES = 14
"""Tokens around the system text and the message, roughly."""
COUNTING = 10.0
CONNECTING = 10.0
"""Seconds. A count is a help, and not worth a longer wait."""


def window(model: str) -> int:
    return family(model).window


def framing(model: str, tools: bool = True) -> int:
    return MESSAGES + (window_of(plain(model), TOOL_PROMPTS, TOOL_PROMPTS["claude-"]) if tools else 0)


class AnthropicModel:
    """`thinks`, `tools`: false if the user has said that it can't or shall not, whatever a task would like. Without tools it is
    told of them in words, and its actions are read from its text."""

    def __init__(self, model: str, connection: Connection, thinks: bool = True, tools: bool = True) -> None:
        self.model, self.connection, self.thinks, self.tools = model, connection, thinks, tools
        self.name = f"anthropic:{model}"
        self.window = connection.window or window(model)

    def propose(self, request: Request, hear: Hear = unheard) -> Reply:
        return persistently(lambda: self._once(request, hear), hear, self.connection.retries, self.connection.sleep)

    def weigh(self, request: Request) -> int:
        try:
            client = self._client.with_options(timeout=min(COUNTING, self.connection.timeout))
            return max(int(client.messages.count_tokens(**body(self.model, self._told(request))).input_tokens), 0)
        except Exception:
            return 0

    def _once(self, request: Request, hear: Hear) -> Reply:
        incoming, spoken = Incoming(), bool(request.tools) and not self.tools
        for piece in self._pieces(request, incoming):
            if piece:
                hear(piece)
        reply, cut = understood(spoken_reply_of if spoken else reply_of, incoming, ANTHROPIC)
        return finished(reply, cut, request, self.connection)

    def _pieces(self, request: Request, incoming: Incoming) -> Iterator[str]:
        """Reads the message to its end. The SDK wraps what goes wrong before a stream begins, and little of what does after."""
        asked, client = self._asked(request), self._client
        until = time.monotonic() + self.connection.timeout
        try:
            with client.messages.create(**asked, stream=True) as stream:
                for event in stream:
                    yield incoming.take(event)
                    if incoming.whole:
                        return
                    if time.monotonic() > until:
                        raise TimeoutError(f"it took longer than {self.connection.timeout:g} s")
            raise EOFError("the stream ended too early")
        except Exception as error:
            raise self._fault(error, request, incoming) from None

    def _asked(self, request: Request) -> dict[str, Any]:
        told = self._told(request)
        return body(self.model, told) | {"max_tokens": told.reserve}

    def _told(self, request: Request) -> Request:
        """As this model can be asked."""
        told = request if self.thinks else replace(request, thinking=0)
        if not told.tools or self.tools:
            return told
        return in_words(told, self.connection.count)

    def _fault(self, error: Exception, request: Request, incoming: Incoming) -> AfreshError:
        """What has begun has cost something: its input, and what was said of the reply."""
        fault = explain(error, ANTHROPIC, self.connection)
        if not incoming.counts or not isinstance(fault, TryAgain):
            return fault
        known, count = incoming.usage, self.connection.count
        spent = replace(known, input=known.input or count(request.text), output=max(known.output, count(incoming.text)))
        return broken_off(error, ANTHROPIC, self.connection, spent)

    @cached_property
    def _client(self) -> Any:
        import anthropic

        return anthropic.Anthropic(
            api_key=self.connection.key or NO_KEY,
            base_url=self.connection.base_url or None,
            timeout=anthropic.Timeout(self.connection.timeout, connect=min(CONNECTING, self.connection.timeout)),
            max_retries=0,
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False),  # a key goes nowhere else on a server's word
        )
