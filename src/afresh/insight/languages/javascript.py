"""What a JavaScript file says of itself; also JSX and CommonJS."""

from afresh.domain.code import SymbolKind, FileReading
from afresh.insight.languages import ecmascript, grammar
from afresh.insight.languages.ecmascript_imports import index_modules, resolve_import
from afresh.insight.languages.nesting import CapturedNode, NamedDefinition

__all__ = ["index_modules", "read_source", "resolve_import"]

QUERY = (
    ecmascript.QUERY
    + """
(field_definition) @constant
"""
)


def read_source(path: str, text: str) -> FileReading:
    return grammar.read_with_grammar(GRAMMAR, text)


def _name_definition(definition: CapturedNode) -> NamedDefinition | None:
    if definition.node.type == "field_definition":
        value = definition.node.child_by_field_name("value")
        kind = SymbolKind.METHOD if value is not None and value.type in ecmascript.FUNCTION_NODE_TYPES else SymbolKind.CONSTANT
        return NamedDefinition(definition.field("property"), kind)
    return ecmascript.name_definition(definition)


GRAMMAR = grammar.Grammar(
    language="javascript",
    title="JavaScript",
    wheel="tree_sitter_javascript",
    query=QUERY,
    style=ecmascript.COMMENT_STYLE,
    name=_name_definition,
    imports=ecmascript.read_imports,
    entry=ecmascript.find_entry_point,
)
