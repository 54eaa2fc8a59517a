"""The tests of a file as units that can be compared: suites and modules with their members, tests, helpers, statements.

Read with the tree-sitter grammars. Layout, comments, commas and semicolons do not count.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

_GRAMMARS = {
    ".js": ("tree_sitter_javascript", "language"), ".jsx": ("tree_sitter_javascript", "language"),
    ".mjs": ("tree_sitter_javascript", "language"), ".cjs": ("tree_sitter_javascript", "language"),
    ".ts": ("tree_sitter_typescript", "language_typescript"), ".mts": ("tree_sitter_typescript", "language_typescript"),
    ".cts": ("tree_sitter_typescript", "language_typescript"), ".tsx": ("tree_sitter_typescript", "language_tsx"),
    ".rs": ("tree_sitter_rust", "language"), ".go": ("tree_sitter_go", "language"), ".java": ("tree_sitter_java", "language"),
}  # fmt: skip
_SUITE_CALL = re.compile(r"^(?:describe|suite|context|[xf]describe)(?:\.\w+)*(?:\(|$)")
_TEST_CALL = re.compile(r"^(?:it|test|specify|[xf](?:it|test)|\w{1,20}\.test)(?:\.\w+)*(?:\(|$)")
_ASSERTION = re.compile(
    r"^(?:await\s+)?(?:expect|(?:debug_)?assert\w*!?|Assertions|require)\b|^t\.(?!test\b|skip\b|todo\b|end\b|plan\b|Skip|Run\b|Parallel\b)\w+\("
)
_GO_ASSERTION = re.compile(r"^if\b[^{}]*\{\s*t\.(?:Error|Fatal)f?\([^{}]*\}$", re.DOTALL)
_IMPORTS = frozenset(
    {
        "import_statement",
        "use_declaration",
        "extern_crate_declaration",
        "import_declaration",
        "package_clause",
        "package_declaration",
    }
)
_COMMENTS = frozenset({"comment", "line_comment", "block_comment", "hash_bang_line"})
_CONTAINERS = frozenset({"mod_item", "impl_item", "class_declaration", "interface_declaration"})
_BODIES = frozenset({"declaration_list", "class_body", "interface_body"})
_LISTS = frozenset(
    {"array", "object", "array_expression", "literal_value", "array_initializer", "element_value_array_initializer"}
)
"""Literals to which an entry may be added, outside of assertions."""
_BLOCKS = frozenset({"statement_block", "block", "statement_list"})
"""Bodies to which an assertion may be added."""
_BINDING = frozenset(
    {"function_declaration", "generator_function_declaration", "function_item", "method_declaration", "const_item", "static_item"}
)
_DECLARATIONS = frozenset(
    {"lexical_declaration", "variable_declaration", "var_declaration", "const_declaration", "type_declaration"}
)
_ATTRIBUTES = frozenset({"attribute_item", "decorator"})
_PUNCTUATION = frozenset({",", ";"})
_TEXT_NODE = re.compile(r"string|template|regex|char|text|number|integer|float")
_INLINE_MARK = re.compile(r"#\[\s*(?:cfg\s*\(\s*(?:all\s*\(\s*)?test\b|(?:\w+::)*(?:test|rstest|test_case|quickcheck|bench)\b)")
_MAX_BYTES = 1_000_000
Node = Any
"""A node of tree-sitter, which may not be installed."""


@dataclass(frozen=True, slots=True)
class TestUnit:
    """A statement or definition. `key` says which of the other side it is to be compared with."""

    __test__ = False
    key: tuple[str, str]
    name: str
    head: str
    """What comes with it and decides whether it runs: attributes, modifiers, `describe.skip`."""
    text: str
    node: Node
    start: int
    end: int
    inner_end: int = 0
    """Where the last member ends; 0 without members."""
    members: "tuple[TestUnit, ...]" = ()

    @property
    def is_named(self) -> bool:
        return self.key[0] != "statement"

    @property
    def binds(self) -> bool:
        """It gives a name a meaning, so that a second one would replace it."""
        return self.node.type in _BINDING or self.node.type in _DECLARATIONS


def parse_test_units(path: str, text: str) -> list[TestUnit] | None:
    """The file's units in their order, without imports; None without a grammar, for a huge file, or for wrong syntax."""
    parser = _load_parser(path[path.rfind(".") :])
    content = text.encode()
    if parser is None or len(content) > _MAX_BYTES:
        return None
    root = parser.parse(content).root_node
    return None if root.has_error else list(_list_units(root))


@cache
def _load_parser(suffix: str) -> Any:
    if suffix not in _GRAMMARS:
        return None
    wheel, dialect = _GRAMMARS[suffix]
    try:
        sitter: Any = import_module("tree_sitter")
        return sitter.Parser(sitter.Language(getattr(import_module(wheel), dialect)()))
    except ImportError:
        return None


def _list_units(parent: Node) -> Iterator[TestUnit]:
    marks = list[Node]()
    for node in parent.named_children:
        if node.type in _ATTRIBUTES:
            marks.append(node)
        elif node.type not in _COMMENTS and not _is_import(node):
            yield _make_unit(node, marks)
            marks = []
        elif node.type not in _COMMENTS:
            marks = []


