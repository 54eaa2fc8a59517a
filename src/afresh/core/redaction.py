"""Secrets are replaced where text enters the journal, a prompt or a page. The same text always gives the same result."""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from afresh.core.known_secrets import decode_base64_run, list_base64_cores, list_known_patterns

REDACTED = "[redacted]"
_PEM_GAP = r"[\s\d|:+\\nr-]{0,12}"
_PEM_BODY = rf"(?:(?:{_PEM_GAP}[A-Za-z0-9+/=]{{20,}})+(?:{_PEM_GAP}[A-Za-z0-9+/=]{{1,20}})?)"
_SECRET_PATTERNS = tuple(
    (marker, re.compile(pattern))
    for marker, pattern in (
        (
            "sk-",
            r"\bsk-(?:(?:ant|proj|svcacct|admin|or)-(?=[A-Za-z_-]{0,200}\d)[A-Za-z0-9_-]{16,}|(?=[A-Za-z]{0,200}\d)[A-Za-z0-9]{20,})",
        ),
        ("k_live_", r"\b[spr]k_live_[A-Za-z0-9]{16,}"),
        ("k_test_", r"\b[spr]k_test_[A-Za-z0-9]{16,}"),
        *[(f"gh{kind}_", rf"\bgh{kind}_[A-Za-z0-9]{{16,}}") for kind in "pousr"],
        ("github_pat_", r"\bgithub_pat_\w{16,}"),
        ("glpat-", r"\bglpat-[\w-]{16,}"),
        ("AKIA", r"\bAKIA[0-9A-Z]{12,}"),
        ("ASIA", r"\bASIA[0-9A-Z]{12,}"),
        ("aws_secret_access_key", r"(?P<given>aws_secret_access_key[\"']?\s*[=:]\s*[\"']?)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])"),
        ("AWS_SECRET_ACCESS_KEY", r"(?P<given>AWS_SECRET_ACCESS_KEY[\"']?\s*[=:]\s*[\"']?)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])"),
        ("AIza", r"\bAIza[\w-]{30,}"),
        ("xox", r"\bxox[abeprs]-[\w-]{10,}"),
        ("eyJ", r"\beyJ[\w-]{10,1000}+\.[\w-]{10,}(?:\.[\w-]*)?"),
        (" PRIVATE KEY-----", rf"-----BEGIN [A-Z ]*PRIVATE KEY-----{_PEM_BODY}{_PEM_GAP}(?:-----END [A-Z ]*PRIVATE KEY-----)?"),
        *[
            (name, rf"(?P<given>{name}[\"']?\s*[=:]\s*[\"']?(?:Basic|Bearer|token)\s+)(?=\S*\d)[A-Za-z0-9+/=._~-]{{16,}}")
            for name in ("Authorization", "authorization")
        ],
        ("://", r"(?P<given>://)(?!(?i:user(?:name)?:pass(?:w(?:or)?d)?@))[^\s/:@{}$<>%\"'`]+:[^\s/@{}$<>%\"'`]+(?=@)"),
    )
)
"""Each secret that is known by its shape, with a text that it holds: to look for that first takes a small part of the time. Names
of a program and of an example are no secrets: pk_users_organisation_id, `sk-folding-cube`, `://{user}:{password}@`,
`://user:pass@`."""
_ENCODED_BEGINNINGS = (b"sk-ant-", b"sk-proj-", b"ghp_", b"github_pat_", b"glpat-", b"AKIA", b"xoxb-", b"-----BEGIN ")
_ENCODED_MARKERS = tuple(dict.fromkeys(core for begin in _ENCODED_BEGINNINGS for core in list_base64_cores(begin)))
"""What base64 of a text with such a secret contains."""
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_KEY_END = re.compile(r"-----END [A-Z ]*PRIVATE KEY-----")
_KEY_LINE = re.compile(r"(?:^|[\s|+-])[A-Za-z0-9+/=]{20,}\s*$")
_LAST_WORD = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/=]++\s*$")
T = TypeVar("T")


def may_contain_secret(text: str) -> bool:
    """False: there is nothing to redact in it. Also of a value by its JSON, which leaves the markers as they are."""
    return (
        any([marker in text for marker, _ in _SECRET_PATTERNS])
        or any([marker in text for marker in _ENCODED_MARKERS])
        or any([marker in text for marker, _ in list_known_patterns()])
    )


def redact_secrets(text: str) -> str:
    """What this process knows to be a secret, and what has the shape of a well-known kind of one, is replaced, also in base64.
    Lines stay where they are."""
    for marker, pattern in list_known_patterns():
        if marker in text:
            text = pattern.sub(REDACTED, text)
    if any([marker in text for marker in _ENCODED_MARKERS]):
        text = _BASE64_RUN.sub(_replace_encoded, text)
    return _redact_shapes(text)


def _redact_shapes(text: str) -> str:
    for marker, pattern in _SECRET_PATTERNS:
        if marker in text:
            text = pattern.sub(_replace_secret, text)
    return _redact_key_end(text) if " PRIVATE KEY-----" in text and _KEY_END.search(text) else text


def _replace_encoded(match: re.Match[str]) -> str:
    return REDACTED if any(_redact_shapes(text) != text for text in decode_base64_run(match[0])) else match[0]


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


def _replace_secret(match: re.Match[str]) -> str:
    given = match.groupdict().get("given", "")
    return given + "\n".join([REDACTED] * (match[0].count("\n", len(given)) + 1))


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
