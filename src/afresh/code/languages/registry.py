"""The supported languages, one module each. Such a module has three functions:

- `read_source(path, text) -> FileReading`, pure;
- `index_modules(code) -> Any`, called once per index of a tree: what imports are looked up in, such as a `PackageIndex`;
- `resolve_import(imported, path, modules) -> Iterable[str]`, the files that one import of the file at `path` leads to.

It may have two more: `find_package_uses(path, modules) -> Iterable[str]`, files that it uses without an import, such as those of
its own package, and `read_source_and_words(path, text)`, where counting the words while reading is cheaper.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from afresh.core.symbol import FileReading, Symbol

LANGUAGE_BY_SUFFIX = {
    **dict.fromkeys((".py", ".pyi", ".pyw"), "python"),
    **dict.fromkeys((".ts", ".tsx", ".mts", ".cts"), "typescript"),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), "javascript"),
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    ".cs": "c_sharp",
}
"""The language of each file suffix."""
GRAMMAR_PACKAGES = {
    "typescript": "tree-sitter-typescript",
    "javascript": "tree-sitter-javascript",
    "go": "tree-sitter-go",
    "rust": "tree-sitter-rust",
    "java": "tree-sitter-java",
    "c_sharp": "tree-sitter-c-sharp",
}
"""What reads each language besides Python, together with the package tree-sitter."""
MODULE_BY_LANGUAGE = {"javascript": "ecmascript", "typescript": "ecmascript"}
"""Languages whose module has another name."""
IDENTIFIER_OR_WORD = re.compile(r"[^\W\d]\w+")


def detect_language(path: str) -> str:
    """Return the language of a file; empty if it is not supported."""
    name, dot, suffix = path.rpartition(".")
    return LANGUAGE_BY_SUFFIX.get(dot + suffix.lower(), "") if name and name[-1] != "/" else ""


def reader_key_from_path(path: str) -> str:
    """Return a key for the reader of that path. It is part of the content hash, since another reader, or missing grammars, would
    give another result.
    """
    language = detect_language(path)
    if language in ("", "python"):
        return language
    marks = (
        "x" if path.endswith("x") else "",
        "!" if BUNDLE_PATH.search(path) else "",
        "" if has_grammars() and can_import_grammar(language) else "?",
    )
    return language + "".join(marks)


@cache
def has_grammars() -> bool:
    return find_spec("tree_sitter") is not None


@cache
def can_import_grammar(language: str) -> bool:
    try:
        import_module("tree_sitter")
        import_module(GRAMMAR_PACKAGES[language].replace("-", "_"))
    except ImportError:
        return False
    return True


def list_missing_grammars(paths: Iterable[str]) -> dict[str, str]:
    """Return the packages that must be importable to read these files and are not, by language."""
    spoken = sorted({language for path in paths if (language := detect_language(path)) in GRAMMAR_PACKAGES})
    return {language: GRAMMAR_PACKAGES[language] for language in spoken if not can_import_grammar(language)}


def filter_readable_paths(paths: Iterable[str]) -> list[str]:
    """Return the paths in a supported language, in their order."""
    return [path for path in paths if detect_language(path)]


def read_source(path: str, text: str) -> FileReading:
    return read_source_and_words(path, text)[0]


def read_source_and_words(path: str, text: str) -> tuple[FileReading, Counter[str]]:
    """Return the reading, and the identifiers and words of the text with their counts; empty for generated text."""
    language = detect_language(path)
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    if not language:
        return FileReading("", lines), Counter()
    if fault := unreadable_reason_from_text(path, text):
        return FileReading(language, lines, fault=fault), Counter()
    own = getattr(load_language(language), "read_source_and_words", None)
    reading, said = (
        own(path, text) if own else (load_language(language).read_source(path, text), Counter(IDENTIFIER_OR_WORD.findall(text)))
    )
    if is_generated(text):
        return replace(reading, fault=reading.fault or "generated"), Counter()
    return reading, said


@cache
def load_language(language: str) -> ModuleType:
    """Return the module for a language, imported when its first file is read."""
    return import_module(f"afresh.code.languages.{MODULE_BY_LANGUAGE.get(language, language)}")


MAX_READ_CHARACTERS = 1_000_000
"""Longer texts are not written by people and not read."""
GENERATED_MARKER_CHARACTERS = 2_000
"""Characters at the top of a file in which a generator's marker is searched."""
GENERATED_MARKER = re.compile(
    r"^[ \t]*(?:#|//|/\*|\*|--|;|<!--|\"\"\"|''').*?(?:@generated\b|<auto-?generated\b|\bcode generated by\b.*\bdo not edit\b"
    r"|\b(?:this|the) (?:file|code|module) (?:is|was|has been) (?:auto-?|automatically |)generated\b"
    r"|\bautomatically generated (?:by|from)\b|\bgenerated by the protocol buffer compiler\b"
    r"|\bminified (?:version|build|copy|with|by)\b|\bdo not edit\b.*\bgenerated\b|\bgenerated\b.*\bdo not (?:edit|modify)\b)",
    re.IGNORECASE | re.MULTILINE,
)
MIN_WIDE_TEXT_CHARACTERS = 2_000
MAX_MEAN_LINE_CHARACTERS = 300
"""A text of at least this many characters is not read if its average line is longer than this: nobody wrote it by hand."""
BUNDLE_PATH = re.compile(r"[.-](?:min|bundle)\.[cm]?js$|(?:^|/)dist/(?:.*/)?[^/]+\.[cm]?js$")
"""What build tools of the web put together, where it is committed."""


