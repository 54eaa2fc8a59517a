"""OpenAI, and the many servers that speak its chat completions, through the official SDK: streamed, with native tool use.

What a server refuses of the protocol is left out from then on (`flavours.without`); a model without tools is told of them in
words (`spoken`).
"""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from afresh.adapters.models.chat_body import Body, chat_body, thinking_of
from afresh.adapters.models.chat_stream import Call, Told, part, take
from afresh.adapters.models.flavours import OPENAI, Flavour, flavour_at, without
from afresh.adapters.models.provider import NO_KEY, Connection, broken_off, call, explain, finished, tokens, understood, window_of
from afresh.adapters.models.replies import storable
from afresh.adapters.models.retry import persistently
from afresh.adapters.models.spoken import heard
from afresh.domain.action import Action, Reply, Thinking, Usage
from afresh.domain.window import Request
from afresh.errors import AfreshError, TryAgain
from afresh.ports import Hear, unheard

WINDOWS = {"gpt-5": 272_000, "gpt-4.1": 1_000_000, "gpt-4o": 128_000, "gpt-4": 8_192, "gpt-4-turbo": 128_000, "gpt-3.5": 16_385}
WINDOWS |= {"o1": 200_000, "o3": 200_000, "o4": 200_000, "claude-": 200_000}


FRAMING = 12
"""Tokens around two messages and before the reply. Tools are turned into declarations that are shorter than their JSON, so that
our count of the JSON covers what is put around them."""
CONNECTING = 10.0
"""Seconds."""
REFUSING = (400, 404, 422, 500, 501)
REFUSALS = {
    "usage": ("stream_options", re.compile("stream_options|include_usage")),
    "tools": (
        "tools",
        re.compile(r"support\w* (for )?(tool|function)|--jinja|--enable-auto-tool|tools?\W.{0,40}not support"),
    ),
    "schema": ("response_format", re.compile("response_format|json_schema|grammar|structured output")),
    "effort": ("reasoning_effort", re.compile("reasoning|effort|thinking")),
    "budget": ("extra_body", re.compile("reasoning|thinking")),
    "cache_key": ("prompt_cache_key", re.compile("prompt_cache_key")),
}
"""What a server may not know: the field of the body, and what a refusal of it says."""
LIMITS = ("max_tokens", "max_completion_tokens")
UNKNOWN = (
    r"(unsupported|unknown|unrecognized|extra|unexpected|not permitted).*\b{0}\b|\b{0}\b.*(not support|not permitted|unknown)"
)


def window(model: str, flavour: Flavour = OPENAI) -> int:
    """What may be sent where that is published apart (gpt-5: 272,000 of 400,000), otherwise all that the model can take."""
    return window_of(model.rpartition("/")[2] if flavour.marked else model, WINDOWS, flavour.window)


