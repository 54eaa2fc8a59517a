"""What a Rust file says of itself."""

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from afresh.domain.code import ImportedModule, FileReading
from afresh.insight.languages import grammar
from afresh.insight.languages.comments import CommentStyle
from afresh.insight.languages.nesting import CapturedNode, NamedDefinition
from afresh.insight.languages.rust_imports import index_modules, resolve_import, expand_use_tree

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["has_test_module", "index_modules", "read_source", "resolve_import"]

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
COMMENT_STYLE = CommentStyle(doc=re.compile(r"///(?!/)|/\*\*(?!/)"), whole=re.compile(r"//!|/\*!"))
REFERENCE_PREFIX = re.compile(r"^(?:&(?:'\w+\s+)?(?:mut\s+)?|dyn\s+|\*(?:const|mut)\s+)+")


def read_source(path: str, text: str) -> FileReading:
    return grammar.read_with_grammar(GRAMMAR, text)


def has_test_module(reading: FileReading) -> bool:
    """Rust keeps tests of a file in a module inside it."""
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
    bases = tuple(_bare_type(definition.text(one)) for one in bounds.named_children if one.type != "lifetime") if bounds else ()
    if node.type == "macro_definition":
        until = node.child(2)
        return NamedDefinition(named, until=until.end_byte if until else 0)
    return NamedDefinition(named, bases=bases, until=_signature_end(node))


def _signature_end(node: "Node") -> int:
    """A tuple struct is told with its parts."""
    body = node.child_by_field_name("body")
    return node.end_byte if body is not None and body.type == "ordered_field_declaration_list" else 0


def _bare_type(kind: str) -> str:
    """A type without its references and arguments."""
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
    """In a module inside a file, `super` is what the file itself calls `self`."""
    around = node.parent
    while path.startswith("super::") and around is not None:
        if around.type == "mod_item":
            path = path.removeprefix("super::")
            path = path if path.startswith("super::") else f"self::{path}"
        around = around.parent
    return path


def _entry_point(reading: FileReading, text: str, captures: Collection[str]) -> str:
    return "fn main" if any(symbol.name == "main" for symbol in reading.symbols) else ""


GRAMMAR = grammar.Grammar("rust", "Rust", "tree_sitter_rust", QUERY, COMMENT_STYLE, _name_definition, _read_imports, _entry_point)
