"""OpenAI, and the many servers that speak its chat completions, through the official SDK: streamed, with native tool use.

What a server refuses of the protocol is left out from then on (`drop_dialect_part`); a model without tools reads of them in the
prompt (`text_tool_calls`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from afresh.core.prompt import Request
from afresh.core.reply import Reply
from afresh.core.truncate import to_one_line
from afresh.errors import AfreshError, NeedsPerson, TryAgain
from afresh.models.model_settings import ModelSettings
from afresh.models.providers.connection import (
    CONNECT_TIMEOUT_SECONDS,
    Provider,
    ProviderConnection,
    ProviderEndpoint,
    connect_provider,
    make_sdk_client,
)
from afresh.models.providers.openai_dialects import (
    OPENAI,
    OpenAIDialect,
    dialect_at_address,
    drop_dialect_part,
    find_openai_window,
)
from afresh.models.providers.openai_request import ChatBody, make_chat_body
from afresh.models.providers.openai_stream import (
    StreamedCompletion,
    read_field,
    reply_from_completion,
    take_chunk,
    usage_from_openai,
)
from afresh.models.providers.provider_errors import error_from_stream, estimate_spent, name_provider
from afresh.models.providers.provider_reply import (
    finish_reply,
    hear_pieces,
    read_answer,
    sum_reported_tokens,
)
from afresh.models.retry import retry_call
from afresh.ports.model import ReplyListener, ignore_piece

REFUSAL_STATUSES = (400, 404, 422, 500, 501)
REFUSAL_PATTERNS = {
    "usage": ("stream_options", re.compile("stream_options|include_usage")),
    "tools": (
        "tools",
        re.compile(r"support\w* (for )?(tool|function)|--jinja|--enable-auto-tool|\btools?\W{0,2} (is|are) not support"),
    ),
    "schema": ("response_format", re.compile("response_format|json_schema|grammar|structured output")),
    "effort": ("reasoning_effort", re.compile("reasoning|effort|thinking")),
    "budget": ("extra_body", re.compile("reasoning|thinking")),
    "cache_key": ("prompt_cache_key", re.compile("prompt_cache_key")),
}
"""What a server may not know: the field of the body, and what a refusal of it says."""
REPLY_LIMIT_FIELDS = ("max_tokens", "max_completion_tokens")
UNKNOWN_FIELD_PATTERN = (
    r"(unsupported|unknown|unrecognized|extra|unexpected|not permitted).*\b{0}\b|\b{0}\b.*(not support|not permitted|unknown)"
)


class OpenAIModel:
    def __init__(self, model: str, connection: ProviderConnection, flavour: OpenAIDialect = OPENAI) -> None:
        self.model, self.connection = model, connection
        self.flavour = dialect_at_address(connection.base_url, flavour)
        self.name = f"{flavour.name}:{model}"
        self.unknown = set[str]()
        """Parameters that the server has refused; none is refused twice."""

    @property
    def window(self) -> int:
        return self.connection.window or self._told_window or find_openai_window(self.model, self.flavour)

    def propose(self, request: Request, hear: ReplyListener = ignore_piece) -> Reply:
        return retry_call(lambda: self._ask(request, hear), hear, self.connection.retries, self.connection.sleep)

    def weigh(self, request: Request) -> int:
        """The server's own count, by its template and its vocabulary; 0 if it has none."""
        if not self.flavour.template:
            return 0
        import openai

        self._learn(request)
        body = make_chat_body(self.model, request, self.flavour, self.connection.count)
        try:
            written = self._root.post("/apply-template", cast_to=object, body=body)
            asked = {"content": read_field(written, "prompt"), "add_special": True, "parse_special": True}
            return len(read_field(self._root.post("/tokenize", cast_to=object, body=asked), "tokens") or ())
        except (openai.OpenAIError, ValueError, TypeError):
            return 0

    def _ask(self, request: Request, hear: ReplyListener) -> Reply:
        self._learn(request)
        completion = self._told(request, hear)
        spoken = bool(request.tools) and not self.flavour.tools
        reply, cut = read_answer(
            lambda held: reply_from_completion(held, self.name, spoken),
            completion,
            name_provider(self.flavour.provider, self.connection),
        )
        return finish_reply(reply, cut, request, self.connection)

    def _told(self, request: Request, hear: ReplyListener) -> StreamedCompletion:
        """The completion; asked again without each part of the protocol that the server refuses."""
        while True:
            completion, dialect = StreamedCompletion(), self.flavour
            if hear_pieces(self._pieces(request, completion), request, hear):
                completion.finish, completion.usage = "length", {"completion_tokens": request.reserve}
            if dialect is self.flavour:
                return completion

    def _pieces(self, request: Request, completion: StreamedCompletion) -> Iterator[str]:
        """Reads the stream to its end, or learns what the server does not know."""
        body = make_chat_body(self.model, request, self.flavour, self.connection.count) | {"stream": True}
        if self.flavour.usage:
            body["stream_options"] = {"include_usage": True}
        try:
            with self._client.chat.completions.create(**body) as stream:
                for chunk in stream:
                    yield take_chunk(completion, chunk)
            if not completion.finish:
                raise EOFError("the stream ended too early")
        except Exception as error:
            if completion.finish:  # the reply is whole, whatever the server goes on to send
                return
            missing = "" if completion.begun else find_refused_part(error, body)
            if not missing or missing in self.unknown:
                raise self._fault(error, request, completion) from None
            self.unknown.add(missing)
            self.flavour = drop_dialect_part(self.flavour, missing)

    def _fault(self, error: Exception, request: Request, completion: StreamedCompletion) -> AfreshError:
        """What has begun has cost something: its input, and what was said of the reply."""
        usage = usage_from_openai(completion.usage) if completion.begun else None
        spent = estimate_spent(usage, request, completion.said, self.connection)
        return error_from_stream(error, self.flavour.provider, self.connection, spent)

    def _learn(self, request: Request) -> None:
        """A chat template without tools drops them silently."""
        if self.flavour.template and self.flavour.tools and request.tools and self._props.get("supports_tools") is False:
            self.flavour = drop_dialect_part(self.flavour, "tools")

    @property
    def _told_window(self) -> int:
        return sum_reported_tokens(self._props.get("n_ctx")) if self.flavour.template else 0

    @property
    def loaded_window(self) -> int:
        """The context that a server of the user's own gives the model, once it is loaded; 0: it does not say."""
        import openai

        if self.flavour.template or self.flavour.name == "openrouter" or not self.flavour.base_url:
            return 0
        client, path, listed, key = (
            (self._root, "/api/ps", "models", "name")
            if self.flavour.name == "ollama"
            else (self._client.with_options(timeout=CONNECT_TIMEOUT_SECONDS), "/models", "data", "id")
        )
        try:
            models = read_field(client.get(path, cast_to=object), listed)
        except (openai.OpenAIError, ValueError):
            return 0
        found = [model for model in (models if isinstance(models, list) else ()) if read_field(model, key) == self.model]
        return _read_window_tokens(found[0]) if found else 0

    @cached_property
    def _props(self) -> dict[str, Any]:
        """What llama.cpp says of itself; nothing when it does not answer, which the call that follows will notice."""
        import openai

        try:
            value = self._root.get("/props", cast_to=object)
        except (openai.OpenAIError, ValueError):
            return {}
        knows, settings = read_field(value, "chat_template_caps"), read_field(value, "default_generation_settings")
        return {"supports_tools": read_field(knows, "supports_tools"), "n_ctx": read_field(settings, "n_ctx")}

    @cached_property
    def _client(self) -> Any:
        import openai

        return make_sdk_client(openai, openai.OpenAI, self.connection, self.connection.base_url or self.flavour.base_url)

    @cached_property
    def _root(self) -> Any:
        """A client for the server's root, without `/v1`."""
        return self._client.with_options(
            base_url=str(self._client.base_url).rstrip("/").removesuffix("/v1"), timeout=CONNECT_TIMEOUT_SECONDS
        )


