"""What the providers have in common: keys, addresses, windows, and faults by who must act."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import takewhile
from typing import Any, TypeVar

from afresh.adapters.models.replies import CountTokens, estimate_tokens, add_missing_usage
from afresh.adapters.models.retry import Sleep, read_retry_after
from afresh.adapters.models.route import OTHER_MODELS_ADVICE, ProviderEndpoint, require_route
from afresh.adapters.models.settings import KEYRING, ModelSettings
from afresh.domain.action import Action, Reply, Usage
from afresh.domain.codec import to_canonical_json
from afresh.domain.window import Request
from afresh.errors import AfreshError, Broken, NeedsPerson, TryAgain

Answer = TypeVar("Answer")
CALL_TIMEOUT_SECONDS = 600.0
DEFAULT_RETRY_COUNT = 6
PLACEHOLDER_KEY = "none"
"""Many servers at an address of the user's own want no key, but the SDKs refuse to send none."""
CONTEXT_TOO_LONG_PHRASES = (
    "context_length_exceeded",
    "maximum context",
    "context length",
    "context limit",
    "prompt is too long",
    "context size",
)
STATUS_OF_ERROR_TYPE = {"overloaded_error": 529, "rate_limit_error": 429, "timeout_error": 504, "invalid_request_error": 400}
STATUS_OF_ERROR_TYPE |= {"authentication_error": 401, "billing_error": 402, "permission_error": 403, "not_found_error": 404}
STATUS_OF_ERROR_TYPE |= {"request_too_large": 413}
"""Errors in the middle of a stream come under the status of a success: only their type tells them apart."""
MAX_ARGUMENTS_CHARACTERS = 200_000
MAX_TEXT_CHARACTERS = 200_000
"""Characters. Replies are kept for ever; no window could show more of one."""
INVALID_ARGUMENT = "_invalid"
"""The argument that stands in place of those that can't be used, and says why."""
MAX_REPORTED_TOKENS = 10_000_000
"""No model takes or says as much: a provider that reports it is wrong."""
NO_CREDIT_PHRASES = ("insufficient_quota", "credit balance", "spend limit", "billing")


@dataclass(frozen=True, slots=True)
class Provider:
    title: str
    package: str
    key_variable: str
    base_url_variable: str


@dataclass(frozen=True, slots=True)
class ConnectionOrigin:
    """Where key and address were found, for whoever has to mend them."""

    key: str = ""
    """Empty if none was found."""
    table: str = ""
    """The user's name for the model, if it has a table."""
    own_address: bool = False
    """The table says where the model is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderConnection:
    """How to reach a provider."""

    key: str = field(repr=False)
    base_url: str = field(default="", repr=False)
    timeout: float = CALL_TIMEOUT_SECONDS
    retries: int = DEFAULT_RETRY_COUNT
    window: int = 0
    count: CountTokens = estimate_tokens
    sleep: Sleep = field(default=time.sleep, repr=False)
    places: ConnectionOrigin = ConnectionOrigin()


def connect_provider(provider: Provider, settings: ModelSettings, target: ProviderEndpoint) -> ProviderConnection:
    """Key and address from the user. NeedsPerson at once if the SDK or the key is missing."""
    if find_spec(provider.package) is None:
        raise NeedsPerson(f"the package {provider.package} is not installed", next="pip install 'afresh[models]'")
    way, table = require_route(target, settings), settings.chosen
    return ProviderConnection(
        key=way.key.secret, base_url=way.base_url, timeout=settings.timeout or CALL_TIMEOUT_SECONDS,
        retries=DEFAULT_RETRY_COUNT if table is None or table.retries is None else table.retries,
        window=settings.window, count=settings.count, places=ConnectionOrigin(way.key.where, settings.name, bool(table and table.base_url)),
    )  # fmt: skip


def find_by_longest_prefix(name: str, known: dict[str, int], default: int) -> int:
    """By the longest prefix that is known."""
    fitting = [prefix for prefix in known if name.startswith(prefix)]
    return known[max(fitting, key=len)] if fitting else default


def read_answer(read: Callable[[Answer], tuple[Reply, bool]], answer: Answer, provider: Provider) -> tuple[Reply, bool]:
    """What `read` makes of the answer. The SDKs don't check answers: a proxy's page or half a body may arrive in place of one."""
    try:
        return read(answer)
    except (AttributeError, IndexError, TypeError) as error:
        raise TryAgain(f"{provider.title} sent something that is not an answer: {error}") from None


def finish_reply(reply: Reply, cut: bool, request: Request, connection: ProviderConnection) -> Reply:
    """The reply with its usage. Cut at its limit, its last call can't be trusted to be whole, even if a server has mended it: it
    is not taken. Those before it are, since they are paid for and another had begun after them."""
    if cut:
        kept = tuple(takewhile(lambda action: INVALID_ARGUMENT not in action.args, reply.actions[:-1]))
        done = (
            f"its first {len(kept)} tool calls were carried out, the rest was not"
            if kept
            else "no tool call in it was carried out"
        )
        note = f"[The reply was cut off at its limit of {request.reserve} tokens and {done}.]"
        reply = replace(reply, thought=f"{reply.thought}\n{note}".strip(), actions=kept, cramped=True)
    counted = replace(truncate_reply(reply), counted=reply.usage.input > 0)
    return add_missing_usage(counted, request, connection.count, reply.model)


def truncate_reply(reply: Reply) -> Reply:
    """What would swell the journal is cut. Thinking that is not whole is worth nothing to its provider: it is left out."""
    thinking = tuple(block for block in reply.thinking if len(block.text) + len(block.signature) <= MAX_TEXT_CHARACTERS)
    if len(reply.thought) <= MAX_TEXT_CHARACTERS:
        return replace(reply, thinking=thinking)
    note = f"[{len(reply.thought):,} characters; the rest was cut off.]"
    return replace(reply, thinking=thinking, thought=f"{reply.thought[:MAX_TEXT_CHARACTERS]}\n{note}")


def action_from_call(tool: str, args: Any, raw: str = "") -> Action:
    """A tool call; arguments that can't be used become the argument `_invalid`, which says so to the model."""
    tool = tool[:200]
    if not isinstance(args, dict):
        return Action(tool, {INVALID_ARGUMENT: f"the arguments are not a JSON object: {raw[:200]}"})
    size = len(to_canonical_json(args))
    if size > MAX_ARGUMENTS_CHARACTERS:
        told = f"the arguments have {size:,} characters, {MAX_ARGUMENTS_CHARACTERS:,} are allowed: do it in smaller steps"
        return Action(tool, {INVALID_ARGUMENT: told})
    return Action(tool, args)


