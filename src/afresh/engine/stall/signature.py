"""Names for what was done and what came of it, the same for what is the same but for times, places in memory and line numbers."""

import re
from hashlib import sha256

from afresh.domain.action import Action
from afresh.domain.codec import dumps

VOLATILE = (
    (re.compile(r"0x[0-9a-fA-F]{4,}"), "0x"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?"), "TIME"),
    (re.compile(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"), "TIME"),
    (re.compile(r"\b\d+(?:[.,]\d+)? ?(?:s|ms|µs|us|sec|secs|seconds|milliseconds|minutes)\b"), "TIME"),
    (re.compile(r"\bline \d+"), "line"),
    (re.compile(r"(?<=[\w)\]]):\d+(?::\d+)?\b"), ":"),
    (re.compile(r"/(?:te?mp|var/folders)/[\w./-]+"), "TEMPORARY"),
    (re.compile(r"\b(?:pid|process|thread)[ =:]*\d+", re.IGNORECASE), "PID"),
)
LONGEST = 20_000
LENGTH = 12


def steady(text: str) -> str:
    """Without what changes from run to run."""
    for pattern, word in VOLATILE:
        text = pattern.sub(word, text)
    return text


def signature(*parts: object) -> str:
    text = "\x00".join(part if isinstance(part, str) else dumps(part) for part in parts)
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:LENGTH]


def key(action: Action, tree: str) -> str:
    """An action is the same only in the same tree."""
    return signature(action.tool, dict(action.args), tree)


def result(text: str) -> str:
    """Of an output; of a long one its ends decide."""
    held = text if len(text) <= LONGEST else f"{len(text)} {text[: LONGEST // 2]}{text[-LONGEST // 2 :]}"
    return signature(steady(held))
