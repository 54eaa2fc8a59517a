"""The way to a provider: its address and the key that goes there. Both come from the user alone."""

import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from afresh.adapters.models.keys import ApiKey, find_api_key, is_sent_unencrypted
from afresh.adapters.models.settings import KEYRING, NamedModel, ModelSettings, find_address_fault
from afresh.errors import NeedsPerson

DEFAULT_ADDRESSES = {"ANTHROPIC_API_KEY": "https://api.anthropic.com", "OPENAI_API_KEY": "https://api.openai.com/v1"}
"""Where the SDKs go if they are told nothing."""
OTHER_MODELS_ADVICE = "pass --model offline (no key; fix_violation only) or --model mailbox:DIR (a person or a program answers)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEndpoint:
    """What has to be known of a provider to find the way to it."""

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
    """Where it leads, if not to the provider's own address."""
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
        _find_missing_key(target, settings, key, at_home) if not key.secret else _find_unencrypted_key(table, base_url)
    )
    return ProviderRoute(key, base_url, host, problem, remedy)


def require_route(target: ProviderEndpoint, settings: ModelSettings) -> ProviderRoute:
    """NeedsPerson at once if nothing could be sent."""
    found = find_route(target, settings)
    if found.problem:
        instead = "" if found.key.secret else f", or {OTHER_MODELS_ADVICE}"
        raise NeedsPerson(found.problem, next=f"{found.remedy}{instead}", safe="nothing was sent")
    return found


def _find_route_key(target: ProviderEndpoint, settings: ModelSettings, guest: bool) -> ApiKey:
    """The provider's own key goes to no address that a table names, unless the table says so: it may be somebody else's."""
    place = settings.chosen.key if settings.chosen else ""
    names = [name for name in (settings.name, "" if guest else target.name) if name]
    return find_api_key(place, "" if guest else target.key_variable, names)


def _find_missing_key(target: ProviderEndpoint, settings: ModelSettings, key: ApiKey, at_home: bool) -> tuple[str, str]:
    place = settings.chosen.key if settings.chosen else ""
    if place == KEYRING:
        return f"no key for {settings.name} is in the keyring", f"afresh models key {settings.name}"
    if place:
        return f"no key for {target.title}: {place} is not set", f"set {place}"
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