def sum_reported_tokens(*counts: Any) -> int:
    """Sum of what the provider counted; what is missing or makes no sense counts nothing."""
    return sum(value for value in counts if type(value) is int and 0 < value <= MAX_REPORTED_TOKENS)


def error_from_broken_stream(
    error: Exception | str, provider: Provider, connection: ProviderConnection, usage: Usage
) -> TryAgain:
    """A reply that has begun and not ended: nothing of it is used, but it may have to be paid."""
    fault = f"{type(error).__name__}: {_render_error_text(error, connection)}" if isinstance(error, Exception) else error
    headers = getattr(getattr(error, "response", None), "headers", {})
    return TryAgain(f"{provider.title} broke off in the middle of its reply: {fault}", usage, read_retry_after(headers))


def error_from_sdk_error(error: Exception, provider: Provider, connection: ProviderConnection) -> AfreshError:
    """The SDK's error as one of ours."""
    status, said = _find_http_status(error), _render_error_text(error, connection)
    if status is None:
        return TryAgain(f"{provider.title} could not be reached or sent no usable answer: {type(error).__name__}: {said}")
    if status == 413 or any(phrase in said.lower() for phrase in CONTEXT_TOO_LONG_PHRASES):
        return Broken(f"{provider.title} says that the request is too long, though it was within the ceiling: {said}")
    if status == 402 or any(phrase in said.lower() for phrase in NO_CREDIT_PHRASES):
        return NeedsPerson(f"{provider.title} wants to be paid first: {said}", next="see to the account's credit, then resume")
    if status in (408, 409, 429) or status >= 500:
        wait = read_retry_after(getattr(getattr(error, "response", None), "headers", {}))
        return TryAgain(f"{provider.title} is busy or has a fault ({status}): {said}", wait=wait)
    return NeedsPerson(
        f"{provider.title} refused the request ({status}): {said}", next=_suggest_remedy(status, provider, connection)
    )


def _find_http_status(error: Exception) -> int | None:
    status = getattr(error, "status_code", None)
    if status is None or status >= 300:
        return status
    kind = getattr(error, "type", None)
    return STATUS_OF_ERROR_TYPE.get(str(kind), 500) if kind else None


def _render_error_text(error: Exception, connection: ProviderConnection) -> str:
    return " ".join(str(error).replace(connection.key or "\0", "…").split())[:300]


def _suggest_remedy(status: int, provider: Provider, connection: ProviderConnection) -> str:
    places = connection.places
    if status in (401, 403):
        return f"{_suggest_key_check(provider, connection)}; or {OTHER_MODELS_ADVICE}"
    if status == 404 or status < 400:
        at = f"base_url in [models.{places.table}]" if places.own_address else provider.base_url_variable
        return f"check the model's name {f'in [models.{places.table}]' if places.table else 'after --model'}, and {at}"
    return "check that the model takes tools and this length of reply, or pass another --model"


def _suggest_key_check(provider: Provider, connection: ProviderConnection) -> str:
    """The one that was really sent."""
    where, table = connection.places.key, connection.places.table
    if not connection.key and table:
        return f"no key was sent: name the variable that holds one as key = in [models.{table}]"
    if where.startswith(KEYRING):
        name = where.rpartition(" ")[2]
        return f"check the key in the keyring (`afresh models key {name}` sets another) and what it may use"
    return f"check {where or provider.key_variable} and what it may use"
