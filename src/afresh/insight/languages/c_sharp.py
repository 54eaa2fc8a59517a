"""What a C# file says of itself. Namespaces are packages, no part of names."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from afresh.domain.code import Import, Reading
from afresh.insight.languages import grammar
from afresh.insight.languages.c_sharp_imports import beside, modules, targets
from afresh.insight.languages.comments import Style
from afresh.insight.languages.nesting import Definition, Named

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["beside", "modules", "read", "targets"]

QUERY = """
(identifier) @mention
(comment) @comment
(ERROR) @error
(attribute_list) @before
[(namespace_declaration name: (_) @package) (file_scoped_namespace_declaration name: (_) @package)]
(using_directive) @import
[(class_declaration) (struct_declaration) (record_declaration) (enum_declaration)] @class
(interface_declaration) @interface
[(method_declaration) (constructor_declaration) (destructor_declaration) (operator_declaration)
 (conversion_operator_declaration) (indexer_declaration)] @method
(local_function_statement) @function
(delegate_declaration) @constant
[(property_declaration) (event_declaration) (enum_member_declaration)] @constant
(field_declaration (variable_declaration (variable_declarator) @constant)) @outer
(event_field_declaration (variable_declaration (variable_declarator) @constant)) @outer
(global_statement) @statement
"""
STYLE = Style(doc=re.compile(r"///|/\*\*(?!/)"), whole=re.compile(r"//(?!/)|/\*"), markup=True)
USING = re.compile(r"(?:global )?using (?:unsafe )?(static )?(?:(\w+) ?= ?)?(?:global::)?([\w.:]+)")
NAMESPACE = re.compile(r"^[ \t]*namespace[ \t]+([\w.]+)", re.MULTILINE)
"""For files whose conditional parts hide the declaration from the grammar."""
MAIN = re.compile(r"\bstatic\b.*\bMain\(")
OPERATOR = re.compile(r"\boperator\s+(?:checked\s+)?([^\s(]+)")


def read(path: str, text: str) -> Reading:
    reading = grammar.read(GRAMMAR, text)
    if reading.packages or not reading.symbols:
        return reading
    return replace(reading, packages=tuple(dict.fromkeys(NAMESPACE.findall(text))))


def _name(definition: Definition) -> Named | None:
    node = definition.node
    if node.type == "indexer_declaration":
        return Named("this[]", until=_accessors(node))
    if node.type in ("operator_declaration", "conversion_operator_declaration"):
        found = OPERATOR.search(definition.text(node)[:400])
        return Named(f"operator {found[1]}") if found else None
    named = definition.field("name")
    if not named:
        return None
    if node.type == "destructor_declaration":
        return Named(f"~{named}")
    if node.type in ("property_declaration", "event_declaration"):
        return Named(named, until=_accessors(node))
    return Named(named, bases=_bases(definition) if definition.role in ("class", "interface") else ())


def _accessors(node: "Node") -> int:
    """Accessors without bodies belong to a signature, code does not."""
    accessors = node.child_by_field_name("accessors")
    if accessors is not None and all(one.child_by_field_name("body") is None for one in accessors.named_children):
        return accessors.end_byte
    value = node.child_by_field_name("value")
    if accessors is None and value is not None and value.type == "arrow_expression_clause":
        return value.start_byte
    return accessors.start_byte if accessors else 0


def _bases(definition: Definition) -> tuple[str, ...]:
    listed = next((part for part in definition.node.named_children if part.type == "base_list"), None)
    if listed is None or definition.node.type == "enum_declaration":
        return ()
    written = [re.split(r"[<(]", definition.text(one), maxsplit=1)[0].strip() for one in listed.named_children]
    return tuple(one for one in written if re.fullmatch(r"[\w.:@]+", one))


def _imports(definition: Definition) -> Iterator[Import]:
    text = " ".join(definition.text(definition.node).split())
    found = USING.match(text)
    if found is None:
        return
    module = found[3].replace("::", ".")
    if found[1] or found[2]:
        module, _, last = module.rpartition(".")
        yield Import(
            module or last, definition.line, ((last, found[2] or "*"),) if module else (), "" if module else found[2] or ""
        )
    else:
        yield Import(module, definition.line)


def _entry(reading: Reading, text: str, captures: Collection[str]) -> str:
    main = any(symbol.short == "Main" and MAIN.search(symbol.signature) for symbol in reading.symbols)
    return "static void Main" if main else "top-level statements" if "statement" in captures else ""


GRAMMAR = grammar.Grammar("c_sharp", "C#", "tree_sitter_c_sharp", QUERY, STYLE, _name, _imports, _entry)
