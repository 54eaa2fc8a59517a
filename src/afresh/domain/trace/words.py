"""Names in a text: words that look like a path or an identifier, not like prose."""

import re
from functools import lru_cache

WORD = re.compile(r"[A-Za-z_~.][\w./\-]*\w")
CODE = re.compile(r"[/_.]|[a-z][A-Z]|\d.*[A-Za-z]{2}|[A-Za-z]{2}.*\d")
FILE = re.compile(r"(?:^|/)([\w.-]*\w\.[A-Za-z]\w{0,4})(?::\d+)?$")
ADDRESS = re.compile(r"x?(?=[0-9a-f]*\d)[0-9a-f]{7,}")
"""Of an object in memory, or a hash cut short: never needed again, and there are many."""
SHORTEST, LONGEST = 5, 200


@lru_cache(maxsize=65_536)
def named(word: str) -> str:
    """The name that a word is; empty when it is none."""
    word = word.strip(".-")
    if ADDRESS.fullmatch(word):
        return ""
    return word if SHORTEST <= len(word) <= LONGEST and CODE.search(word) else ""


def names(text: str) -> tuple[str, ...]:
    """In order of their first occurrence."""
    found = dict.fromkeys(map(named, WORD.findall(text)))
    found.pop("", None)
    return tuple(found)


def files(text: str) -> tuple[str, ...]:
    """File names that a text mentions, without their folders."""
    return tuple(dict.fromkeys([match[1] for name in names(text) if (match := FILE.search(name))]))
