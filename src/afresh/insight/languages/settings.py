"""The settings of a tree that say where imports lead: found by their file name, read without trust."""

import json
import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from afresh.errors import AfreshError

if TYPE_CHECKING:
    from afresh.insight.code import CodeIndex

THIRD_PARTY_FOLDERS = ("node_modules/", "vendor/", "target/")
STRING_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
STRING_OR_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\\n])*")|,(?=\s*[}\]])')


def find_files_named(code: "CodeIndex", *names: str) -> Iterator[tuple[str, str]]:
    """Path and text of each file of such a name that is the project's own."""
    for path in code.paths:
        if posixpath.basename(path) in names and not any(f"/{folder}" in f"/{path}" for folder in THIRD_PARTY_FOLDERS):
            yield path, read_index_text(code, path)


def read_index_text(code: "CodeIndex", path: str) -> str:
    try:
        return code.text(path)
    except (OSError, UnicodeError, AfreshError, KeyError):
        return ""


def load_lenient_json(text: str) -> Mapping[str, Any]:
    """Also with comments and last commas, as editors allow them; empty for what is no object."""
    text = STRING_OR_COMMENT.sub(lambda found: found[1] or "", text.removeprefix("\ufeff"))
    text = STRING_OR_TRAILING_COMMA.sub(lambda found: found[1] or "", text)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def load_toml(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def get_nested_table(found: object, *names: str) -> Mapping[str, Any]:
    """A table inside tables; empty where something else stands."""
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def join_tree_path(folder: str, path: str) -> str:
    """A path within the tree; empty for its top, and for what leads out of it."""
    found = posixpath.normpath(posixpath.join(folder, path))
    return "" if found == "." or found.startswith(("../", "/")) or found == ".." else found
