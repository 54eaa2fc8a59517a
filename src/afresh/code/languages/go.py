"""Reads Go files and resolves their imports."""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from afresh.code import config_files
from afresh.code.languages import tree_sitter_reader
from afresh.code.languages.doc_comments import CommentStyle
from afresh.code.languages.registry import PackageIndex, build_package_index
from afresh.code.languages.symbol_extraction import CapturedNode, NamedDefinition
from afresh.core.symbol import FileReading, ImportedModule, Symbol, SymbolKind

if TYPE_CHECKING:
    from tree_sitter import Node

    from afresh.code.index.code_index import CodeIndex


QUERY = """
[(identifier) (type_identifier) (field_identifier) (package_identifier)] @mention
(comment) @comment
(ERROR) @error
(package_clause (package_identifier) @package)
(import_spec) @import
(function_declaration) @function
(method_declaration) @method
(type_declaration (type_spec) @class)
(type_declaration (type_alias) @constant)
(method_elem) @method
(field_declaration name: (field_identifier) @constant) @outer
(const_spec name: (identifier) @constant) @outer
(var_spec name: (identifier) @constant) @outer
[(type_declaration) (const_declaration) (var_declaration)] @outer
[(type_declaration "(") (const_declaration "(") (var_declaration (var_spec_list))] @group
"""
SIGNATURE_PREFIXES = {"const_spec": "const ", "var_spec": "var "}
COMMENT_STYLE = CommentStyle(re.compile(r"//(?!go:|line |export |nolint|\s*\+build)|/\*"))


def read_source(path: str, text: str) -> FileReading:
    return tree_sitter_reader.read_with_grammar(GRAMMAR, text)


def _name_definition(definition: CapturedNode) -> NamedDefinition | None:
    node = definition.node
    if node.type in ("identifier", "field_identifier"):
        return _name_listed(definition)
    named = definition.field("name")
    if not named:
        return None
    if node.type == "method_declaration":
        owner = _receiver_type(definition.field("receiver"))
        return NamedDefinition(f"{owner}.{named}" if owner else named)
    kind = node.child_by_field_name("type")
    if node.type == "type_spec" and kind is not None:
        return _name_type(definition, named, kind)
    return NamedDefinition(named, lead="type " if node.type == "type_alias" else "")


def _name_listed(definition: CapturedNode) -> NamedDefinition | None:
    """Return one name of a declaration, which may be in a group; None for the blank identifier."""
    named = definition.text(definition.node)
    around = definition.node.parent
    return None if named == "_" else NamedDefinition(named, lead=SIGNATURE_PREFIXES.get(around.type, "") if around else "")


def _receiver_type(text: str) -> str:
    """Return the type of a receiver: `(c *Context[T])` gives `Context`."""
    return text.strip("()").split("[")[0].replace("*", " ").split()[-1] if text.strip("() *[") else ""


def _name_type(definition: CapturedNode, named: str, kind: "Node") -> NamedDefinition:
    if kind.type == "interface_type":
        bases = [definition.text(part) for part in kind.named_children if part.type == "type_elem"]
        return NamedDefinition(
            named,
            SymbolKind.INTERFACE,
            tuple(base for base in bases if re.fullmatch(r"[\w.]+", base)),
            _opening_brace(kind),
            "type ",
        )
    if kind.type == "struct_type":
        fields = kind.named_child(0)
        embedded = [part for part in fields.named_children if _is_embedded(part)] if fields else []
        bases = tuple(definition.text(part.child_by_field_name("type")).partition("[")[0] for part in embedded)
        return NamedDefinition(named, SymbolKind.CLASS, bases, _opening_brace(kind), "type ")
    return NamedDefinition(named, SymbolKind.CONSTANT, lead="type ")


def _is_embedded(part: "Node") -> bool:
    return part.type == "field_declaration" and part.child_by_field_name("name") is None


def _opening_brace(kind: "Node") -> int:
    """Return the byte of the opening brace, where the signature ends: fields and methods are symbols themselves."""
    brace = next((child for child in kind.children if child.type in ("{", "field_declaration_list")), None)
    return brace.start_byte if brace else kind.end_byte


def _read_imports(definition: CapturedNode) -> Iterator[ImportedModule]:
    alias = definition.field("name")
    module = definition.field("path").strip('"`')
    if module:
        yield ImportedModule(module, definition.line, (), alias)


def _entry_point(reading: FileReading, text: str, captures: Collection[str]) -> str:
    main = reading.packages[:1] == ("main",) and any(symbol.name == "main" for symbol in reading.symbols)
    return "func main" if main else ""


GRAMMAR = tree_sitter_reader.Grammar(
    "go", "Go", "tree_sitter_go", QUERY, COMMENT_STYLE, _name_definition, _read_imports, _entry_point
)


MODULE_LINE = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GoModules:
    roots: Mapping[str, str]
    """The folder of each module of the tree."""
    folders: PackageIndex
    """The declarations of each folder, without tests."""


def index_modules(code: "CodeIndex") -> GoModules:
    roots: dict[str, str] = {}
    for path, text in config_files.find_files_named(code, "go.mod"):
        if match := MODULE_LINE.search(text):
            roots[match[1]] = posixpath.dirname(path)
    readings = code.readings(path for path in code.files if path.endswith(".go"))
    return GoModules(roots, build_package_index(readings, lambda path: (posixpath.dirname(path),), _is_visible))


def _is_visible(path: str, symbol: Symbol) -> bool:
    return "." not in symbol.name and not path.endswith("_test.go")


def resolve_import(imported: ImportedModule, path: str, modules: GoModules) -> Iterable[str]:
    """Return the files that declare the used names of the package; all its files if that can't be determined."""
    folder = _package_folder(imported.module, modules.roots)
    if folder is None:
        return ()
    used = set[str]() if imported.alias == "_" else modules.folders.used(folder, path)
    return used or modules.folders.whole(folder)


def find_package_uses(path: str, modules: GoModules) -> Iterable[str]:
    """Return the files of its own package whose names it uses; Go needs no import for them."""
    return modules.folders.used(posixpath.dirname(path), path)


def _package_folder(module: str, roots: Mapping[str, str]) -> str | None:
    """Return the folder of a package, within the innermost module that its path belongs to."""
    for root in sorted(roots, key=len, reverse=True):
        if module == root or module.startswith(root + "/"):
            return posixpath.join(roots[root], module[len(root) + 1 :]).rstrip("/")
    return None
