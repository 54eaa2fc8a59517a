"""What a file of code defines, by name: functions, values, and what it does when it is loaded.

Grammars of tree-sitter read Python, JavaScript, TypeScript, Rust, Go and Java; lines that begin a definition are enough for C
and for shell.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from afresh.verification.test_units import load_parser, read_node

BREAKS = {
    ".py": 'raise RuntimeError("broken on purpose")',
    ".rs": ' panic!("broken on purpose");', ".go": ' panic("broken on purpose");',
    ".java": ' if (true) throw new RuntimeException("broken on purpose");', ".sh": " exit 97;", "": " exit 97;",
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".hpp"), " __builtin_trap();"),
    **dict.fromkeys((".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx"), ' throw new Error("broken on purpose");'),
}  # fmt: skip
"""What makes a function fail as soon as it is called, by the suffix of the file."""
FUNCTIONS = frozenset(
    ("function_definition", "function_declaration", "generator_function_declaration", "function_expression", "arrow_function",
     "method_definition", "function_item", "method_declaration", "constructor_declaration", "func_literal")
)  # fmt: skip
_CONTAINERS = frozenset(
    ("class_definition", "class_declaration", "class", "class_body", "block", "impl_item", "declaration_list", "mod_item",
     "export_statement", "decorated_definition", "lexical_declaration", "variable_declaration", "const_declaration",
     "var_declaration", "const_spec_list", "var_spec_list", "interface_body", "object", "program", "module", "source_file")
)  # fmt: skip
_VALUES = frozenset(
    ("variable_declarator", "const_item", "static_item", "const_spec", "var_spec", "pair", "assignment", "field_definition",
     "public_field_definition", "field_declaration")
)  # fmt: skip
_IGNORED = frozenset(
    ("comment", "line_comment", "block_comment", "import_statement", "import_from_statement", "future_import_statement",
     "use_declaration", "import_declaration", "package_clause", "package_declaration", "attribute_item",
     "extern_crate_declaration")
)  # fmt: skip
_PLAIN_SUFFIXES = frozenset({".sh", ".bash", "", ".c", ".h", ".cc", ".cpp", ".hpp"})
_PLAIN_FUNCTION = re.compile(r"^(?:[A-Za-z_][\w \t*]*[ \t*])?(\w+)[ \t]*\([^;{}()]*\)\s*\{([^\n]*\}[ \t]*$|.*?^\})", re.M | re.S)
_PLAIN_VALUE = re.compile(
    r"^(?:#[ \t]*define[ \t]+(\w+).*|(?:export |readonly |local )?(\w+)=.*|[\w \t*]+?\b(\w+)(?:\[\w*\])?[ \t]*=[^=].*)$", re.M
)


class Sort(StrEnum):
    FUNCTION = "function"
    VALUE = "value"
    STATEMENT = "statement"


@dataclass(frozen=True, slots=True)
class Definition:
    name: str
    sort: Sort
    text: str
    """Without comments, docstrings and layout."""
    span: tuple[int, int] = (0, 0)
    """The bytes that a break replaces: of a function its body, of a value all; nothing where it can't be broken."""


def read_definitions(path: str, text: str) -> list[Definition]:
    """In their order; none of a file whose syntax is wrong or not known."""
    suffix = find_suffix(path)
    try:
        if parser := load_parser(suffix):
            root = parser.parse(text.encode()).root_node
            return [] if root.has_error else list(_list_definitions(root))
    except (ValueError, RecursionError):
        return []
    return list(_list_plain_definitions(text)) if suffix in _PLAIN_SUFFIXES else []


def list_changed_definitions(path: str, base: str, now: str) -> list[Definition]:
    """Those of `now` that `base` does not have so."""
    known = {(part.name, part.text) for part in read_definitions(path, base)}
    return [part for part in read_definitions(path, now) if (part.name, part.text) not in known]


def break_definitions(path: str, base: str, text: str, chosen: Sequence[Definition]) -> str:
    """The text with these functions failing at once, and these values as they were."""
    content, old, fails = text.encode(), base.encode(), BREAKS[find_suffix(path)].encode()
    values = {part.name: old[slice(*part.span)] for part in read_definitions(path, base) if part.sort is Sort.VALUE}
    for part in sorted((part for part in chosen if part.span != (0, 0)), key=lambda part: part.span, reverse=True):
        start, end = part.span
        expression = start < end and not path.endswith(".py")
        put = (b"{" + fails + b" }" if expression else fails) if part.sort is Sort.FUNCTION else values[part.name]
        content = content[:start] + put + content[end:]
    return content.decode()


