"""Reads Rust files and resolves their `use` and `mod` to files of the tree."""

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from afresh.code import config_files
from afresh.code.languages import tree_sitter_reader
from afresh.code.languages.doc_comments import CommentStyle
from afresh.code.languages.symbol_extraction import CapturedNode, NamedDefinition
from afresh.core.symbol import FileReading, ImportedModule

if TYPE_CHECKING:
    from tree_sitter import Node

    from afresh.code.index.code_index import CodeIndex


QUERY = """
[(identifier) (type_identifier) (field_identifier) (shorthand_field_identifier)] @mention
[(line_comment) (block_comment)] @comment
(ERROR) @error
(attribute_item) @before
[(use_declaration) (extern_crate_declaration) (mod_item !body)] @import
[(function_item) (function_signature_item) (macro_definition)] @function
[(struct_item) (enum_item) (union_item)] @class
(trait_item) @interface
(impl_item) @scope
(mod_item body: (_)) @module
[(const_item) (static_item) (type_item) (associated_type) (field_declaration) (enum_variant)] @constant
"""
COMMENT_STYLE = CommentStyle(re.compile(r"///(?!/)|/\*\*(?!/)"))
REFERENCE_PREFIX = re.compile(r"^(?:&(?:'\w+\s+)?(?:mut\s+)?|dyn\s+|\*(?:const|mut)\s+)+")


def read_source(path: str, text: str) -> FileReading:
    return tree_sitter_reader.read_with_grammar(GRAMMAR, text)


def has_test_module(reading: FileReading) -> bool:
    """Whether the file contains a test module, as is usual in Rust."""
    return any(re.search(r"\bmod tests?$", symbol.signature) for symbol in reading.symbols)


def _name_definition(definition: CapturedNode) -> NamedDefinition | None:
    node = definition.node
    if node.type == "impl_item":
        trait = _bare_type(definition.field("trait"))
        return NamedDefinition(_bare_type(definition.field("type")).rpartition("::")[2], adds=(trait,) if trait else ())
    named = definition.field("name")
    if not named:
        return None
    bounds = node.child_by_field_name("bounds") if node.type == "trait_item" else None
    bases = (
        tuple(_bare_type(definition.text(named_child)) for named_child in bounds.named_children if named_child.type != "lifetime")
        if bounds
        else ()
    )
    if node.type == "macro_definition":
        until = node.child(2)
        return NamedDefinition(named, until=until.end_byte if until else 0)
    return NamedDefinition(named, bases=bases, until=_signature_end(node))


def _signature_end(node: "Node") -> int:
    """Return the end of the signature: a tuple struct includes its fields."""
    body = node.child_by_field_name("body")
    return node.end_byte if body is not None and body.type == "ordered_field_declaration_list" else 0


def _bare_type(kind: str) -> str:
    """Return a type without references and type arguments."""
    return REFERENCE_PREFIX.sub("", kind).partition("<")[0].strip()


def _read_imports(definition: CapturedNode) -> Iterator[ImportedModule]:
    node, line = definition.node, definition.line
    if node.type == "use_declaration":
        yield from expand_use_tree(_seen_from_file(definition.field("argument"), node), line)
    elif node.type == "extern_crate_declaration":
        yield ImportedModule(definition.field("name"), line, (), definition.field("alias"))
    else:
        yield ImportedModule(f"self::{definition.field('name')}", line)


def _seen_from_file(path: str, node: "Node") -> str:
    """Return the path as seen from the file: in an inline module, `super` is the file's own `self`."""
    around = node.parent
    while path.startswith("super::") and around is not None:
        if around.type == "mod_item":
            path = path.removeprefix("super::")
            path = path if path.startswith("super::") else f"self::{path}"
        around = around.parent
    return path


def _entry_point(reading: FileReading, text: str, captures: Collection[str]) -> str:
    return "fn main" if any(symbol.name == "main" for symbol in reading.symbols) else ""


GRAMMAR = tree_sitter_reader.Grammar(
    "rust", "Rust", "tree_sitter_rust", QUERY, COMMENT_STYLE, _name_definition, _read_imports, _entry_point
)


