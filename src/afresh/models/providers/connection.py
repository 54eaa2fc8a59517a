"""The way to a provider: its address and the key that goes there. Both come from the user alone."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar
from urllib.parse import urlsplit

from afresh.core.truncate import to_one_line
from afresh.errors import NeedsPerson, suggest_reinstall
from afresh.models.api_keys import ApiKey, find_api_key, is_sent_unencrypted
from afresh.models.model_settings import KEYRING, ModelSettings, NamedModel, find_address_fault
from afresh.models.reply_checks import CountTokens, estimate_tokens
from afresh.models.retry import Sleep

T = TypeVar("T")
DEFAULT_ADDRESSES = {"ANTHROPIC_API_KEY": "https://api.anthropic.com", "OPENAI_API_KEY": "https://api.openai.com/v1"}
"""Default addresses of the SDKs."""
OTHER_MODELS_ADVICE = "pass another --model (`afresh setup` chooses one; mailbox:DIR: a person or a program answers)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEndpoint:
    """The variables and addresses with which a provider is found."""

    title: str
    name: str
    """Before the colon of a spec."""
    key_variable: str
    base_url_variable: str
    base_url: str = ""
    """Where it is, unless the user says otherwise; empty: where its SDK knows it to be."""
    needs_key: bool = True

    @property
    def home(self) -> str:
        return self.base_url or DEFAULT_ADDRESSES.get(self.key_variable, "")


@dataclass(frozen=True, slots=True)
class ProviderRoute:
    """`base_url` is empty where the SDK knows the address. `problem` says why nothing can be sent, `remedy` what helps."""

    key: ApiKey
    base_url: str = ""
    host: str = ""
    """The host of the user's own address; empty: the provider's."""
    problem: str = ""
    remedy: str = ""


def find_route(target: ProviderEndpoint, settings: ModelSettings) -> ProviderRoute:
    """NeedsPerson only if a key can't be looked up where the user says it is."""
    table = settings.chosen
    own = table.base_url if table else ""
    base_url = own or settings.base_urls.get(target.name) or os.environ.get(target.base_url_variable, "") or target.base_url
    if wrong := find_address_fault(base_url):
        return ProviderRoute(
            ApiKey(), problem=f"{target.base_url_variable} {wrong}", remedy=f"mend or unset {target.base_url_variable}"
        )
    at_home = not base_url or _split_address(base_url) == _split_address(target.home)
    key = _find_route_key(target, settings, guest=bool(own) and not at_home)
    host = "" if at_home else urlsplit(base_url).netloc
    problem, remedy = (
        _find_missing_key(target, settings, base_url, at_home) if not key.secret else _find_unencrypted_key(table, base_url)
    )
    return ProviderRoute(key, base_url, host, problem, remedy)


def require_route(target: ProviderEndpoint, settings: ModelSettings) -> ProviderRoute:
    """NeedsPerson at once if nothing could be sent."""
    route = find_route(target, settings)
    if route.problem:
        instead = "" if route.key.secret else f", or {OTHER_MODELS_ADVICE}"
        raise NeedsPerson(route.problem, next=f"{route.remedy}{instead}", safe="nothing was sent")
    return route


def _find_route_key(target: ProviderEndpoint, settings: ModelSettings, guest: bool) -> ApiKey:
    """The provider's own key goes to no address that a table names, unless the table says so: it may be somebody else's."""
    place = settings.chosen.key if settings.chosen else ""
    names = [name for name in (settings.name, "" if guest else target.name) if name]
    return find_api_key(place, "" if guest else target.key_variable, names)


def name_server(title: str, address: str, own: bool) -> str:
    """Provider and address: a server of the user's own may be none of the known ones."""
    return f"the server at {address}" if own else f"{title} at {address}" if address else title


def _find_missing_key(target: ProviderEndpoint, settings: ModelSettings, address: str, at_home: bool) -> tuple[str, str]:
    place = settings.chosen.key if settings.chosen else ""
    if place == KEYRING:
        return f"no key for {settings.name} is in the keyring", f"afresh models key {settings.name}"
    if place:
        own = bool(settings.chosen and settings.chosen.base_url)
        return f"no key for {name_server(target.title, address, own)}: {place} is not set", f"set {place}"
    if target.needs_key and at_home:
        return f"no key for {target.title}: {target.key_variable} is not set", f"set {target.key_variable}"
    return "", ""


def _find_unencrypted_key(table: NamedModel | None, base_url: str) -> tuple[str, str]:
    if not is_sent_unencrypted(base_url) or (table and table.insecure):
        return "", ""
    what = f"the key would go to {urlsplit(base_url).hostname} unencrypted, for anybody on the way to read"
    return what, "use https:// or a tunnel to this machine; or allow it: insecure = true in [models.NAME]"


def _split_address(base_url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(base_url)
    host = "localhost" if parts.hostname in ("127.0.0.1", "::1") else parts.hostname or ""
    return parts.scheme, host, parts.port


CALL_TIMEOUT_SECONDS = 600.0
CONNECT_TIMEOUT_SECONDS = 10.0
DEFAULT_RETRY_COUNT = 6
PLACEHOLDER_KEY = "none"
"""Many servers at an address of the user's own want no key, but the SDKs refuse to send none."""


@dataclass(frozen=True, slots=True)
class Provider:
    title: str
    package: str
    key_variable: str
    base_url_variable: str


@dataclass(frozen=True, slots=True)
class ConnectionOrigin:
    """Where key and address were found, for error messages."""

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


def find_import_fault(package: str) -> str:
    """Import the package and return what is wrong with it; empty if it can be used. A folder of its name proves nothing."""
    try:
        import_module(package)
    except ModuleNotFoundError as fault:
        return f"the package {fault.name or package} is not installed"
    except Exception as fault:
        return f"the package {package} can't be imported ({type(fault).__name__}: {to_one_line(str(fault), 120)})"
    return ""


def connect_provider(provider: Provider, settings: ModelSettings, target: ProviderEndpoint) -> ProviderConnection:
    """Key and address from the user. NeedsPerson at once if the SDK or the key is missing."""
    if find_spec(provider.package) is None:
        raise NeedsPerson(f"the package {provider.package} is not installed", next=suggest_reinstall(), safe="nothing was sent")
    route, table = require_route(target, settings), settings.chosen
    return ProviderConnection(
        key=route.key.secret,
        base_url=route.base_url,
        timeout=settings.timeout or CALL_TIMEOUT_SECONDS,
        retries=next((one for one in (settings.retries, table and table.retries) if one is not None), DEFAULT_RETRY_COUNT),
        window=settings.window,
        count=settings.count,
        places=ConnectionOrigin(route.key.where, settings.name, bool(table and table.base_url)),
    )


def make_sdk_client(sdk: Any, client: Callable[..., Any], connection: ProviderConnection, base_url: str) -> Any:
    """A client that does not retry, and whose calls end: at `connection.timeout`, at the latest."""
    from afresh.models.providers.call_limits import make_limited_client

    return client(
        api_key=connection.key or PLACEHOLDER_KEY,
        base_url=base_url or None,
        timeout=sdk.Timeout(connection.timeout, connect=min(CONNECT_TIMEOUT_SECONDS, connection.timeout)),
        max_retries=0,
        http_client=make_limited_client(),
    )


def find_by_longest_prefix(name: str, known: Mapping[str, T], default: T) -> T:
    """The value of the longest known prefix of the name."""
    fitting = [prefix for prefix in known if name.startswith(prefix)]
    return known[max(fitting, key=len)] if fitting else default
