"""The languages that are understood, one file each. A file of this package has three functions:

- `read(path, text) -> Reading`, pure;
- `modules(code) -> Any`, made once for a view of a tree: whatever its imports are looked up in;
- `targets(imported, path, modules) -> Iterable[str]`, the files of the tree that one import of the file at `path` leads to.

It may have two more: `beside(path, modules) -> Iterable[str]`, files that it uses without an import, as those of its own package,
and `taken(path, text)`, where counting the words along with the reading is cheaper than apart.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from afresh.domain.code import FileReading
from afresh.insight.languages.generated import is_generated, unreadable_reason_from_text

LANGUAGE_BY_SUFFIX = {
    **dict.fromkeys((".py", ".pyi", ".pyw"), "python"),
    **dict.fromkeys((".ts", ".tsx", ".mts", ".cts"), "typescript"),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), "javascript"),
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    ".cs": "c_sharp",
}
"""The language of a file's ending; the language's name is that of its file here."""
IDENTIFIER_OR_WORD = re.compile(r"[^\W\d]\w+")


def detect_language(path: str) -> str:
    """Empty when the file is in none that is understood."""
    name, dot, suffix = path.rpartition(".")
    return LANGUAGE_BY_SUFFIX.get(dot + suffix.lower(), "") if name and name[-1] != "/" else ""


def reader_key_from_path(path: str) -> str:
    """What a text of that path is read by. What another one made of the same text, or none for want of grammars, says nothing."""
    language = detect_language(path)
    if language in ("", "python"):
        return language
    return f"{language}{'x' if path.endswith('x') else ''}{'' if has_grammars() else '?'}"


@cache
def has_grammars() -> bool:
    return find_spec("tree_sitter") is not None


def filter_readable_paths(paths: Iterable[str]) -> list[str]:
    """Those in a language of ours, in their order."""
    return [path for path in paths if detect_language(path)]


def read_source(path: str, text: str) -> FileReading:
    return read_source_and_words(path, text)[0]


def read_source_and_words(path: str, text: str) -> tuple[FileReading, Counter[str]]:
    """The reading, and the identifiers and words of the text with how often it says them; none of a text that no person wrote."""
    language = detect_language(path)
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    if not language:
        return FileReading("", lines), Counter()
    if fault := unreadable_reason_from_text(text):
        return FileReading(language, lines, fault=fault), Counter()
    own = getattr(load_language(language), "taken", None)
    reading, said = (
        own(path, text) if own else (load_language(language).read(path, text), Counter(IDENTIFIER_OR_WORD.findall(text)))
    )
    if is_generated(text):
        return replace(reading, fault=reading.fault or "generated"), Counter()
    return reading, said


@cache
def load_language(language: str) -> ModuleType:
    """What understands a language, imported when the first file of it is met."""
    return import_module(f"afresh.insight.languages.{language}")