def _is_import(node: Node) -> bool:
    if node.type in _IMPORTS:
        return True
    return node.type in ("lexical_declaration", "variable_declaration") and bool(
        re.search(r"=\s*(?:await\s+)?(?:require|import)\s*\(\s*['\"`][^()]*\)(?:\.\w+)?\s*;?\s*$", _read_text(node))
    )


def _make_unit(node: Node, marks: Sequence[Node]) -> TestUnit:
    start = marks[0].start_byte if marks else node.start_byte
    parent = node.parent
    text = parent.text[start - parent.start_byte : node.end_byte - parent.start_byte].decode("utf-8", "replace")
    attributes = "".join("".join(_list_tokens(mark)) for mark in marks)
    if (call := _find_test_call(node)) is not None:
        return _make_call_unit(node, call, text)
    name = _read_name(node)
    body = node.child_by_field_name("body")
    members = tuple(_list_units(body)) if node.type in _CONTAINERS and body is not None and body.type in _BODIES else ()
    outside = [child for child in node.children if body is None or child.id != body.id]
    head = attributes + (" ".join(token for child in outside for token in _list_tokens(child)) if members else "")
    key = (node.type, name) if name else ("statement", attributes + " ".join(_list_tokens(node)))
    inner = members[-1].end if members else 0
    return TestUnit(key, name or f"`{text.splitlines()[0][:60]}`", head, text, node, start, node.end_byte, inner, members)


def _read_name(node: Node) -> str:
    """Of a declaration of one variable its name, too."""
    declared: list[Node] = node.named_children if node.type in _DECLARATIONS else []
    named: Node = declared[0] if len(declared) == 1 else node
    return _read_text(named.child_by_field_name("name")) or _read_text(node.child_by_field_name("type"))


def _find_test_call(node: Node) -> Node | None:
    call = node.named_children[0] if node.type == "expression_statement" and node.named_children else None
    call = call.named_children[0] if call is not None and call.type == "await_expression" and call.named_children else call
    if call is None or call.type != "call_expression":
        return None
    callee = _read_text(call.child_by_field_name("function"))
    return call if _SUITE_CALL.match(callee) or _TEST_CALL.match(callee) else None


def _make_call_unit(node: Node, call: Node, text: str) -> TestUnit:
    """A test or suite by its title. `it.skip` in place of `it` changes the head."""
    callee, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments").named_children
    given = [one for one in arguments if one.type not in _COMMENTS]
    title = " ".join(_list_tokens(given[0])) if given else ""
    spoken = _read_text(callee)
    kind = "suite" if _SUITE_CALL.match(spoken) else "test"
    body = given[-1].child_by_field_name("body") if given else None
    suite = kind == "suite" and body is not None and body.type == "statement_block"
    members = tuple(_list_units(body)) if suite else ()
    parts = [callee, *given[1:-1]] if suite else [callee]
    head = " ".join(token for part in parts for token in _list_tokens(part)) if suite or "each" not in spoken else ""
    inner = members[-1].end if members else 0
    return TestUnit((kind, title), title, head, text, node, node.start_byte, node.end_byte, inner, members)


def is_inline_test(unit: TestUnit) -> bool:
    """Marked as a test, or compiled for tests only."""
    return bool(_INLINE_MARK.match(unit.text.lstrip()) or _INLINE_MARK.search(unit.text[: unit.text.find("{") + 1]))


def holds_unit(base: TestUnit, now: TestUnit) -> bool:
    """Whether all that the base's unit says is there: the same, or with entries or assertions more."""
    if base.head != now.head:
        return False
    return _list_tokens(base.node) == _list_tokens(now.node) if base.members or now.members else _holds(base.node, now.node)


def _holds(base: Node, now: Node) -> bool:
    if _list_tokens(base) == _list_tokens(now):
        return True
    if base.type != now.type or _is_assertion(base) or _TEXT_NODE.search(base.type):
        return False
    old, new = _list_parts(base), _list_parts(now)
    place = 0
    for part in new:
        if place < len(old) and _holds(old[place], part):
            place += 1
        elif not ((now.type in _LISTS and part.is_named) or (now.type in _BLOCKS and _is_assertion(part))):
            return False
    return place == len(old) and bool(old)


def _is_assertion(node: Node) -> bool:
    text = _read_text(node)
    return bool(_ASSERTION.match(text) or _GO_ASSERTION.match(text))


def _list_parts(node: Node) -> list[Node]:
    return [child for child in node.children if child.type not in _COMMENTS and child.type not in _PUNCTUATION]


def _list_tokens(node: Node) -> list[str]:
    """The words of the code below a node."""
    if node.type in _COMMENTS or node.type in _PUNCTUATION:
        return []
    if not node.children or _TEXT_NODE.search(node.type):
        return [_read_text(node)]
    return [token for child in node.children for token in _list_tokens(child)]


def _read_text(node: Node | None) -> str:
    return node.text.decode("utf-8", "replace") if node is not None else ""
