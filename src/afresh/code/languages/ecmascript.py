"""Reads JavaScript and TypeScript files: symbols, exports and imports of every form, including JSX, TSX and CommonJS."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from afresh.code.languages.doc_comments import CommentStyle
from afresh.code.languages.ecmascript_imports import index_modules, resolve_import
from afresh.code.languages.symbol_extraction import CapturedNode, NamedDefinition
from afresh.code.languages.tree_sitter_reader import Grammar, read_with_grammar
from afresh.core.symbol import FileReading, ImportedModule, SymbolKind

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["index_modules", "read_source", "resolve_import"]

SHARED_QUERY = """
[(identifier) (property_identifier) (private_property_identifier)
 (shorthand_property_identifier) (shorthand_property_identifier_pattern)] @mention
(comment) @comment
(ERROR) @error
(decorator) @before
(import_statement source: (_)) @import
(export_statement source: (_)) @import
(call_expression function: (import) arguments: (arguments . (string))) @import
((call_expression function: (identifier) @callee arguments: (arguments . (string) .)) @import (#eq? @callee "require"))

(class_declaration) @class
(function_declaration) @function
(generator_function_declaration) @function
(class_body (method_definition) @method)
(object (method_definition) @member)
(object (pair value: [(arrow_function) (function_expression) (generator_function)]) @member)
([(lexical_declaration (variable_declarator name: (identifier) value:
    [(arrow_function) (function_expression) (generator_function)]) @function)
  (variable_declaration (variable_declarator name: (identifier) value:
    [(arrow_function) (function_expression) (generator_function)]) @function)]) @outer
(program [
  (lexical_declaration (variable_declarator) @constant)
  (variable_declaration (variable_declarator) @constant)
] @outer)
(program (export_statement declaration: [
  (lexical_declaration (variable_declarator) @constant)
  (variable_declaration (variable_declarator) @constant)
] @outer))
(export_statement declaration: (_)) @outer
(export_statement value:
  [(arrow_function) (function_expression) (generator_function) (class) (object) (call_expression)]) @constant
(expression_statement (assignment_expression left: (member_expression)) @constant) @outer
"""
JAVASCRIPT_QUERY = SHARED_QUERY + "(field_definition) @constant\n"
TYPESCRIPT_QUERY = (
    SHARED_QUERY
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

FUNCTION_NODE_TYPES = {"arrow_function", "function_expression", "generator_function"}
EXPORTS_PREFIX = re.compile(r"^(?:module\.)?exports(?:\.|$)")
MEMBER_CHAIN = re.compile(r"[\w$]+(?:\.#?[\w$]+)*")
COMMENT_STYLE = CommentStyle(re.compile(r"/\*\*(?!/)"), gap=True)
INTERPRETER_LINE = re.compile(r"#![^\n]*\b(node|deno|bun|tsx|ts-node)\b[^\n]*")
RUN_AS_MAIN = re.compile(r"^if \(require\.main === module\)", re.MULTILINE)


def read_source(path: str, text: str) -> FileReading:
    path = path.lower()
    typed = path.endswith((".ts", ".mts", ".cts"))
    return read_with_grammar(TYPESCRIPT if typed else TSX if path.endswith(".tsx") else JAVASCRIPT, text)


def _name_definition(definition: CapturedNode) -> NamedDefinition | None:
    node = definition.node
    if node.type == "property_identifier":
        return NamedDefinition(definition.text(node))
    if node.type in ("field_definition", "public_field_definition"):
        return _name_field(definition)
    if node.type == "assignment_expression":
        return _name_assignment(definition)
    if node.type == "export_statement":
        return _name_default_export(definition)
    if node.type == "pair":
        return NamedDefinition(_unquoted(definition.field("key")))
    if node.type == "variable_declarator":
        return _name_variable(definition)
    named = _unquoted(definition.field("name"))
    return (
        NamedDefinition(named, bases=list_bases(definition) if definition.role in ("class", "interface") else ())
        if named
        else None
    )


def _name_field(definition: CapturedNode) -> NamedDefinition | None:
    """Return the name of a class field; JavaScript's grammar calls it `property`, TypeScript's `name`."""
    named = definition.field("property") or _unquoted(definition.field("name"))
    value = definition.node.child_by_field_name("value")
    kind = SymbolKind.METHOD if value is not None and value.type in FUNCTION_NODE_TYPES else SymbolKind.CONSTANT
    return NamedDefinition(named, kind) if named else None


def _name_variable(definition: CapturedNode) -> NamedDefinition | None:
    named = definition.node.child_by_field_name("name")
    value = definition.node.child_by_field_name("value")
    if named is None or named.type != "identifier" or (value is not None and _is_required_module(definition.text(value))):
        return None
    if value is not None and value.type == "class":
        body = value.child_by_field_name("body")
        bases = list_bases(definition.of(value))
        return NamedDefinition(definition.text(named), SymbolKind.CLASS, bases, until=body.start_byte if body else 0)
    return NamedDefinition(definition.text(named))


def _is_required_module(value: str) -> bool:
    """Whether the value is a `require(…)`: then the constant is an import, not a symbol."""
    return value.startswith(("require(", "await import("))


def _name_assignment(definition: CapturedNode) -> NamedDefinition | None:
    """Return the name of `exports.parse = …` or `Parser.prototype.next = …`; None if it is neither a function nor exported."""
    left = definition.field("left")
    right = definition.node.child_by_field_name("right")
    if right is None or not MEMBER_CHAIN.fullmatch(left) or left.startswith("this."):
        return None
    exported = bool(EXPORTS_PREFIX.match(left))
    named = EXPORTS_PREFIX.sub("", left).replace(".prototype.", ".")
    body = right.child_by_field_name("body")
    until = body.start_byte if body else 0
    if right.type in FUNCTION_NODE_TYPES:
        kind = SymbolKind.METHOD if ".prototype." in left else SymbolKind.FUNCTION
        return NamedDefinition(named or definition.text(right.child_by_field_name("name")) or "default", kind, until=until)
    if right.type == "class":
        bases = list_bases(definition.of(right))
        return NamedDefinition(
            named or definition.text(right.child_by_field_name("name")) or "default", SymbolKind.CLASS, bases, until
        )
    return NamedDefinition(named, SymbolKind.CONSTANT) if exported and right.type != "identifier" else None


def _name_default_export(definition: CapturedNode) -> NamedDefinition | None:
    value = definition.node.child_by_field_name("value")
    if value is None:
        return None
    body = value.child_by_field_name("body")
    kind = (
        SymbolKind.FUNCTION
        if value.type in FUNCTION_NODE_TYPES
        else SymbolKind.CLASS
        if value.type == "class"
        else SymbolKind.CONSTANT
    )
    own = definition.text(value.child_by_field_name("name")) if kind is not SymbolKind.CONSTANT else ""
    bases = list_bases(definition.of(value))
    return NamedDefinition(own or "default", kind, bases, until=body.start_byte if body else 0)


def list_bases(definition: CapturedNode) -> tuple[str, ...]:
    """Return what a class extends and implements, without type arguments."""
    heads = [child for child in definition.node.named_children if child.type in ("class_heritage", "extends_type_clause")]
    found: list[str] = []
    for head in heads:
        clauses = [child for child in head.named_children if child.type.endswith("_clause")] or [head]
        found += [
            definition.text(named_child)
            for clause in clauses
            for named_child in clause.named_children
            if named_child.type != "type_arguments"
        ]
    return tuple(one.partition("<")[0] for one in found)


def _unquoted(text: str) -> str:
    return text.strip("'\"`")


def read_imports(definition: CapturedNode) -> Iterator[ImportedModule]:
    node, line = definition.node, definition.line
    if node.type == "call_expression":
        arguments = node.child_by_field_name("arguments")
        if module := _unquoted(definition.text(arguments.named_child(0) if arguments else None)):
            yield ImportedModule(module, line, *_required_names(definition))
        return
    module = _unquoted(definition.field("source"))
    names: list[tuple[str, str]] = []
    alias = ""
    for part in _import_parts(node):
        if part.type == "import_require_clause":
            module = _unquoted(definition.of(part).field("source"))
            alias = definition.text(part.named_child(0))
        elif part.type in ("namespace_import", "namespace_export"):
            alias = definition.text(part.named_child(0))
        elif part.type in ("import_specifier", "export_specifier"):
            inner = definition.of(part)
            names.append((inner.field("name"), inner.field("alias") or inner.field("name")))
        elif part.type == "identifier":
            names.append(("default", definition.text(part)))
    if module:
        yield ImportedModule(module, line, tuple(names), alias)


def _import_parts(node: "Node") -> "Iterator[Node]":
    """Yield the names of an import or export at any depth."""
    for child in node.named_children:
        if child.type in ("import_clause", "named_imports", "export_clause"):
            yield from _import_parts(child)
        else:
            yield child


def _required_names(definition: CapturedNode) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return the names that `const { a, b: c } = require(…)` takes from a module, or the name that it gives to the module."""
    declarator = definition.node.parent
    if declarator is not None and declarator.type == "await_expression":
        declarator = declarator.parent
    if declarator is None or declarator.type != "variable_declarator":
        return (), ""
    pattern = declarator.child_by_field_name("name")
    if pattern is None or pattern.type != "object_pattern":
        return (), definition.text(pattern)
    names: list[tuple[str, str]] = []
    for part in pattern.named_children:
        inner = definition.of(part)
        if part.type == "shorthand_property_identifier_pattern":
            names.append((definition.text(part), definition.text(part)))
        elif part.type == "pair_pattern":
            names.append((inner.field("key"), inner.field("value")))
    return tuple(names), ""


def find_entry_point(reading: FileReading, text: str, captures: Collection[str]) -> str:
    if match := INTERPRETER_LINE.match(text):
        return match[0]
    return "require.main === module" if RUN_AS_MAIN.search(text) else ""


JAVASCRIPT = Grammar(
    language="javascript",
    title="JavaScript",
    wheel="tree_sitter_javascript",
    query=JAVASCRIPT_QUERY,
    style=COMMENT_STYLE,
    name=_name_definition,
    imports=read_imports,
    entry=find_entry_point,
)
TYPESCRIPT = replace(
    JAVASCRIPT,
    language="typescript",
    title="TypeScript",
    wheel="tree_sitter_typescript",
    query=TYPESCRIPT_QUERY,
    dialect="language_typescript",
)
TSX = replace(TYPESCRIPT, dialect="language_tsx")
