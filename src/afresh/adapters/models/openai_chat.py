"""OpenAI, and the many servers that speak its chat completions, through the official SDK: native tool use."""

import json
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from afresh.adapters.models.flavours import OPENAI, Flavour
from afresh.adapters.models.provider import (
    NO_KEY,
    Connection,
    call,
    explain,
    finished,
    no_patience_for_long_waits,
    tokens,
    understood,
    window_of,
)
from afresh.adapters.models.replies import storable
from afresh.domain.action import Action, Reply, Usage
from afresh.domain.window import Request
from afresh.ports import Hear, unheard

WINDOWS = {"gpt-5": 272_000, "gpt-4.1": 1_000_000, "gpt-4o": 128_000, "gpt-4": 8_192, "gpt-4-turbo": 128_000, "gpt-3.5": 16_385}
WINDOWS |= {"o1": 200_000, "o3": 200_000, "o4": 200_000}


FRAMING = 12
"""Tokens around two messages and before the reply. Tools are turned into declarations that are shorter than their JSON, so that
our count of the JSON covers what is put around them."""


def window(model: str, flavour: Flavour = OPENAI) -> int:
    """What may be sent where that is published apart (gpt-5: 272,000 of 400,000), otherwise all that the model can take."""
    return window_of(model, WINDOWS, flavour.window)


class OpenAIModel:
    def __init__(self, model: str, connection: Connection, flavour: Flavour = OPENAI) -> None:
        self.model, self.connection, self.flavour = model, connection, flavour
        self.name = f"{flavour.name}:{model}"
        self.window = connection.window or window(model)

    def propose(self, request: Request, hear: Hear = unheard) -> Reply:
        import openai

        try:
            completion = self._client.chat.completions.create(**payload(self.model, request, self.connection.base_url))
        except (openai.OpenAIError, ValueError) as error:
            raise explain(error, OPENAI.provider, self.connection) from None
        reply, cut = understood(reply_of, completion, OPENAI.provider)
        return finished(reply, cut, request, self.connection)

    def weigh(self, request: Request) -> int:
        return 0

    @cached_property
    def _client(self) -> Any:
        import openai

        return openai.OpenAI(
            api_key=self.connection.key or NO_KEY,
            base_url=self.connection.base_url or None,
            timeout=self.connection.timeout,
            max_retries=self.connection.retries,
            http_client=openai.DefaultHttpxClient(event_hooks={"response": [no_patience_for_long_waits]}),
        )


def payload(model: str, request: Request, base_url: str) -> dict[str, Any]:
    """OpenAI itself wants the limit under its new name, many other servers know only the old one."""
    host = urlsplit(base_url).hostname or "api.openai.com"
    own = host.endswith((".openai.com", ".openai.azure.com"))
    body: dict[str, Any] = {"model": model, "max_completion_tokens" if own else "max_tokens": request.reserve}
    system = [{"role": "system", "content": request.system}] if request.system else []
    body["messages"] = [*system, {"role": "user", "content": request.message}]
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
            }
            for tool in request.tools
        ]
    return body


def reply_of(completion: Any) -> tuple[Reply, bool]:
    """The reply, and whether it was cut at its limit."""
    choice = completion.choices[0]
    message = choice.message
    thought = storable("\n".join(text for text in (message.content, getattr(message, "refusal", None)) if text))
    actions = tuple(_action(held.function) for held in message.tool_calls or () if getattr(held, "function", None))
    named = f"openai:{completion.model}"
    return Reply(thought, actions, _usage(completion.usage), named), choice.finish_reason == "length"


def _usage(counted: Any) -> Usage:
    if counted is None:
        return Usage()
    sent, details = tokens(counted.prompt_tokens), counted.prompt_tokens_details
    cached = tokens(details.cached_tokens) if details else 0
    return Usage(sent, tokens(counted.completion_tokens), min(cached, sent))


def _action(function: Any) -> Action:
    raw = storable(function.arguments or "{}")
    try:
        return call(function.name, storable(json.loads(raw)), raw)
    except (ValueError, RecursionError):
        return call(function.name, None, raw)
