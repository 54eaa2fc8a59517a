"""What a JavaScript file says of itself; also JSX and CommonJS."""

from afresh.domain.code import Kind, Reading
from afresh.insight.languages import ecmascript, grammar
from afresh.insight.languages.ecmascript_imports import modules, targets
from afresh.insight.languages.nesting import Definition, Named

__all__ = ["modules", "read", "targets"]

QUERY = (
    ecmascript.QUERY
    + """
(field_definition) @constant
"""
)


def read(path: str, text: str) -> Reading:
    return grammar.read(GRAMMAR, text)


def _name(definition: Definition) -> Named | None:
    if definition.node.type == "field_definition":
        value = definition.node.child_by_field_name("value")
        kind = Kind.METHOD if value is not None and value.type in ecmascript.FUNCTIONS else Kind.CONSTANT
        return Named(definition.field("property"), kind)
    return ecmascript.name(definition)


GRAMMAR = grammar.Grammar(
    language="javascript",
    title="JavaScript",
    wheel="tree_sitter_javascript",
    query=QUERY,
    style=ecmascript.STYLE,
    name=_name,
    imports=ecmascript.imports,
    entry=ecmascript.entry,
)
