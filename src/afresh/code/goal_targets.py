"""Files and names in a goal that the repository does not have: what it asks to work on, and what it may well want to be made."""

import builtins
import keyword
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import PurePosixPath

from afresh.code.languages.registry import detect_language
from afresh.code.names_in_text import find_names, list_folders

MAX_SUGGESTIONS = 2
MAX_LISTED_BESIDE = 4
MIN_SIMILARITY = 0.6
"""Of two file names, or of two identifiers, so that one is suggested for the other."""
_CREATION_WORDS = re.compile(
    r"\b(?:add(?:s|ed|ing)?|creat\w*|new|writ(?:e|es|ing|ten)|introduc\w*|generat\w*|produc\w*|extract\w*|mov(?:e|es|ed|ing)|renam\w*"
    r"|split\w*|sav(?:e|es|ed|ing)|stor(?:e|es|ed|ing)|export\w*|emit\w*|output\w*|into|called|named|implement\w*|provid\w*|scaffold\w*"
    r"|set up|download\w*|instal\w*|cop(?:y|ies|ied)|turn\w*|replac\w*)\b",
    re.IGNORECASE,
)
_ABSENCE_WORDS = re.compile(
    r"\b(?:missing|absent|(?:not|n't|n’t) (?:exist|there|found|defined)\w*|no longer|delet\w*|remov\w*|no such|non-?exist\w*"
    r"|unknown|invalid|(?:FileNotFound|Import|ModuleNotFound|Name|Attribute)Error|Traceback)\b|\bFile \"",
    re.IGNORECASE,
)
_WORK_ON_WORDS = re.compile(
    r"(?:^|\b(?:in|of|inside|within|from|for|fix(?:es)?|refactor|simplify|clean(?: up)?|tidy(?: up)?|restructure|rework|repair"
    r"|debug|correct|improve|file|module|function|method|class|complexity|and|,))\s*[`'\"(]*$",
    re.IGNORECASE,
)
_CODE_SPAN = re.compile(r"`[^`\n]*`")
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+|\n+")
_PRODUCT_SUFFIXES = (".js", ".ts")
"""Bare words with these are as often products (Node.js) as files."""


@dataclass(frozen=True, slots=True)
class MissingTarget:
    name: str
    near: tuple[str, ...] = ()
    """Names that the repository has and that were perhaps meant."""
    beside: tuple[str, ...] = ()
    """Otherwise, files that are in its folder."""
    is_worked_on: bool = False
    """The goal asks to work on it, and does not speak of making it or of its absence."""
    is_code: bool = False

    @property
    def words(self) -> str:
        meant = f" (did you mean {' or '.join(self.near)}?)" if self.near else ""
        beside = f"; there are {', '.join(self.beside)}" if self.beside and not self.near else ""
        return f"{self.name} is not in this repository{meant}{beside}"


def find_missing_paths(goal: str, paths: Sequence[str]) -> list[MissingTarget]:
    """Return the paths that a goal names and that are neither a file nor a folder, nor the end of the path of one."""
    tree = _TreeNames(paths)
    targets: dict[str, MissingTarget] = {}
    for before, word, sentence in _list_words(goal):
        if tree.looks_like_path(word) and not tree.has(word) and word not in targets:
            worked_on = _is_worked_on(before, sentence)
            near, beside = _suggest_paths(word, paths), _list_beside(word, paths)
            targets[word] = MissingTarget(word, near, beside, worked_on, bool(detect_language(word)))
    return list(targets.values())


def find_missing_names(
    goal: str, occurs: Callable[[str], bool], list_definitions: Callable[[], Collection[str]]
) -> list[MissingTarget]:
    """Return the names in code form (`name`, name()) that occur nowhere in the repository."""
    targets: dict[str, MissingTarget] = {}
    for sentence in _list_sentences(goal):
        for word in (word for word in find_names(sentence) if word.marked and len(word.name) > 2):
            name, quoted = word.name, sentence[: word.start].endswith("`")
            if ("." in name and not quoted) or name in targets or detect_language(name) or not _is_own_name(name, occurs):
                continue
            worked_on = _is_worked_on(sentence[: word.start], sentence)
            targets[name] = MissingTarget(name, _suggest_names(name, list_definitions()), (), worked_on, is_code=True)
    return list(targets.values())


