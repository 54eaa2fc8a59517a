"""What the providers have in common: keys, addresses, windows, and faults by who must act."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

from afresh.adapters.models.replies import Count, estimate, with_usage
from afresh.adapters.models.route import Target, opened
from afresh.adapters.models.settings import Settings
from afresh.domain.action import Action, Reply
from afresh.domain.window import Request
from afresh.errors import AfreshError, Broken, NeedsPerson, TryAgain

LONGEST_RETRY_AFTER = 60.0
"""A provider that asks for more is left alone: the task stops with TryAgain instead of sleeping on."""

TIMEOUT = 600.0
RETRIES = 4
NO_KEY = "none"
"""Many servers at an address of the user's own want no key, but the SDKs refuse to send none."""
TOO_LONG = ("context_length_exceeded", "maximum context", "context length", "context limit", "prompt is too long", "context size")
NO_CREDIT = ("insufficient_quota", "credit balance", "spend limit", "billing")


@dataclass(frozen=True, slots=True)
class Provider:
    title: str
    package: str
    key_variable: str
    base_url_variable: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How to reach a provider. Retries are the SDK's own, with its back-off."""

    key: str = field(repr=False)
    base_url: str = field(default="", repr=False)
    timeout: float = TIMEOUT
    retries: int = RETRIES
    window: int = 0
    count: Count = estimate


def connect(provider: Provider, settings: Settings, target: Target) -> Connection:
    """Key and address from the user. NeedsPerson at once if the SDK or the key is missing."""
    if find_spec(provider.package) is None:
        raise NeedsPerson(f"the package {provider.package} is not installed", next="pip install 'afresh[models]'")
    way, table = opened(target, settings), settings.chosen
    return Connection(
        key=way.key.secret, base_url=way.base_url, timeout=settings.timeout or TIMEOUT,
        retries=(table.retries if table else 0) or RETRIES, window=settings.window, count=settings.count,
    )  # fmt: skip


def window_of(name: str, known: dict[str, int], default: int) -> int:
    """By the longest prefix that is known."""
    fitting = [prefix for prefix in known if name.startswith(prefix)]
    return known[max(fitting, key=len)] if fitting else default


def understood(read: Callable[[Any], tuple[Reply, bool]], answer: Any, provider: Provider) -> tuple[Reply, bool]:
    """What `read` makes of the answer. The SDKs don't check answers: a proxy's page or half a body may arrive in place of one."""
    try:
        return read(answer)
    except (AttributeError, IndexError, TypeError) as error:
        raise TryAgain(f"{provider.title} sent something that is not an answer: {error}") from None


def finished(reply: Reply, cut: bool, request: Request, connection: Connection) -> Reply:
    """The reply with its usage. Cut at its limit, its calls can't be trusted to be whole: none of them is taken."""
    if cut:
        note = f"[The reply was cut off at its limit of {request.reserve} tokens and no tool call in it was carried out.]"
        reply = Reply(f"{reply.thought}\n{note}".strip(), (), reply.usage, reply.model)
    counted = replace(reply, counted=reply.usage.input > 0)
    return with_usage(counted, request, connection.count, reply.model)


def call(tool: str, args: Any, raw: str = "") -> Action:
    """A tool call; arguments that are not a JSON object become the argument `_invalid`, which says so to the model."""
    if isinstance(args, dict):
        return Action(tool, args)
    return Action(tool, {"_invalid": f"the arguments are not a JSON object: {raw[:200]}"})


def tokens(*counts: Any) -> int:
    """Sum of what the provider counted; what is missing or makes no sense counts nothing."""
    return sum(value for value in counts if isinstance(value, int) and value > 0)


def no_patience_for_long_waits(response: Any) -> None:
    """Response hook of the HTTP client: neither SDK may sleep for longer than a minute on a provider's word."""
    try:
        asked = float(response.headers.get("retry-after", 0))
    except ValueError:
        return
    if asked > LONGEST_RETRY_AFTER:
        response.headers["x-should-retry"] = "false"


def explain(error: Exception, provider: Provider, connection: Connection) -> AfreshError:
    """The SDK's error as one of ours."""
    status = getattr(error, "status_code", None)
    said = " ".join(str(error).replace(connection.key or "\0", "…").split())[:300]
    if status is None:
        return TryAgain(f"{provider.title} could not be reached or sent no usable answer: {type(error).__name__}: {said}")
    if status == 413 or any(phrase in said.lower() for phrase in TOO_LONG):
        return Broken(f"{provider.title} says that the request is too long, though it was within the ceiling: {said}")
    if status == 402 or any(phrase in said.lower() for phrase in NO_CREDIT):
        return NeedsPerson(f"{provider.title} wants to be paid first: {said}", next="see to the account's credit, then resume")
    if status in (408, 409, 429) or status >= 500:
        return TryAgain(f"{provider.title} is busy or has a fault ({status}), after {connection.retries} retries: {said}")
    return NeedsPerson(f"{provider.title} refused the request ({status}): {said}", next=_remedy(status, provider))


def _remedy(status: int, provider: Provider) -> str:
    if status in (401, 403):
        return f"check {provider.key_variable} and what it may use; or {_instead(provider)}"
    if status == 404:
        return f"check the model's name after --model, and {provider.base_url_variable}"
    return "check that the model takes tools and this length of reply, or pass another --model"


def _instead(provider: Provider) -> str:
    return (
        f"set {provider.key_variable}, or pass --model offline (no key; fix_violation only)"
        " or --model mailbox:DIR (a person or a program answers)"
    )
