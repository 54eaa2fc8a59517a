"""Secrets are replaced where text enters the journal, a prompt or a page. The same text always gives the same result."""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

REDACTED = "[redacted]"
_MARKERS = (
    "sk-", "k_live_", "k_test_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "AKIA", "ASIA", "AIza",
    "xox", "eyJ", " PRIVATE KEY-----", "://", "aws_secret_access_key", "AWS_SECRET_ACCESS_KEY",
)  # fmt: skip
"""Every secret that is known by its shape holds one of these: to look for them takes a small part of the time."""
_PEM_BODY = r"(?:(?:[\s\d|:+\\nr-]{0,12}[A-Za-z0-9+/=]{20,})+(?:[\s\d|:+\\nr-]{0,12}[A-Za-z0-9+/=]{1,20})?)"
_SECRET_PATTERN = re.compile(
    r"\bsk-(?:ant|proj|svcacct|admin|or)-(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{16,}"  # model providers
    r"|\bsk-(?=[A-Za-z]*\d)[A-Za-z0-9]{20,}"
    r"|\b[spr]k_(?:live|test)_[A-Za-z0-9]{16,}"  # payment
    r"|\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}|\bglpat-[\w-]{16,}"  # forges
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{12,}|\bAIza[\w-]{30,}|\bxox[abeprs]-[\w-]{10,}"  # clouds, chat
    r"|(?i:(?<=aws_secret_access_key))(?P<given>[\"']?\s*[=:]\s*[\"']?)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])"
    r"|\beyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?"  # signed tokens
    rf"|-----BEGIN [A-Z ]*PRIVATE KEY-----{_PEM_BODY}[\s\d|:+\\nr-]{{0,12}}(?:-----END [A-Z ]*PRIVATE KEY-----)?"
    r"|(?<=://)[^\s/:@{}$<>%\"'`]+:[^\s/@{}$<>%\"'`]+(?=@)"  # name and password in an address
)
"""Names of a program are no secrets: `pk_users_organisation_id`, `sk-folding-cube`, `://{user}:{password}@`."""
_KEY_END = re.compile(r"-----END [A-Z ]*PRIVATE KEY-----")
_KEY_LINE = re.compile(r"(?:^|[\s|+-])[A-Za-z0-9+/=]{20,}\s*$")
_LAST_WORD = re.compile(r"[A-Za-z0-9+/=]+\s*$")
T = TypeVar("T")


def redact_secrets(text: str) -> str:
    """What has the shape of a well-known kind of secret is replaced. Lines stay where they are."""
    if not _may_hold_secret(text):
        return text
    text = _SECRET_PATTERN.sub(_replace_secret, text)
    return _redact_key_end(text) if _KEY_END.search(text) else text


def _redact_key_end(text: str) -> str:
    """An excerpt or a diff may begin in the middle of a key."""
    lines = text.split("\n")
    for end in [number for number, line in enumerate(lines) if _KEY_END.search(line)]:
        long = [number for number in (end - 1, end - 2) if number >= 0 and _KEY_LINE.search(lines[number])]
        place = end - 1 if long else -1
        while place >= 0 and (place >= long[0] or _KEY_LINE.search(lines[place])):
            lines[place] = _LAST_WORD.sub(REDACTED, lines[place])
            place -= 1
    return "\n".join(lines)


def _may_hold_secret(text: str) -> bool:
    return any(marker in text for marker in _MARKERS)


def _replace_secret(found: re.Match[str]) -> str:
    return (found["given"] or "") + "\n".join([REDACTED] * (found[0].count("\n") + 1))


def redact_value(value: T) -> T:
    """A value with every text in it redacted; the value itself if there is nothing to redact."""
    return cast(T, _redact(value))


def _redact(value: Any) -> Any:
    if type(value) is str:
        return redact_secrets(value)
    if isinstance(value, tuple | list):
        held = cast("tuple[Any, ...] | list[Any]", value)
        items = [_redact(item) for item in held]
        same = all(new is old for new, old in zip(items, held, strict=True))
        return held if same else items if isinstance(held, list) else tuple(items)
    if isinstance(value, Mapping):
        named = cast("Mapping[Any, Any]", value)
        made = {key: _redact(item) for key, item in named.items()}
        return named if all(made[key] is item for key, item in named.items()) else made
    if is_dataclass(value) and not isinstance(value, type):
        old = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        changed = {name: new for name, item in old.items() if (new := _redact(item)) is not item}
        return replace(value, **changed) if changed else value
    return value
