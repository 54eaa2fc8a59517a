"""The settings of a tree that say where imports lead: found by their file name, read without trust."""

import json
import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from afresh.errors import AfreshError

if TYPE_CHECKING:
    from afresh.insight.code import Code

FOREIGN = ("node_modules/", "vendor/", "target/")
LENIENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
LAST_COMMA = re.compile(r'("(?:\\.|[^"\\\n])*")|,(?=\s*[}\]])')


def named(code: "Code", *names: str) -> Iterator[tuple[str, str]]:
    """Path and text of each file of such a name that is the project's own."""
    for path in code.paths:
        if posixpath.basename(path) in names and not any(f"/{folder}" in f"/{path}" for folder in FOREIGN):
            yield path, text_of(code, path)


def text_of(code: "Code", path: str) -> str:
    try:
        return code.text(path)
    except (OSError, UnicodeError, AfreshError, KeyError):
        return ""


def json_of(text: str) -> Mapping[str, Any]:
    """Also with comments and last commas, as editors allow them; empty for what is no object."""
    text = LENIENT.sub(lambda found: found[1] or "", text.removeprefix("\ufeff"))
    text = LAST_COMMA.sub(lambda found: found[1] or "", text)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def toml_of(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def table(found: object, *names: str) -> Mapping[str, Any]:
    """A table inside tables; empty where something else stands."""
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def joined(folder: str, path: str) -> str:
    """A path within the tree; empty for its top, and for what leads out of it."""
    found = posixpath.normpath(posixpath.join(folder, path))
    return "" if found == "." or found.startswith(("../", "/")) or found == ".." else found
