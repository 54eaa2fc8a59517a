"""What a JavaScript file says of itself; also JSX and CommonJS."""

from afresh.code.languages import ecmascript, tree_sitter_reader
from afresh.code.languages.ecmascript_imports import index_modules, resolve_import
from afresh.code.languages.symbol_extraction import CapturedNode, NamedDefinition
from afresh.core.symbol import FileReading, SymbolKind

__all__ = ["index_modules", "read_source", "resolve_import"]

QUERY = (
    ecmascript.QUERY
    + """
(field_definition) @constant
"""
)


def read_source(path: str, text: str) -> FileReading:
    return tree_sitter_reader.read_with_grammar(GRAMMAR, text)


def _name_definition(definition: CapturedNode) -> NamedDefinition | None:
    if definition.node.type == "field_definition":
        value = definition.node.child_by_field_name("value")
        kind = SymbolKind.METHOD if value is not None and value.type in ecmascript.FUNCTION_NODE_TYPES else SymbolKind.CONSTANT
        return NamedDefinition(definition.field("property"), kind)
    return ecmascript.name_definition(definition)


GRAMMAR = tree_sitter_reader.Grammar(
    language="javascript",
    title="JavaScript",
    wheel="tree_sitter_javascript",
    query=QUERY,
    style=ecmascript.COMMENT_STYLE,
    name=_name_definition,
    imports=ecmascript.read_imports,
    entry=ecmascript.find_entry_point,
)
