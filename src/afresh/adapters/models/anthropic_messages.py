"""Claude through the official SDK: native tool use, streamed, with thinking and prompt caching."""

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from afresh.adapters.models.anthropic_body import make_anthropic_body
from afresh.adapters.models.anthropic_families import TOOL_PROMPT_TOKENS, find_claude_family, normalize_claude_name
from afresh.adapters.models.anthropic_stream import StreamedMessage, reply_from_message, reply_from_text_message
from afresh.adapters.models.provider import (
    PLACEHOLDER_KEY,
    ProviderConnection,
    Provider,
    error_from_broken_stream,
    error_from_sdk_error,
    finish_reply,
    read_answer,
    find_by_longest_prefix,
)
from afresh.adapters.models.retry import retry_call
from afresh.adapters.models.spoken import put_tools_in_text
from afresh.domain.action import Reply
from afresh.domain.window import Request
from afresh.errors import AfreshError, TryAgain
from afresh.ports import ReplyListener, ignore_piece

ANTHROPIC = Provider("Anthropic", "anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")
MESSAGE_FRAMING_TOKENS = 14
"""Tokens around the system text and the message, roughly."""
COUNT_TIMEOUT_SECONDS = 10.0
CONNECT_TIMEOUT_SECONDS = 10.0
"""Seconds. A count is a help, and not worth a longer wait."""


def find_claude_window(model: str) -> int:
    return find_claude_family(model).window


def count_claude_framing(model: str, tools: bool = True) -> int:
    return MESSAGE_FRAMING_TOKENS + (
        find_by_longest_prefix(normalize_claude_name(model), TOOL_PROMPT_TOKENS, TOOL_PROMPT_TOKENS["claude-"]) if tools else 0
    )


class AnthropicModel:
    """`thinks`, `tools`: false if the user has said that it can't or shall not, whatever a task would like. Without tools it is
    told of them in words, and its actions are read from its text."""

    def __init__(self, model: str, connection: ProviderConnection, thinks: bool = True, tools: bool = True) -> None:
        self.model, self.connection, self.thinks, self.tools = model, connection, thinks, tools
        self.name = f"anthropic:{model}"
        self.window = connection.window or find_claude_window(model)

    def propose(self, request: Request, hear: ReplyListener = ignore_piece) -> Reply:
        return retry_call(lambda: self._once(request, hear), hear, self.connection.retries, self.connection.sleep)

    def weigh(self, request: Request) -> int:
        try:
            client = self._client.with_options(timeout=min(COUNT_TIMEOUT_SECONDS, self.connection.timeout))
            return max(int(client.messages.count_tokens(**make_anthropic_body(self.model, self._told(request))).input_tokens), 0)
        except Exception:
            return 0

    def _once(self, request: Request, hear: ReplyListener) -> Reply:
        incoming, spoken = StreamedMessage(), bool(request.tools) and not self.tools
        for piece in self._pieces(request, incoming):
            if piece:
                hear(piece)
        reply, cut = read_answer(reply_from_text_message if spoken else reply_from_message, incoming, ANTHROPIC)
        return finish_reply(reply, cut, request, self.connection)

    def _pieces(self, request: Request, incoming: StreamedMessage) -> Iterator[str]:
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
        return make_anthropic_body(self.model, told) | {"max_tokens": told.reserve}

    def _told(self, request: Request) -> Request:
        """As this model can be asked."""
        told = request if self.thinks else replace(request, thinking=0)
        if not told.tools or self.tools:
            return told
        return put_tools_in_text(told, self.connection.count)

    def _fault(self, error: Exception, request: Request, incoming: StreamedMessage) -> AfreshError:
        """What has begun has cost something: its input, and what was said of the reply."""
        fault = error_from_sdk_error(error, ANTHROPIC, self.connection)
        if not incoming.counts or not isinstance(fault, TryAgain):
            return fault
        known, count = incoming.usage, self.connection.count
        spent = replace(known, input=known.input or count(request.text), output=max(known.output, count(incoming.text)))
        return error_from_broken_stream(error, ANTHROPIC, self.connection, spent)

    @cached_property
    def _client(self) -> Any:
        import anthropic

        return anthropic.Anthropic(
            api_key=self.connection.key or PLACEHOLDER_KEY,
            base_url=self.connection.base_url or None,
            timeout=anthropic.Timeout(self.connection.timeout, connect=min(CONNECT_TIMEOUT_SECONDS, self.connection.timeout)),
            max_retries=0,
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False),  # a key goes nowhere else on a server's word
        )
