"""Names for what was done and what came of it, the same for what is the same but for times, places in memory and line numbers."""

import re
from hashlib import sha256

from afresh.domain.action import Action
from afresh.domain.codec import to_canonical_json

VOLATILE_PATTERNS = (
    (re.compile(r"0x[0-9a-fA-F]{4,}"), "0x"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?"), "TIME"),
    (re.compile(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"), "TIME"),
    (re.compile(r"\b\d+(?:[.,]\d+)? ?(?:s|ms|µs|us|sec|secs|seconds|milliseconds|minutes)\b"), "TIME"),
    (re.compile(r"\bline \d+"), "line"),
    (re.compile(r"(?<=[\w)\]]):\d+(?::\d+)?\b"), ":"),
    (re.compile(r"/(?:te?mp|var/folders)/[\w./-]+"), "TEMPORARY"),
    (re.compile(r"\b(?:pid|process|thread)[ =:]*\d+", re.IGNORECASE), "PID"),
)
MAX_HASHED_CHARACTERS = 20_000
SIGNATURE_CHARACTERS = 12


def mask_volatile_values(text: str) -> str:
    """Without what changes from run to run."""
    for pattern, word in VOLATILE_PATTERNS:
        text = pattern.sub(word, text)
    return text


def hash_parts(*parts: object) -> str:
    text = "\x00".join(part if isinstance(part, str) else to_canonical_json(part) for part in parts)
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:SIGNATURE_CHARACTERS]


def hash_action(action: Action, tree: str) -> str:
    """An action is the same only in the same tree."""
    return hash_parts(action.tool, dict(action.args), tree)


def hash_output(text: str) -> str:
    """Of an output; of a long one its ends decide."""
    held = (
        text
        if len(text) <= MAX_HASHED_CHARACTERS
        else f"{len(text)} {text[: MAX_HASHED_CHARACTERS // 2]}{text[-MAX_HASHED_CHARACTERS // 2 :]}"
    )
    return hash_parts(mask_volatile_values(held))