USE_TOKEN = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|::|[{},*]|(?:r#)?\w+", re.DOTALL)
MAX_USE_NESTING = 20
CRATE_ROOT_NAMES = ("lib.rs", "main.rs")
SEPARATE_CRATE_PATH = re.compile(r"(?:^|/)(?:tests|benches|examples|src/bin)/[^/]+\.rs$")
"""Files that are crates themselves."""


@dataclass(frozen=True, slots=True)
class RustModules:
    paths: Collection[str]
    crates: Mapping[str, str]
    """The root file of each crate of the tree that has a library."""
    roots: Collection[str]
    """Root files of crates: libraries, programs, tests."""
    imports: Callable[[str], Sequence[ImportedModule]]


def expand_use_tree(tree: str, line: int) -> Iterator[ImportedModule]:
    """Yield one import for each module that a use tree names: `a::{b, c::{self, d as e}}` names `a` and `a::c`."""
    found: dict[str, list[tuple[str, str]]] = {}
    for path, alias in _use_tree_paths(tree):
        kept = path[:-1] if path[-1] == "self" and len(path) > 1 else path
        if len(kept) > 1:
            found.setdefault("::".join(kept[:-1]), []).append((kept[-1], alias or kept[-1]))
        else:
            yield ImportedModule("::".join(kept), line, (), alias)
    for module, names in found.items():
        yield ImportedModule(module, line, tuple(names))


def _use_tree_paths(tree: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each path of a use tree, with its alias."""
    path: tuple[str, ...] = ()
    around: list[tuple[str, ...]] = [()]
    alias = before = ""
    for word in (*(word for word in USE_TOKEN.findall(tree) if not word.startswith(("//", "/*"))), ","):
        if word == "{":
            around.append(path if len(around) < MAX_USE_NESTING else around[-1])
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


def index_modules(code: "CodeIndex") -> RustModules:
    paths = frozenset(path for path in code.files if path.endswith(".rs"))
    crates: dict[str, str] = {}
    roots = {path for path in paths if SEPARATE_CRATE_PATH.search(path)}
    for path, text in config_files.find_files_named(code, "Cargo.toml"):
        folder, manifest = posixpath.dirname(path), config_files.parse_toml(text)
        package, library = config_files.get_table(manifest, "package"), config_files.get_table(manifest, "lib")
        if not package:
            continue
        root = config_files.join_tree_path(folder, str(library.get("path", "src/lib.rs")))
        roots |= {root, *_program_paths(folder, manifest)} & paths
        if root in paths:
            crates[str(library.get("name", package.get("name", ""))).replace("-", "_")] = root
    return RustModules(paths, crates, roots, code.imported_by)


def _program_paths(folder: str, manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield the program and test files that a manifest names and those that Cargo discovers itself."""
    yield from (config_files.join_tree_path(folder, place) for place in ("src/main.rs", "build.rs"))
    for kind in ("bin", "test", "bench", "example"):
        listed = manifest.get(kind)
        for value in listed if isinstance(listed, list) else ():
            yield config_files.join_tree_path(folder, str(config_files.get_table(value).get("path", "")))


def resolve_import(imported: ImportedModule, path: str, modules: RustModules, is_followed: bool = True) -> Iterable[str]:
    """Return the files of an import; of a name that a file only re-exports, also those that it comes from."""
    start = _start_of_path(imported.module.split("::"), path, modules)
    if start is None:
        return set()
    folder, owner, segments = start
    found: set[str] = set()
    for name in [name for name, _ in imported.names] or [""]:
        file, rest = _walk_modules(folder, owner, [*segments, *([name] if name not in ("", "*") else [])], modules)
        if file:
            found.add(file)
            onward = modules.imports(file) if rest and file != path and is_followed else ()
            for module in onward:
                if names := tuple(pair for pair in module.names if pair[1] == rest[0]):
                    found |= {*resolve_import(ImportedModule(module.module, module.line, names), file, modules, False)}
    return found


def _start_of_path(segments: list[str], path: str, modules: RustModules) -> tuple[str, str, list[str]] | None:
    """Return the folder that the first segments name, the file that it belongs to, and the rest; None outside the tree."""
    first = segments[0]
    if first == "crate":
        folder = _crate_folder(path, modules)
        return folder, _folder_owner(folder, path, modules), segments[1:]
    folder = _child_modules_folder(path, modules)
    if first == "self":
        return folder, path, segments[1:]
    if first == "super":
        while segments and segments[0] == "super":
            folder, segments = posixpath.dirname(folder), segments[1:]
        return folder, _folder_owner(folder, path, modules), segments
    if _child_module(folder, first, modules):
        return folder, path, segments
    root = modules.crates.get(first)
    return (posixpath.dirname(root), root, segments[1:]) if root else None


def _walk_modules(folder: str, owner: str, segments: list[str], modules: RustModules) -> tuple[str, list[str]]:
    """Return the last file that the segments lead to, and the remaining segments, which are names in it."""
    for number, segment in enumerate(segments):
        file = _child_module(folder, segment, modules)
        if not file:
            return owner, segments[number:]
        folder, owner = posixpath.join(folder, segment), file
    return owner, []


def _child_modules_folder(path: str, modules: RustModules) -> str:
    """Return the folder of a file's child modules."""
    folder, name = posixpath.split(path)
    return folder if name == "mod.rs" or path in modules.roots else path.removesuffix(".rs")


def _child_module(folder: str, name: str, modules: RustModules) -> str:
    there = posixpath.join(folder, name)
    return next((file for file in (f"{there}.rs", f"{there}/mod.rs") if file in modules.paths), "")


def _crate_folder(path: str, modules: RustModules) -> str:
    """Return the folder of the crate: that of the file itself if it is a crate root, otherwise the innermost one."""
    folder = posixpath.dirname(path)
    if path in modules.roots:
        return folder
    folders = {posixpath.dirname(root) for root in modules.roots}
    while folder and folder not in folders:
        folder = posixpath.dirname(folder)
    return folder


def _folder_owner(folder: str, path: str, modules: RustModules) -> str:
    """Return the file whose child modules are in a folder."""
    if path in modules.roots and folder == posixpath.dirname(path):
        return path
    known = sorted(root for root in modules.roots if posixpath.dirname(root) == folder)
    own = (posixpath.join(folder, name) for name in CRATE_ROOT_NAMES)
    return next((file for file in (f"{folder}.rs", f"{folder}/mod.rs", *own, *known) if file in modules.paths), "")