def _list_sentences(goal: str) -> list[str]:
    """Return the sentences, without commands that the goal quotes: their arguments are examples."""
    return _SENTENCE_END.split(_CODE_SPAN.sub(lambda span: " " if re.search(r"\s", span[0]) else span[0], goal))


def _is_own_name(name: str, occurs: Callable[[str], bool]) -> bool:
    """Whether it should be in this repository and is not. The first part of a dotted name that is unknown belongs to others."""
    first, *_, last = (*name.split("."), name.rpartition(".")[2])
    known = keyword.iskeyword(first) or first in sys.stdlib_module_names or any(hasattr(builtins, part) for part in (first, last))
    if not last or known or occurs(last):
        return False
    return first == last or occurs(first)


def _is_worked_on(before: str, sentence: str) -> bool:
    spoken_of = _CREATION_WORDS.search(sentence) or _ABSENCE_WORDS.search(sentence)
    return not spoken_of and bool(_WORK_ON_WORDS.search(before))


def _list_words(goal: str) -> Iterator[tuple[str, str, str]]:
    """Yield what stands before each word in its sentence, the word without punctuation and line numbers, and the sentence."""
    for sentence in _list_sentences(goal):
        for match in re.finditer(r"\S+", sentence):
            word = match[0].strip("'\"()[]`,;:!?").rstrip(".").removeprefix("./")
            yield sentence[: match.start()], re.sub(r"(?:::.*|:\d.*|#.*|['’]s)$", "", word), sentence


class _TreeNames:
    """The files and folders of a repository, by path and by the end of a path."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._whole = {*paths, *list_folders(paths)}
        self._top = {path.partition("/")[0] for path in self._whole}

    def has(self, word: str) -> bool:
        word = word.rstrip("/")
        return word in self._whole or any(path.endswith(f"/{word}") for path in self._whole)

    def looks_like_path(self, word: str) -> bool:
        """Whether it can only be meant as a path: a file of code, or below a folder that is there. Not a URL, a pattern, an
        option, a version or an alternative such as and/or."""
        if (
            re.search(r"[*?{}<>$|&=%\\~@+]|://|\.\.|//", word)
            or word.startswith(("/", "-", "www."))
            or not re.search(r"[a-z]", word)
        ):
            return False
        parts = word.rstrip("/").split("/")
        if word.endswith("/") and all(parts):
            return True
        if len(parts) == 1:
            return "/" not in word and bool(detect_language(word)) and not word.lower().endswith(_PRODUCT_SUFFIXES)
        if detect_language(word):
            return True
        return parts[0] in self._top and not all(part in self._top for part in parts) and not re.fullmatch(r"[\d.]+", parts[-1])


def _suggest_paths(word: str, paths: Sequence[str]) -> tuple[str, ...]:
    stem = PurePosixPath(word).stem
    scored = [(_measure_similarity(stem, PurePosixPath(path).stem), _measure_similarity(word, path), path) for path in paths]
    return tuple(path for near, _, path in sorted(scored, reverse=True)[:MAX_SUGGESTIONS] if near >= MIN_SIMILARITY)


def _list_beside(word: str, paths: Sequence[str]) -> tuple[str, ...]:
    folder = str(PurePosixPath(word).parent)
    found = [path for path in paths if str(PurePosixPath(path).parent) == folder]
    return (*found[:MAX_LISTED_BESIDE], *([f"{len(found) - MAX_LISTED_BESIDE} more"] if len(found) > MAX_LISTED_BESIDE else []))


def _suggest_names(name: str, definitions: Collection[str]) -> tuple[str, ...]:
    last = name.rpartition(".")[2]
    scored = sorted(((_measure_similarity(last, one), one) for one in {*definitions}), reverse=True)
    return tuple(one for near, one in scored[:MAX_SUGGESTIONS] if near >= MIN_SIMILARITY)


def _measure_similarity(one: str, other: str) -> float:
    """0 at once where the lengths alone exclude a likeness."""
    matcher = SequenceMatcher(None, one.lower(), other.lower(), autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() >= MIN_SIMILARITY else 0.0
