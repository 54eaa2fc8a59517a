"""What a Go file says of itself."""

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from afresh.domain.code import Import, Kind, Reading
from afresh.insight.languages import grammar
from afresh.insight.languages.comments import Style
from afresh.insight.languages.go_imports import beside, modules, targets
from afresh.insight.languages.nesting import Definition, Named

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["beside", "modules", "read", "targets"]

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
LEADS = {"const_spec": "const ", "var_spec": "var "}
DIRECTIVE = r"//(?!go:|line |export |nolint|\s*\+build)"
STYLE = Style(doc=re.compile(rf"{DIRECTIVE}|/\*"), whole=re.compile(rf"(?:{DIRECTIVE}|/\*)"))


def read(path: str, text: str) -> Reading:
    return grammar.read(GRAMMAR, text)


def _name(definition: Definition) -> Named | None:
    node = definition.node
    if node.type in ("identifier", "field_identifier"):
        return _listed(definition)
    named = definition.field("name")
    if not named:
        return None
    if node.type == "method_declaration":
        owner = _receiver(definition.field("receiver"))
        return Named(f"{owner}.{named}" if owner else named)
    kind = node.child_by_field_name("type")
    if node.type == "type_spec" and kind is not None:
        return _type(definition, named, kind)
    return Named(named, lead="type " if node.type == "type_alias" else "")


def _listed(definition: Definition) -> Named | None:
    """One name of a declaration, which may stand in a group; the blank one is none."""
    named = definition.text(definition.node)
    around = definition.node.parent
    return None if named == "_" else Named(named, lead=LEADS.get(around.type, "") if around else "")


def _receiver(text: str) -> str:
    """`(c *Context[T])` is of `Context`."""
    return text.strip("()").split("[")[0].replace("*", " ").split()[-1] if text.strip("() *[") else ""


def _type(definition: Definition, named: str, kind: "Node") -> Named:
    if kind.type == "interface_type":
        bases = [definition.text(part) for part in kind.named_children if part.type == "type_elem"]
        return Named(named, Kind.INTERFACE, tuple(one for one in bases if re.fullmatch(r"[\w.]+", one)), _opening(kind), "type ")
    if kind.type == "struct_type":
        fields = kind.named_child(0)
        embedded = [part for part in fields.named_children if _embedded(part)] if fields else []
        bases = tuple(definition.text(part.child_by_field_name("type")).partition("[")[0] for part in embedded)
        return Named(named, Kind.CLASS, bases, _opening(kind), "type ")
    return Named(named, Kind.CONSTANT, lead="type ")


def _embedded(part: "Node") -> bool:
    return part.type == "field_declaration" and part.child_by_field_name("name") is None


def _opening(kind: "Node") -> int:
    """The byte of the brace: fields and methods are symbols of their own."""
    brace = next((child for child in kind.children if child.type in ("{", "field_declaration_list")), None)
    return brace.start_byte if brace else kind.end_byte


def _imports(definition: Definition) -> Iterator[Import]:
    alias = definition.field("name")
    module = definition.field("path").strip('"`')
    if module:
        yield Import(module, definition.line, (), alias)


def _entry(reading: Reading, text: str, captures: Collection[str]) -> str:
    main = reading.packages[:1] == ("main",) and any(symbol.name == "main" for symbol in reading.symbols)
    return "func main" if main else ""


GRAMMAR = grammar.Grammar("go", "Go", "tree_sitter_go", QUERY, STYLE, _name, _imports, _entry)
