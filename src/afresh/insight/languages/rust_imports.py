"""Where the `use` and `mod` of a Rust file lead within its tree."""

import re
from collections.abc import Iterator

from afresh.domain.code import Import

TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|::|[{},*]|(?:r#)?\w+", re.DOTALL)
DEEPEST = 20


def used(tree: str, line: int) -> Iterator[Import]:
    """One import for each module that a tree of uses names: `a::{b, c::{self, d as e}}` names `a` and `a::c`."""
    found: dict[str, list[tuple[str, str]]] = {}
    for path, alias in _leaves(tree):
        *module, last = path[:-1] if path[-1] == "self" and len(path) > 1 else path
        if module:
            found.setdefault("::".join(module), []).append((last, alias or last))
        else:
            yield Import(last, line, (), alias)
    for module, names in found.items():
        yield Import(module, line, tuple(names))


def _leaves(tree: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each path of a tree of uses, with its alias."""
    path: tuple[str, ...] = ()
    around: list[tuple[str, ...]] = [()]
    alias = before = ""
    for word in (*(word for word in TOKEN.findall(tree) if not word.startswith(("//", "/*"))), ","):
        if word == "{":
            around.append(path if len(around) < DEEPEST else around[-1])
        elif word in (",", "}"):
            if len(path) > len(around[-1]):
                yield path, alias
            if word == "}" and len(around) > 1:
                around.pop()
            path, alias = around[-1], ""
        elif before == "as":
            alias = word
        elif word not in ("::", "as"):
            path = (*path, word.removeprefix("r#"))
        before = word


def modules(code): return None
def targets(imported, path, modules): return ()
