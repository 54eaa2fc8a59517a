"""OpenAI, and the many servers that speak its chat completions, through the official SDK: native tool use."""

import json
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from afresh.adapters.models.provider import (
    NO_KEY,
    Connection,
    Provider,
    call,
    explain,
    finished,
    no_patience_for_long_waits,
    tokens,
    usage,
    window_of,
)
from afresh.adapters.models.replies import storable
from afresh.domain.action import Action, Reply
from afresh.domain.window import Request
from afresh.errors import TryAgain

OPENAI = Provider("OpenAI", "openai", "OPENAI_API_KEY", "OPENAI_BASE_URL")
WINDOWS = {"gpt-5": 272_000, "gpt-4.1": 1_000_000, "gpt-4o": 128_000, "gpt-4": 8_192, "gpt-4-turbo": 128_000, "gpt-3.5": 16_385}
WINDOWS |= {"o1": 200_000, "o3": 200_000, "o4": 200_000}


class OpenAIModel:
    def __init__(self, model: str, connection: Connection) -> None:
        self.model, self.connection = model, connection
        self.name = f"openai:{model}"
        self.window = connection.window or window_of(model, WINDOWS, 128_000)

    def propose(self, request: Request) -> Reply:
        import openai
        from openai.types.chat import ChatCompletion

        try:
            completion = self._client.chat.completions.create(**payload(self.model, request, self.connection.base_url))
        except (openai.OpenAIError, ValueError) as error:
            raise explain(error, OPENAI, self.connection) from None
        if not isinstance(completion, ChatCompletion) or not completion.choices:
            raise TryAgain("the server's answer holds no message")
        cut = completion.choices[0].finish_reason == "length"
        return finished(reply_of(completion), cut, request, self.connection.count, self.name)

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


def reply_of(completion: Any) -> Reply:
    message = completion.choices[0].message
    thought = storable("\n".join(text for text in (message.content, getattr(message, "refusal", None)) if text))
    actions = tuple(_action(held.function) for held in message.tool_calls or () if getattr(held, "function", None))
    named = f"openai:{completion.model}" if completion.model else ""
    counted = completion.usage
    if counted is None:
        return Reply(thought, actions, model=named)
    details = counted.prompt_tokens_details
    cached = tokens(details.cached_tokens) if details else 0
    return Reply(thought, actions, usage(tokens(counted.prompt_tokens), tokens(counted.completion_tokens), cached), named)


def _action(function: Any) -> Action:
    raw = storable(function.arguments or "{}")
    try:
        return call(function.name, storable(json.loads(raw)), raw)
    except (ValueError, RecursionError):
        return call(function.name, None, raw)
