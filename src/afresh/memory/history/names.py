"""Names in a text: words that look like a path or an identifier, not like prose."""

import re
from functools import lru_cache
from itertools import combinations

NAME_CANDIDATE_PATTERN = re.compile(r"(?:(?<!<)/|[A-Za-z_~.])(?=[./\-]{0,20}\w)[\w./\-]*\w")
TWO_LETTERS_PATTERN = re.compile(r"[A-Za-z]{2}")
CODE_LIKE_PATTERN = re.compile(r"[/_.]|[a-z][A-Z]|\d.{0,100}[A-Za-z]{2}|[A-Za-z]{2}.{0,100}\d")
FILE_NAME_PATTERN = re.compile(r"(?:^|/)([\w.-]*\w\.[A-Za-z]\w{0,4})(?::\d+)?$")
TEST_AFFIX_PATTERN = re.compile(r"^tests?[_-]|[_-](?:tests?|spec)$")
SUBJECT_END_PATTERN = re.compile(r"[_-]")
ADDRESS_PATTERN = re.compile(r"x?(?=[0-9a-f]*\d)[0-9a-f]{7,}")
"""Of an object in memory, or a hash cut short: never needed again, and there are many."""
NOT_A_NAME_PATTERN = re.compile(r"~?[\d.]+[A-Za-z]{0,3}(?:/[A-Za-z/]+)?|_[a-z]+_|.*\.\.\..*|s/(?:[^/]*/){2,}g?")
"""A measure, an emphasised word, a text with its middle left out, a substitution."""
ESCAPE_PATTERN = re.compile(r"\\(?:[nrt](?=[A-Za-z_])|u[0-9a-fA-F]{4})|\x1b\[[\d;]*[A-Za-z]")
"""A sign that is written as several and would seem to belong to the word behind it."""
LONG_WORD_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]{4,}")
"""A word or name of at least five characters."""
MIN_NAME_CHARACTERS = 5
MAX_NAME_CHARACTERS = 200
MAX_CHAIN_LINKS = 8


@lru_cache(maxsize=65_536)
def name_from_word(word: str) -> str:
    """The name that a word is; empty when it is none."""
    word = word.strip(".-")
    if ADDRESS_PATTERN.fullmatch(word) or NOT_A_NAME_PATTERN.fullmatch(word):
        return ""
    fitting = (
        MIN_NAME_CHARACTERS <= len(word) <= MAX_NAME_CHARACTERS
        and TWO_LETTERS_PATTERN.search(word)
        and CODE_LIKE_PATTERN.search(word)
    )
    return word if fitting else ""


def find_names(text: str) -> tuple[str, ...]:
    """The names, in order of their first occurrence."""
    if "\\" in text or "\x1b" in text:
        text = ESCAPE_PATTERN.sub(" ", text)
    found = dict.fromkeys(map(name_from_word, NAME_CANDIDATE_PATTERN.findall(text)))
    found.pop("", None)
    return tuple(found)


def find_long_words(text: str) -> list[str]:
    """Words and names, whether they look like code or not."""
    return LONG_WORD_PATTERN.findall(text)


@lru_cache(maxsize=65_536)
def list_implied_names(name: str) -> tuple[str, ...]:
    """The name, and those that whoever sees it has seen as well: the parts of a path, the links of a dotted chain."""
    parts = [name]
    slashes = [place for place, sign in enumerate(name) if sign == "/"]
    for place in slashes:
        parts += [name[place:], name[place + 1 :], name[:place]]
    if len(slashes) < MAX_CHAIN_LINKS:
        parts += [name[start + skipped : end] for start, end in combinations(slashes, 2) for skipped in (0, 1)]
    links = name.rpartition("/")[2].split(".")
    if 1 < len(links) < MAX_CHAIN_LINKS:
        parts += [".".join(links[start:end]) for start, end in combinations(range(len(links) + 1), 2)]
    return tuple(dict.fromkeys(parts))


@lru_cache(maxsize=2_048)
def find_names_and_implied(line: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of a line, and with what these imply. Most lines are met several times: in a file, in a part of it, in a window."""
    names = find_names(line)
    return names, tuple([part for name in names for part in list_implied_names(name)])


def find_file_names(text: str) -> tuple[str, ...]:
    """File names that a text mentions, without their folders."""
    return tuple(dict.fromkeys([match[1] for name in find_names(text) if (match := FILE_NAME_PATTERN.search(name))]))


@lru_cache(maxsize=4_096)
def find_subject(file_name: str) -> str:
    """The word that a file has in common with its tests and companions: `resume` of resume.go, resume_tui.go, test_resume.py."""
    stem = TEST_AFFIX_PATTERN.sub("", file_name.lower().strip("._").partition(".")[0]).strip("_-")
    return SUBJECT_END_PATTERN.split(stem)[0] or file_name
