"""Claude through the official SDK: one user message, native tool use."""

from functools import cached_property
from typing import Any

from afresh.adapters.models.provider import (
    NO_KEY,
    Connection,
    Provider,
    call,
    explain,
    finished,
    tokens,
    understood,
    window_of,
)
from afresh.adapters.models.replies import storable
from afresh.adapters.models.retry import persistently
from afresh.domain.action import Reply, Usage
from afresh.domain.window import Request
from afresh.ports import Hear, unheard

ANTHROPIC = Provider("Anthropic", "anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")
WINDOWS = {"claude-": 200_000, "claude-instant-1.1": 100_000, "claude-2.0": 100_000}
CUT = ("max_tokens", "model_context_window_exceeded")


MESSAGES = 14
"""Tokens around the system text and the message, roughly."""
TOOL_PROMPTS = {"claude-": 346, "claude-3-opus": 530, "claude-3-sonnet": 159, "claude-3-haiku": 264, "claude-3-5-haiku": 264}
"""A system text of the provider's own that comes with any tools; its length is published for each model."""


def window(model: str) -> int:
    return window_of(model, WINDOWS, 200_000)


def framing(model: str) -> int:
    return MESSAGES + window_of(model, TOOL_PROMPTS, 346)


class AnthropicModel:
    def __init__(self, model: str, connection: Connection) -> None:
        self.model, self.connection = model, connection
        self.name = f"anthropic:{model}"
        self.window = connection.window or window(model)

    def propose(self, request: Request, hear: Hear = unheard) -> Reply:
        return persistently(lambda: self._once(request), hear, self.connection.retries, self.connection.sleep)

    def _once(self, request: Request) -> Reply:
        import anthropic

        try:
            message = self._client.messages.create(**payload(self.model, request))
        except (anthropic.AnthropicError, ValueError) as error:
            raise explain(error, ANTHROPIC, self.connection) from None
        reply, cut = understood(reply_of, message, ANTHROPIC)
        return finished(reply, cut, request, self.connection)

    def weigh(self, request: Request) -> int:
        return 0

    @cached_property
    def _client(self) -> Any:
        import anthropic

        return anthropic.Anthropic(
            api_key=self.connection.key or NO_KEY,
            base_url=self.connection.base_url or None,
            timeout=self.connection.timeout,
            max_retries=0,
        )


def payload(model: str, request: Request) -> dict[str, Any]:
    """The mark on the system text makes the provider cache it together with the tools, which come before it."""
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": request.reserve,
        "messages": [{"role": "user", "content": request.message}],
    }
    if request.system:
        body["system"] = [{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}]
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)} for tool in request.tools
        ]
    return body


def reply_of(message: Any) -> tuple[Reply, bool]:
    """The reply, and whether it was cut at its limit."""
    texts = [block.text for block in message.content if block.type == "text" and block.text]
    if message.stop_reason == "refusal":
        texts.append("[The provider declined to let the model answer.]")
    calls = [block for block in message.content if block.type == "tool_use"]
    actions = tuple(call(block.name, storable(block.input), str(block.input)) for block in calls)
    named = f"anthropic:{message.model}"
    return Reply(storable("\n".join(texts)), actions, _usage(message.usage), named), message.stop_reason in CUT


def _usage(counted: Any) -> Usage:
    """Anthropic counts what was read from and written to its cache apart from the input."""
    if counted is None:
        return Usage()
    cached = tokens(counted.cache_read_input_tokens)
    sent = tokens(counted.input_tokens, counted.cache_creation_input_tokens) + cached
    return Usage(sent, tokens(counted.output_tokens), cached)
