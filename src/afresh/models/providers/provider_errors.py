"""Errors of providers as our own, by who must act."""

from dataclasses import replace

from afresh.core.prompt import Request
from afresh.core.usage import Usage
from afresh.errors import AfreshError, Broken, NeedsPerson, TryAgain
from afresh.models.model_settings import KEYRING
from afresh.models.providers.connection import DEFAULT_ADDRESSES, OTHER_MODELS_ADVICE, Provider, ProviderConnection, name_server
from afresh.models.retry import read_retry_after

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
"""Errors in the middle of a stream have the status of a success: only their type says what they are."""
BRIEF_BY_STATUS = {408: "timed out", 429: "rate limited", 503: "overloaded", 504: "timed out", 529: "overloaded"}
NO_CREDIT_PHRASES = ("insufficient_quota", "credit balance", "spend limit", "billing")


def estimate_spent(usage: Usage | None, request: Request, text: str, connection: ProviderConnection) -> Usage | None:
    """The usage of a reply that has begun, estimated where the provider has not counted; None if none has begun. It said no more
    than was reserved, whatever it sent."""
    if usage is None:
        return None
    count = connection.count
    return replace(usage, input=usage.input or count(request.text), output=max(usage.output, min(count(text), request.reserve)))


def error_from_stream(error: Exception, provider: Provider, connection: ProviderConnection, spent: Usage | None) -> AfreshError:
    """The error of a call. A reply that has begun and not ended is not used, but `spent` may have to be paid for it."""
    fault = error_from_sdk_error(error, provider, connection)
    if spent is None or not isinstance(fault, TryAgain):
        return fault
    text = _render_error_text(error, connection) or type(error).__name__
    headers = getattr(getattr(error, "response", None), "headers", {})
    return TryAgain(f"{name_provider(provider, connection)} broke off during its reply: {text}", spent, read_retry_after(headers))


def error_from_sdk_error(error: Exception, provider: Provider, connection: ProviderConnection) -> AfreshError:
    """The SDK's error as an AfreshError."""
    status, said = _find_http_status(error), _render_error_text(error, connection)
    if status is None:
        what = (
            f"{name_provider(provider, connection)} could not be reached or sent no usable reply: {said or type(error).__name__}"
        )
        if isinstance(error, EOFError):
            what = (
                f"{name_provider(provider, connection)} sent no whole reply of a model: its address may be wrong, or it broke off"
            )
        return TryAgain(what, brief="no usable reply")
    if status == 413 or any(phrase in said.lower() for phrase in CONTEXT_TOO_LONG_PHRASES):
        return Broken(
            f"{name_provider(provider, connection)} reports that the request is too long, though it was under the limit: {said}"
        )
    if status == 402 or any(phrase in said.lower() for phrase in NO_CREDIT_PHRASES):
        return NeedsPerson(
            f"{name_provider(provider, connection)} requires payment first: {said}",
            next="check the account's credit, then resume",
        )
    if status in (408, 409, 429) or status >= 500:
        wait = read_retry_after(getattr(getattr(error, "response", None), "headers", {}))
        brief = f"{BRIEF_BY_STATUS.get(status, 'error of the provider')} ({status})"
        return TryAgain(
            f"{name_provider(provider, connection)} is overloaded or has an error ({status}): {said}", wait=wait, brief=brief
        )
    return NeedsPerson(
        f"{name_provider(provider, connection)} refused the request ({status}): {said}",
        next=_suggest_remedy(status, provider, connection),
    )


def name_provider(provider: Provider, connection: ProviderConnection) -> str:
    address = connection.base_url or DEFAULT_ADDRESSES.get(provider.key_variable, "")
    return name_server(provider.title, address, connection.places.own_address)


def _find_http_status(error: Exception) -> int | None:
    status = getattr(error, "status_code", None)
    if status is None or status >= 300:
        return status
    kind = getattr(error, "type", None)
    return STATUS_OF_ERROR_TYPE.get(str(kind), 500) if kind else None


def _render_error_text(error: Exception, connection: ProviderConnection) -> str:
    text = f"{error} {error.__cause__ or ''}"
    return " ".join(text.replace(connection.key or "\0", "…").split())[:300]


def _suggest_remedy(status: int, provider: Provider, connection: ProviderConnection) -> str:
    places = connection.places
    if status in (401, 403):
        return f"{_suggest_key_check(provider, connection)}; or {OTHER_MODELS_ADVICE}"
    if status == 404 or status < 400:
        at = f"base_url in [models.{places.table}]" if places.own_address else provider.base_url_variable
        return f"check the model's name {f'in [models.{places.table}]' if places.table else 'after --model'}, and {at}"
    return "check that the model takes tools and this length of reply, or pass another --model"


def _suggest_key_check(provider: Provider, connection: ProviderConnection) -> str:
    """The request that was really sent."""
    where, table = connection.places.key, connection.places.table
    if not connection.key and table:
        return f"no key was sent: name the variable that holds one as key = in [models.{table}]"
    if where.startswith(KEYRING):
        name = where.rpartition(" ")[2]
        return f"check the key in the keyring (`afresh models key {name}` sets another) and what it may use"
    return f"check {where or provider.key_variable} and what it may use"
