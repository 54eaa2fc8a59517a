"""Names in a text: words that look like a path or an identifier, not like prose."""

import re
from functools import lru_cache

WORD = re.compile(r"(?:(?<!<)/|[A-Za-z_~.])[\w./\-]*\w")
LETTERS = re.compile(r"[A-Za-z]{2}")
CODE = re.compile(r"[/_.]|[a-z][A-Z]|\d.*[A-Za-z]{2}|[A-Za-z]{2}.*\d")
FILE = re.compile(r"(?:^|/)([\w.-]*\w\.[A-Za-z]\w{0,4})(?::\d+)?$")
ADDRESS = re.compile(r"x?(?=[0-9a-f]*\d)[0-9a-f]{7,}")
"""Of an object in memory, or a hash cut short: never needed again, and there are many."""
HOLLOW = re.compile(r"~?[\d.]+[A-Za-z]{0,3}(?:/[A-Za-z/]+)?|_[a-z]+_|.*\.\.\..*|s/.*/.*/g?")
"""A measure, an emphasised word, a text with its middle left out, a substitution."""
ESCAPE = re.compile(r"\\(?:[nrt](?=[A-Za-z_])|u[0-9a-fA-F]{4})|\x1b\[[\d;]*[A-Za-z]")
"""A sign that is written as several and would seem to belong to the word behind it."""
SHORTEST = 5
LONGEST = 200
LINKS = 8


@lru_cache(maxsize=65_536)
def named(word: str) -> str:
    """The name that a word is; empty when it is none."""
    word = word.strip(".-")
    if ADDRESS.fullmatch(word) or HOLLOW.fullmatch(word):
        return ""
    fitting = SHORTEST <= len(word) <= LONGEST and LETTERS.search(word) and CODE.search(word)
    return word if fitting else ""


def names(text: str) -> tuple[str, ...]:
    """In order of their first occurrence."""
    if "\\" in text or "\x1b" in text:
        text = ESCAPE.sub(" ", text)
    found = dict.fromkeys(map(named, WORD.findall(text)))
    found.pop("", None)
    return tuple(found)


@lru_cache(maxsize=65_536)
def implied(name: str) -> tuple[str, ...]:
    """The name, and those that whoever sees it has seen as well: the ends of a path, the links of a dotted chain."""
    parts = [name]
    place = name.find("/")
    while place >= 0:
        parts += [name[place:], name[place + 1 :]]
        place = name.find("/", place + 1)
    links = name.rpartition("/")[2].split(".")
    if 2 < len(links) < LINKS:
        parts += [".".join(links[start:end]) for start in range(len(links)) for end in range(start + 2, len(links) + 1)]
    return tuple(dict.fromkeys(parts))


@lru_cache(maxsize=2_048)
def heard(line: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of a line, and with what these imply. Most lines are met several times: in a file, in a part of it, in a window."""
    found = names(line)
    return found, tuple([part for name in found for part in implied(name)])


def files(text: str) -> tuple[str, ...]:
    """File names that a text mentions, without their folders."""
    return tuple(dict.fromkeys([match[1] for name in names(text) if (match := FILE.search(name))]))
