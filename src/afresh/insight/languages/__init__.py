"""The languages that are understood, one file each. A file of this package has three functions:

- `read(path, text) -> Reading`, pure;
- `modules(code) -> Any`, made once for a view of a tree: whatever its imports are looked up in;
- `targets(imported, path, modules) -> Iterable[str]`, the files of the tree that one import of the file at `path` leads to.
"""

from functools import cache
from importlib import import_module
from pathlib import PurePosixPath
from types import ModuleType

from afresh.domain.code import Reading

SUFFIXES = {
    ".py": "python",
    ".pyi": "python",
    **dict.fromkeys((".ts", ".tsx", ".mts", ".cts"), "typescript"),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), "javascript"),
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    ".cs": "c_sharp",
}
"""The language of a file's ending; the language's name is that of its file here."""


def language_of(path: str) -> str:
    """Empty when the file is in none that is understood."""
    return SUFFIXES.get(PurePosixPath(path).suffix.lower(), "")


def read(path: str, text: str) -> Reading:
    language = language_of(path)
    return speaker(language).read(path, text) if language else Reading("", text.count("\n"))


@cache
def speaker(language: str) -> ModuleType:
    """What understands a language, imported when the first file of it is met."""
    return import_module(f"afresh.insight.languages.{language}")
