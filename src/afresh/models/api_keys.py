"""Where keys are: in the user's environment or in the keyring of the system, never in a file. None of it is ever shown."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from afresh.core.known_secrets import remember_secrets
from afresh.errors import NeedsPerson, suggest_extra
from afresh.models.model_settings import KEYRING

KEYRING_SERVICE = "afresh"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """`where` is not secret: the name of a variable, or the keyring."""

    secret: str = field(default="", repr=False)
    where: str = ""


def find_api_key(place: str, variable: str, names: Sequence[str]) -> ApiKey:
    """The key from the place that the user has set. By default from the provider's own variable, then from the keyring under the
    first of the names that has one there. Text that holds it is redacted from now on, whatever its variable is called."""
    key = _look_up_key(place, variable, names)
    remember_secrets([key.secret])
    return key


def _look_up_key(place: str, variable: str, names: Sequence[str]) -> ApiKey:
    if place and place != KEYRING:
        return _from_environment(place)
    if not place and (key := _from_environment(variable)).secret:
        return key
    for name in names:
        if secret := _from_keyring(name, asked=place == KEYRING):
            return ApiKey(_check_key_text(secret, "the keyring"), f"keyring, as {name}")
    return ApiKey()


def store_api_key(name: str, secret: str) -> None:
    """Store a key in the keyring; an empty one removes it."""
    ring = _import_keyring()
    if ring is None:
        raise NeedsPerson(
            "the package keyring is not installed", next=f"{suggest_extra('keyring')}, or set an environment variable"
        )
    try:
        if secret:
            ring.set_password(KEYRING_SERVICE, name, _check_key_text(secret, "what was entered"))
        elif ring.get_password(KEYRING_SERVICE, name) is not None:
            ring.delete_password(KEYRING_SERVICE, name)
    except ring.errors.KeyringError as fault:
        raise keyring_error_from_fault(fault) from None


def has_keyring() -> bool:
    from importlib.util import find_spec

    return find_spec("keyring") is not None


def is_sent_unencrypted(base_url: str) -> bool:
    """Whether what is sent there can be read on the way: no encryption, and another machine."""
    parts = urlsplit(base_url)
    return parts.scheme == "http" and not is_this_machine(parts.hostname or "")


def is_this_machine(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def keyring_error_from_fault(fault: Exception) -> NeedsPerson:
    why = type(fault).__name__
    return NeedsPerson(
        f"the keyring of this system can't be used ({why})",
        next="unlock it, or set an environment variable instead",
        safe="no key was stored or sent",
    )


def _from_environment(variable: str) -> ApiKey:
    secret = os.environ.get(variable, "").strip()
    return ApiKey(_check_key_text(secret, variable), variable) if secret else ApiKey()


def _from_keyring(name: str, asked: bool) -> str:
    """Warn about a broken keyring only if the settings say that the key is there."""
    ring = _import_keyring()
    if ring is None:
        if asked:
            raise NeedsPerson(
                "the key is in the keyring, but the package keyring is not installed", next=suggest_extra("keyring")
            )
        return ""
    try:
        return ring.get_password(KEYRING_SERVICE, name) or ""
    except ring.errors.KeyringError as fault:
        if asked:
            raise keyring_error_from_fault(fault) from None
        return ""


def _import_keyring() -> Any | None:
    if not has_keyring():
        return None
    from importlib import import_module

    import_module("keyring.errors")
    return import_module("keyring")


def _check_key_text(secret: str, where: str) -> str:
    """NeedsPerson for a text that an HTTP header can't hold, such as a quoted key or two lines."""
    secret = secret.strip()
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        raise NeedsPerson(f"{where} does not contain a valid key", next="set it again, without blanks and quotes")
    return secret