def find_prose_lines(path: str, text: str) -> frozenset[int]:
    """Numbers of the lines that are comments, or within a string of several lines."""
    if not (parser := load_parser(find_suffix(path))):
        return frozenset(at for at, line in enumerate(text.splitlines(), 1) if re.match(r"\s*(?:#(?!\s*define)|//|/?\*)", line))
    todo, lines = [parser.parse(text.encode()).root_node], set[int]()
    while todo:
        part = todo.pop()
        first, last = part.start_point[0] + 1, part.end_point[0] + 1
        if "comment" in part.type or _is_docstring(part) or ("string" in part.type and first < last):
            lines.update(range(first, last + 1))
        else:
            todo += part.children
    return frozenset(lines)


def find_suffix(path: str) -> str:
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :] if "." in name else ""


def _list_definitions(parent: Any, within: str = "") -> Iterator[Definition]:
    marks = ""
    for node in parent.named_children:
        name = read_node(
            node.child_by_field_name("name")
            or node.child_by_field_name("key")
            or node.child_by_field_name("left")
            or node.child_by_field_name("property")
        )
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        tests, marks = "test" in marks, read_node(node) if node.type == "attribute_item" else ""
        if node.type in _IGNORED or (tests and node.type in ("function_item", "mod_item")) or _is_docstring(node):
            continue
        if node.type in FUNCTIONS or (value is not None and value.type in FUNCTIONS):
            yield _make_function(value if node.type not in FUNCTIONS else node, node, name)
        elif node.type == "macro_definition":
            yield Definition(name, Sort.FUNCTION, _join_tokens(node))
        elif node.type == "assignment_expression" and value is not None and value.type == "object":
            yield from _list_definitions(value)
        elif node.type in _VALUES and (not within or name.isupper()):
            yield Definition(name.rpartition(".")[2], Sort.VALUE, _join_tokens(node), (node.start_byte, node.end_byte))
        elif node.type == "expression_statement" and node.named_children and _binds(node.named_children[0]):
            yield from _list_definitions(node, within)
        elif node.type in _CONTAINERS:
            yield from _list_definitions(node.child_by_field_name("body") or node, name)
        elif not within and node.type not in (
            "identifier",
            "type_identifier",
            "decorator",
            "visibility_modifier",
            "shorthand_property_identifier",
        ):
            yield Definition("", Sort.STATEMENT, _join_tokens(node))


def _binds(node: Any) -> bool:
    left = node.child_by_field_name("left")
    exported = left is not None and read_node(left).startswith(("module.exports", "exports."))
    return (node.type == "assignment" and left is not None and left.type == "identifier") or exported


def _make_function(function: Any, node: Any, name: str) -> Definition:
    body = function.child_by_field_name("body")
    span = (0, 0)
    if body is not None and function.type == "function_definition":
        first = next((part for part in body.named_children if not _is_docstring(part)), None)
        span = (first.start_byte, body.end_byte) if first is not None else span
    elif body is not None:
        opened = body.text[:1] == b"{"
        span = (body.start_byte + 1, body.start_byte + 1) if opened else (body.start_byte, body.end_byte)
    return Definition(name.rpartition(".")[2], Sort.FUNCTION, _join_tokens(node), span)


def _is_docstring(node: Any) -> bool:
    return node.type == "expression_statement" and [part.type for part in node.named_children] == ["string"]


def _join_tokens(node: Any) -> str:
    parts, todo = list[str](), [node]
    while todo:
        part = todo.pop()
        if part.type in ("comment", "line_comment", "block_comment") or _is_docstring(part):
            continue
        if not part.children or "string" in part.type:
            parts.append(read_node(part))
        else:
            todo += reversed(part.children)
    return " ".join(parts)


def _list_plain_definitions(text: str) -> Iterator[Definition]:
    rest = text
    for match in _PLAIN_FUNCTION.finditer(text):
        start = len(text[: match.start(2)].encode())
        yield Definition(match[1], Sort.FUNCTION, " ".join(match[0].split()), (start, start))
        rest = rest.replace(match[0], "", 1)
    for line in rest.splitlines():
        if value := _PLAIN_VALUE.match(line):
            start = text.encode().find(line.encode())
            yield Definition(value[1] or value[2] or value[3], Sort.VALUE, line.strip(), (start, start + len(line.encode())))
        elif line.strip() and not re.match(r"\s*(?:#(?![a-z])|//|/?\*|#include)", line):
            yield Definition("", Sort.STATEMENT, line.strip())
