"""What a TypeScript file says of itself; also TSX and declaration files."""

from dataclasses import replace

from afresh.code.languages import ecmascript, tree_sitter_reader
from afresh.code.languages.ecmascript_imports import index_modules, resolve_import
from afresh.code.languages.symbol_extraction import CapturedNode, NamedDefinition
from afresh.core.symbol import FileReading, SymbolKind

__all__ = ["index_modules", "read_source", "resolve_import"]

QUERY = (
    ecmascript.QUERY
    + """
(type_identifier) @mention
(import_statement (import_require_clause)) @import
(abstract_class_declaration) @class
(interface_declaration) @interface
(enum_declaration) @class
(internal_module) @module
(module body: (_)) @module
(type_alias_declaration) @constant
(function_signature) @function
(class_body [(abstract_method_signature) (method_signature)] @method)
(interface_body (method_signature) @method)
(interface_body (property_signature) @constant)
(public_field_definition) @constant
(enum_body (property_identifier) @constant)
(enum_assignment) @constant
(ambient_declaration) @outer
(ambient_declaration (lexical_declaration (variable_declarator) @constant) @outer)
(ambient_declaration (variable_declaration (variable_declarator) @constant) @outer)
(internal_module body: (statement_block [
  (lexical_declaration (variable_declarator) @constant)
  (export_statement declaration: (lexical_declaration (variable_declarator) @constant))
]))
(expression_statement (internal_module)) @outer
"""
)


def read_source(path: str, text: str) -> FileReading:
    return tree_sitter_reader.read_with_grammar(TSX_GRAMMAR if path.endswith(".tsx") else GRAMMAR, text)


def _name_definition(definition: CapturedNode) -> NamedDefinition | None:
    node = definition.node
    if node.type == "property_identifier":
        return NamedDefinition(definition.text(node))
    named = ecmascript.name_definition(definition)
    if named and node.type == "public_field_definition":
        value = node.child_by_field_name("value")
        return replace(
            named, kind=SymbolKind.METHOD if value is not None and value.type in ecmascript.FUNCTION_NODE_TYPES else None
        )
    return named


GRAMMAR = tree_sitter_reader.Grammar(
    language="typescript",
    title="TypeScript",
    wheel="tree_sitter_typescript",
    query=QUERY,
    style=ecmascript.COMMENT_STYLE,
    name=_name_definition,
    imports=ecmascript.read_imports,
    entry=ecmascript.find_entry_point,
    dialect="language_typescript",
)
TSX_GRAMMAR = replace(GRAMMAR, dialect="language_tsx")