def find_refused_part(error: Exception, body: ChatBody) -> str:
    """Which part of the protocol the server does not know; empty when its refusal is about something else."""
    text = str(error).lower()
    if getattr(error, "status_code", 0) not in REFUSAL_STATUSES:
        return ""
    if (limit := next((key for key in REPLY_LIMIT_FIELDS if key in body), "")) and re.search(
        UNKNOWN_FIELD_PATTERN.format(limit), text
    ):
        return "limit"
    return next((name for name, (field, says) in REFUSAL_PATTERNS.items() if field in body and says.search(text)), "")


LISTING_TIMEOUT_SECONDS = 5.0
MAX_LISTED_MODELS = 200


@dataclass(frozen=True, slots=True)
class OfferedModel:
    model: str
    window: int = 0
    """The window that the server reports; 0: it reports none."""


def list_offered_models(target: ProviderEndpoint, settings: ModelSettings) -> Sequence[OfferedModel]:
    """The models of a server. TryAgain if it does not answer, NeedsPerson if the key is not accepted."""
    provider = Provider(target.title, "openai", target.key_variable, target.base_url_variable)
    connection = replace(connect_provider(provider, settings, target), timeout=LISTING_TIMEOUT_SECONDS)
    import openai

    try:
        value = make_sdk_client(openai, openai.OpenAI, connection, connection.base_url).get("/models", cast_to=object)
    except openai.APIStatusError as error:
        what = f"{name_provider(provider, connection)} does not say which models it has ({error.status_code})"
        raise NeedsPerson(what, next="check its address and key") from None
    except (openai.OpenAIError, ValueError):
        raise TryAgain(f"{name_provider(provider, connection)} does not answer") from None
    listed = read_field(value, "data")
    held = [
        raw_value for raw_value in (listed if isinstance(listed, list) else ()) if isinstance(read_field(raw_value, "id"), str)
    ]
    offers = (
        OfferedModel(to_one_line(raw_value["id"], 120), _read_window_tokens(raw_value)) for raw_value in held[:MAX_LISTED_MODELS]
    )
    return sorted(offers, key=lambda offer: offer.model)


def _read_window_tokens(values: dict[str, Any]) -> int:
    """vLLM calls it max_model_len, OpenRouter context_length; llama.cpp reports the context size of the training."""
    meta = values.get("meta")
    places = (values.get("max_model_len"), values.get("context_length"), meta.get("n_ctx_train") if isinstance(meta, dict) else 0)
    return next((value for value in places if type(value) is int and value > 0), 0)
