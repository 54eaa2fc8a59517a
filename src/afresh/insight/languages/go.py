"""What a Go file says of itself."""

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from afresh.domain.code import ImportedModule, SymbolKind, FileReading
from afresh.insight.languages import grammar
from afresh.insight.languages.comments import CommentStyle
from afresh.insight.languages.go_imports import find_package_uses, index_modules, resolve_import
from afresh.insight.languages.nesting import CapturedNode, NamedDefinition

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["find_package_uses", "index_modules", "read_source", "resolve_import"]

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
NOT_DIRECTIVE_COMMENT = r"//(?!go:|line |export |nolint|\s*\+build)"
COMMENT_STYLE = CommentStyle(
    doc=re.compile(rf"{NOT_DIRECTIVE_COMMENT}|/\*"), whole=re.compile(rf"(?:{NOT_DIRECTIVE_COMMENT}|/\*)")
)


def read_source(path: str, text: str) -> FileReading:
    return grammar.read_with_grammar(GRAMMAR, text)


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
    """One name of a declaration, which may stand in a group; the blank one is none."""
    named = definition.text(definition.node)
    around = definition.node.parent
    return None if named == "_" else NamedDefinition(named, lead=SIGNATURE_PREFIXES.get(around.type, "") if around else "")


def _receiver_type(text: str) -> str:
    """`(c *Context[T])` is of `Context`."""
    return text.strip("()").split("[")[0].replace("*", " ").split()[-1] if text.strip("() *[") else ""


def _name_type(definition: CapturedNode, named: str, kind: "Node") -> NamedDefinition:
    if kind.type == "interface_type":
        bases = [definition.text(part) for part in kind.named_children if part.type == "type_elem"]
        return NamedDefinition(
            named,
            SymbolKind.INTERFACE,
            tuple(one for one in bases if re.fullmatch(r"[\w.]+", one)),
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
    """The byte of the brace: fields and methods are symbols of their own."""
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


GRAMMAR = grammar.Grammar("go", "Go", "tree_sitter_go", QUERY, COMMENT_STYLE, _name_definition, _read_imports, _entry_point)