def unreadable_reason_from_text(path: str, text: str) -> str:
    """Return why a text is not read at all; empty if it is."""
    if len(text) > MAX_READ_CHARACTERS:
        return f"{len(text):,} characters, too large"
    if BUNDLE_PATH.search(path):
        return "generated: built or minified"
    if len(text) > MIN_WIDE_TEXT_CHARACTERS and len(text) > MAX_MEAN_LINE_CHARACTERS * (text.count("\n") + 1):
        return "generated: very long lines"
    return ""


def is_generated(text: str) -> bool:
    """Whether a comment at the top says that the file is generated."""
    top = text[:GENERATED_MARKER_CHARACTERS].lower()
    return ("generated" in top or "minified" in top) and bool(GENERATED_MARKER.search(text, 0, GENERATED_MARKER_CHARACTERS))


@dataclass(frozen=True, slots=True)
class PackageIndex:
    """For languages in which a package has many files: finds the files that declare the names that a file uses."""

    files: Mapping[str, Mapping[str, Collection[str]]]
    """For each package, the files that declare each name."""
    readings: Mapping[str, FileReading]

    def used(self, package: str, path: str) -> set[str]:
        """Return the files of a package that declare a name which the file at `path` uses."""
        declared = self.files.get(package)
        if not declared:
            return set()
        return {one for name in self.readings[path].mentions for one in declared.get(name, ())} - {path}

    def whole(self, package: str) -> set[str]:
        return {one for files in self.files.get(package, {}).values() for one in files}


def build_package_index(
    readings: Mapping[str, FileReading],
    packages: Callable[[str], Iterable[str]],
    seen: Callable[[str, Symbol], bool] = lambda path, symbol: "." not in symbol.name,
) -> PackageIndex:
    """Build the index. `packages` returns the packages of a file; `seen`: whether other files use a symbol by its short name."""
    files: dict[str, dict[str, list[str]]] = {}
    for path, reading in readings.items():
        for package in packages(path):
            names = files.setdefault(package, {})
            for name in dict.fromkeys(symbol.short for symbol in reading.symbols if seen(path, symbol)):
                names.setdefault(name, []).append(path)
    return PackageIndex(files, readings)