class OpenAIModel:
    def __init__(self, model: str, connection: Connection, flavour: Flavour = OPENAI) -> None:
        self.model, self.connection = model, connection
        self.flavour = flavour_at(connection.base_url, flavour)
        self.name = f"{flavour.name}:{model}"

    @property
    def window(self) -> int:
        return self.connection.window or self._told_window or window(self.model, self.flavour)

    def propose(self, request: Request, hear: Hear = unheard) -> Reply:
        return persistently(lambda: self._ask(request, hear), hear, self.connection.retries, self.connection.sleep)

    def weigh(self, request: Request) -> int:
        """As its own template writes the request down, by its own vocabulary."""
        if not self.flavour.template:
            return 0
        import openai

        self._learn(request)
        body = chat_body(self.model, request, self.flavour, self.connection.count)
        try:
            written = self._root.post("/apply-template", cast_to=object, body=body)
            asked = {"content": part(written, "prompt"), "add_special": True, "parse_special": True}
            return len(part(self._root.post("/tokenize", cast_to=object, body=asked), "tokens") or ())
        except (openai.OpenAIError, ValueError, TypeError):
            return 0

    def _ask(self, request: Request, hear: Hear) -> Reply:
        self._learn(request)
        told = self._told(request, hear)
        spoken = bool(request.tools) and not self.flavour.tools
        reply, cut = understood(lambda held: reply_of(held, self.name, spoken), told, self.flavour.provider)
        return finished(reply, cut, request, self.connection)

    def _told(self, request: Request, hear: Hear) -> Told:
        """Asked once more for everything that the server turns out not to know, without it."""
        while True:
            told, flavour = Told(), self.flavour
            for piece in self._pieces(request, told):
                if piece:
                    hear(piece)
            if flavour is self.flavour:
                return told

    def _pieces(self, request: Request, told: Told) -> Iterator[str]:
        """Reads the stream to its end, or learns what the server does not know."""
        body = chat_body(self.model, request, self.flavour, self.connection.count) | {"stream": True}
        if self.flavour.usage:
            body["stream_options"] = {"include_usage": True}
        client, until = self._client, time.monotonic() + self.connection.timeout
        try:
            with client.chat.completions.create(**body) as stream:
                for chunk in stream:
                    yield take(told, chunk)
                    if time.monotonic() > until and not told.finish:
                        raise TimeoutError(f"it took longer than {self.connection.timeout:g} s")
            if not told.finish:
                raise EOFError("the stream ended too early")
        except Exception as error:
            missing = "" if told.begun else refused(error, body)
            if not missing:
                raise self._fault(error, request, told) from None
            self.flavour = without(self.flavour, missing)

    def _fault(self, error: Exception, request: Request, told: Told) -> AfreshError:
        """What has begun has cost something: its input, and what was said of the reply."""
        fault = explain(error, self.flavour.provider, self.connection)
        if not told.begun or not isinstance(fault, TryAgain):
            return fault
        known, count = usage_of(told.usage), self.connection.count
        spent = replace(known, input=known.input or count(request.text), output=max(known.output, count(told.said)))
        return broken_off(error, self.flavour.provider, self.connection, spent)

    def _learn(self, request: Request) -> None:
        """A template that knows no tools drops them without a word."""
        if self.flavour.template and self.flavour.tools and request.tools and self._props.get("supports_tools") is False:
            self.flavour = without(self.flavour, "tools")

    @property
    def _told_window(self) -> int:
        return tokens(self._props.get("n_ctx")) if self.flavour.template else 0

    @cached_property
    def _props(self) -> dict[str, Any]:
        """What llama.cpp says of itself; nothing when it does not answer, which the call that follows will notice."""
        import openai

        try:
            held = self._root.get("/props", cast_to=object)
        except (openai.OpenAIError, ValueError):
            return {}
        knows, settings = part(held, "chat_template_caps"), part(held, "default_generation_settings")
        return {"supports_tools": part(knows, "supports_tools"), "n_ctx": part(settings, "n_ctx")}

    @cached_property
    def _client(self) -> Any:
        import openai

        return openai.OpenAI(
            api_key=self.connection.key or NO_KEY,
            base_url=self.connection.base_url or self.flavour.base_url or None,
            timeout=openai.Timeout(self.connection.timeout, connect=min(CONNECTING, self.connection.timeout)),
            max_retries=0,
            http_client=openai.DefaultHttpxClient(follow_redirects=False),  # a key goes nowhere else on a server's word
        )

    @cached_property
    def _root(self) -> Any:
        """For what lies beside the part of the address that OpenAI has named."""
        return self._client.with_options(base_url=str(self._client.base_url).rstrip("/").removesuffix("/v1"), timeout=CONNECTING)


def refused(error: Exception, body: Body) -> str:
    """Which part of the protocol the server does not know; empty when its refusal is about something else."""
    said = str(error).lower()
    if getattr(error, "status_code", 0) not in REFUSING:
        return ""
    if (limit := next((key for key in LIMITS if key in body), "")) and re.search(UNKNOWN.format(limit), said):
        return "limit"
    return next((name for name, (field, says) in REFUSALS.items() if field in body and says.search(said)), "")


def reply_of(told: Told, asked: str, spoken: bool) -> tuple[Reply, bool]:
    """The reply, and whether it was cut at its limit. `asked`: the model's name; `spoken`: its calls are in its text."""
    kind, _, model = asked.partition(":")
    named = f"{kind}:{_file_name(told.model) or model}"
    text = storable("".join(told.text))
    cut = told.finish == "length"
    reply = heard(text) if spoken and not cut else Reply(text, tuple(map(_action, told.calls)))
    notes = [storable("".join(told.refusal))]
    if told.finish == "content_filter":
        notes.append("[The provider declined to let the model answer.]")
    thought = "\n".join(part for part in (reply.thought, *notes) if part)
    return Reply(thought, reply.actions, usage_of(told.usage), named, thinking=_thinking(told)), cut


def _file_name(model: str) -> str:
    """llama.cpp calls a model by the file that it was read from, whose folder is nobody's business."""
    return PurePosixPath(model).name if model.startswith("/") else model


def _thinking(told: Told) -> tuple[Thinking, ...]:
    if told.details:
        return tuple(thinking_of(storable(detail)) for detail in told.details.values())
    return (Thinking(storable("".join(told.reasoning))),) if told.reasoning else ()


def usage_of(counted: Any) -> Usage:
    """What a cache took and gave is part of the input, what was thought part of the output, whatever the server calls them."""
    if counted is None:
        return Usage()
    sent, made = tokens(part(counted, "prompt_tokens")), tokens(part(counted, "completion_tokens"))
    details = part(counted, "prompt_tokens_details")
    cached = min(sent, tokens(part(details, "cached_tokens")) or tokens(part(counted, "prompt_cache_hit_tokens")))
    written = tokens(part(details, "cache_write_tokens")) or tokens(part(counted, "cache_creation_input_tokens"))
    thought = tokens(part(part(counted, "completion_tokens_details"), "reasoning_tokens"))
    return Usage(sent, made, cached, min(written, sent - cached), min(thought, made))


def _action(held: Call) -> Action:
    raw = storable(held.arguments or "{}")
    try:
        return call(held.name, storable(json.loads(raw)), raw)
    except (ValueError, RecursionError):
        return call(held.name, None, raw)
