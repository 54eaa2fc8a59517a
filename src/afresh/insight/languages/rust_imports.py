"""Where the `use` and `mod` of a Rust file lead within its tree."""

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from afresh.domain.code import Import
from afresh.insight.languages import settings

if TYPE_CHECKING:
    from afresh.insight.code import Code

TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|::|[{},*]|(?:r#)?\w+", re.DOTALL)
DEEPEST = 20
PASSED_ON = 3
"""Files through which one name is followed."""
ROOTS = ("lib.rs", "main.rs")
APART = re.compile(r"(?:^|/)(?:tests|benches|examples|src/bin)/[^/]+\.rs$")
"""Files that are a crate of their own."""


@dataclass(frozen=True, slots=True)
class Modules:
    paths: Collection[str]
    crates: Mapping[str, str]
    """The root file of each crate of the tree that has a library."""
    roots: Collection[str]
    """Files with which a crate begins: libraries, programs, tests."""
    imports: Callable[[str], Sequence[Import]]


def used(tree: str, line: int) -> Iterator[Import]:
    """One import for each module that a tree of uses names: `a::{b, c::{self, d as e}}` names `a` and `a::c`."""
    found: dict[str, list[tuple[str, str]]] = {}
    for path, alias in _leaves(tree):
        kept = path[:-1] if path[-1] == "self" and len(path) > 1 else path
        if len(kept) > 1:
            found.setdefault("::".join(kept[:-1]), []).append((kept[-1], alias or kept[-1]))
        else:
            yield Import("::".join(kept), line, (), alias)
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


def modules(code: "Code") -> Modules:
    paths = frozenset(path for path in code.files if path.endswith(".rs"))
    crates: dict[str, str] = {}
    roots = {path for path in paths if APART.search(path)}
    for path, text in settings.named(code, "Cargo.toml"):
        folder, manifest = posixpath.dirname(path), settings.toml_of(text)
        package, library = settings.table(manifest, "package"), settings.table(manifest, "lib")
        if not package:
            continue
        root = settings.joined(folder, str(library.get("path", "src/lib.rs")))
        roots |= {root, *_programs(folder, manifest)} & paths
        if root in paths:
            crates[str(library.get("name", package.get("name", ""))).replace("-", "_")] = root
    return Modules(paths, crates, roots, code.imported_by)


def _programs(folder: str, manifest: Mapping[str, Any]) -> Iterator[str]:
    """What a manifest names as a program or a test, and what Cargo finds by itself."""
    yield from (settings.joined(folder, place) for place in ("src/main.rs", "build.rs"))
    for kind in ("bin", "test", "bench", "example"):
        listed = manifest.get(kind)
        for one in listed if isinstance(listed, list) else ():
            yield settings.joined(folder, str(settings.table(one).get("path", "")))


def targets(imported: Import, path: str, modules: Modules) -> Iterable[str]:
    return _targets(imported, path, modules, PASSED_ON)


def _targets(imported: Import, path: str, modules: Modules, depth: int) -> set[str]:
    start = _start(imported.module.split("::"), path, modules)
    if start is None:
        return set()
    folder, owner, segments = start
    found: set[str] = set()
    for name in [name for name, _ in imported.names] or [""]:
        file, rest = _walk(folder, owner, [*segments, *([name] if name not in ("", "*") else [])], modules)
        if file:
            found |= {file, *(_passed_on(file, rest[0], modules, depth) if rest and file != path else ())}
    return found


def _start(segments: list[str], path: str, modules: Modules) -> tuple[str, str, list[str]] | None:
    """The folder that the first segments name, the file that it belongs to, and the other segments; None outside the tree."""
    first = segments[0]
    if first == "crate":
        folder = _crate_folder(path, modules)
        return folder, _owner(folder, path, modules), segments[1:]
    folder = _children(path, modules)
    if first == "self":
        return folder, path, segments[1:]
    if first == "super":
        while segments and segments[0] == "super":
            folder, segments = posixpath.dirname(folder), segments[1:]
        return folder, _owner(folder, path, modules), segments
    if _child(folder, first, modules):
        return folder, path, segments
    root = modules.crates.get(first)
    return (posixpath.dirname(root), root, segments[1:]) if root else None


def _walk(folder: str, owner: str, segments: list[str], modules: Modules) -> tuple[str, list[str]]:
    """As far as segments are files; the rest are names in the last of them."""
    for number, segment in enumerate(segments):
        file = _child(folder, segment, modules)
        if not file:
            return owner, segments[number:]
        folder, owner = posixpath.join(folder, segment), file
    return owner, []


def _passed_on(file: str, name: str, modules: Modules, depth: int) -> set[str]:
    """Where a name comes from that a file uses to give it on."""
    if not depth:
        return set()
    onward = [one for one in modules.imports(file) if any(here == name for _, here in one.names)]
    return {found for one in onward for found in _targets(_only(one, name), file, modules, depth - 1)}


def _only(imported: Import, name: str) -> Import:
    return Import(imported.module, imported.line, tuple(pair for pair in imported.names if pair[1] == name))


def _children(path: str, modules: Modules) -> str:
    """The folder in which the modules of a file lie."""
    folder, name = posixpath.split(path)
    return folder if name == "mod.rs" or path in modules.roots else path.removesuffix(".rs")


def _child(folder: str, name: str, modules: Modules) -> str:
    there = posixpath.join(folder, name)
    return next((file for file in (f"{there}.rs", f"{there}/mod.rs") if file in modules.paths), "")


def _crate_folder(path: str, modules: Modules) -> str:
    """Of the file itself if it is a root, else the innermost that has one."""
    folder = posixpath.dirname(path)
    if path in modules.roots:
        return folder
    folders = {posixpath.dirname(root) for root in modules.roots}
    while folder and folder not in folders:
        folder = posixpath.dirname(folder)
    return folder


def _owner(folder: str, path: str, modules: Modules) -> str:
    """The file whose modules lie in a folder."""
    if path in modules.roots and folder == posixpath.dirname(path):
        return path
    known = sorted(root for root in modules.roots if posixpath.dirname(root) == folder)
    own = (posixpath.join(folder, name) for name in ROOTS)
    return next((file for file in (f"{folder}.rs", f"{folder}/mod.rs", *own, *known) if file in modules.paths), "")
