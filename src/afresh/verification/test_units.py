"""The tests of a file as units: suites and classes with their members, tests, helpers, values, statements.

Python is read with `ast`, other languages with the tree-sitter grammars, into the same plain trees. Layout, comments, docstrings,
imports, commas and semicolons do not count.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

_GRAMMARS = {
    ".py": ("tree_sitter_python", "language"),
    ".js": ("tree_sitter_javascript", "language"), ".jsx": ("tree_sitter_javascript", "language"),
    ".mjs": ("tree_sitter_javascript", "language"), ".cjs": ("tree_sitter_javascript", "language"),
    ".ts": ("tree_sitter_typescript", "language_typescript"), ".mts": ("tree_sitter_typescript", "language_typescript"),
    ".cts": ("tree_sitter_typescript", "language_typescript"), ".tsx": ("tree_sitter_typescript", "language_tsx"),
    ".rs": ("tree_sitter_rust", "language"), ".go": ("tree_sitter_go", "language"), ".java": ("tree_sitter_java", "language"),
}  # fmt: skip
CHECK = "check"
"""The kind of a tree that is an assertion."""
PYTHON_ASSERTION = re.compile(r"(?:^|\.)(?:assert\w+|raises|warns)$")
ASSERTION = re.compile(
    r"^(?:await\s+)?(?:expect|(?:debug_)?assert\w*!?|Assertions|require)\b|^t\.(?!test\b|skip\b|todo\b|end\b|plan\b|Skip|Run\b|Parallel\b)\w+\("
    r"|^if\b[^{}]*\{\s*t\.(?:Error|Fatal)f?\([^{}]*\}$",
    re.DOTALL,
)
_SUITE_CALL = re.compile(r"^(?:describe|suite|context|[xf]describe)(?:\.\w+)*(?:\(|$)")
TEST_CALL = re.compile(r"^(?:it|test|specify|[xf](?:it|test)|\w{1,20}\.test)(?:\.\w+)*(?:\(|$)")
_REQUIRING = re.compile(r"=\s*(?:await\s+)?(?:require|import)\s*\(\s*['\"`][^()]*\)(?:\.\w+)?\s*(?:;\s*)?$")
_QUOTED = re.compile(r"['\"]([^'\"]+)['\"]")
_INLINE_MARK = re.compile(r"#\[\s*(?:cfg\s*\(\s*(?:all\s*\(\s*)?test\b|(?:\w+::)*(?:test|rstest|test_case|quickcheck|bench)\b)")
_TEXT_KIND = re.compile(r"string|template|regex|char|text|number|integer|float")
_IMPORTS = frozenset(
    ("import_statement", "use_declaration", "extern_crate_declaration", "import_declaration", "package_clause",
     "package_declaration")
)  # fmt: skip
_DROPPED = frozenset({"comment", "line_comment", "block_comment", "hash_bang_line", ",", ";"})
_CONTAINERS = frozenset({"mod_item", "impl_item", "class_declaration", "interface_declaration"})
_DECLARATIONS = frozenset(
    {"lexical_declaration", "variable_declaration", "var_declaration", "const_declaration", "type_declaration"}
)
_ATTRIBUTES = frozenset({"attribute_item", "decorator"})
_BINDING = _DECLARATIONS | {
    "function_declaration", "generator_function_declaration", "function_item", "method_declaration", "const_item", "static_item"
}  # fmt: skip
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class SyntaxTree:
    """A node without its place: equal where the code says the same."""

    kind: str
    text: str = ""
    parts: "tuple[SyntaxTree, ...]" = ()

    def words(self) -> Iterator[str]:
        if self.text:
            yield self.text
        for part in self.parts:
            yield from part.words()


@dataclass(frozen=True, slots=True)
class TestUnit:
    """A statement or definition. `key` says which of the other side it is to be compared with."""

    __test__ = False
    key: tuple[str, str]
    name: str
    tree: SyntaxTree
    """Of one with members only its head: bases, decorators, attributes, `describe.skip`."""
    text: str
    members: "tuple[TestUnit, ...]" = ()
    binds: frozenset[str] = frozenset()
    """Names that it gives a meaning, or takes away: what had one of them before is hidden."""
    inline: bool = False
    """Marked as a test in a file of product code."""


def read_test_units(path: str, text: str) -> list[TestUnit] | None:
    """The file's units in their order; None where the language is not known, the file is huge or its syntax wrong."""
    suffix, content = path[path.rfind(".") :], text.encode()
    try:
        if suffix == ".py":
            return list(_list_python_units(_parse_without_docstrings(text).body))
        parser = load_parser(suffix)
        if parser is None or len(content) > _MAX_BYTES:
            return None
        root = parser.parse(content).root_node
        return None if root.has_error else list(_list_units(root))
    except (SyntaxError, ValueError, RecursionError):
        return None


def read_inline_tests(text: str) -> list[TestUnit]:
    """Of product code in Python: test functions, test classes, and what is asserted where it is started."""
    try:
        body = _parse_without_docstrings(text).body
    except (SyntaxError, ValueError, RecursionError):
        return []
    found = list[TestUnit]()
    for one in body:
        if isinstance(one, ast.If) and "__name__" in ast.unparse(one.test):
            asserted = [node for node in ast.walk(one) if isinstance(node, ast.Assert)]
            texts = [ast.unparse(node) for node in asserted]
            found += [
                TestUnit((CHECK, said), f"`{said[:60]}`", _plant(node), said) for node, said in zip(asserted, texts, strict=True)
            ]
        elif isinstance(one, _DEFINITIONS):
            bases = " ".join(map(ast.unparse, one.bases)) if isinstance(one, ast.ClassDef) else ""
            if one.name.startswith(("test", "Test")) or "TestCase" in bases:
                found += _list_python_units([one])
    return found


def read_imports(path: str, text: str) -> dict[str, str]:
    """What each name that a file of known, right syntax imports stands for; of other languages than Python by its source."""
    if path.endswith(".py"):
        found = dict[str, str]()
        for node in (one for one in ast.parse(text).body if isinstance(one, ast.Import | ast.ImportFrom)):
            for one in node.names:
                name = one.asname or (one.name if one.name != "*" else ast.unparse(node))
                alone = ast.Import([one]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [one], node.level)
                found[name] = "\n".join(filter(None, (found.get(name), ast.unparse(alone))))
        return found
    nodes = load_parser(path[path.rfind(".") :]).parse(text.encode()).root_node.named_children
    lines = (_read_code(node) for node in nodes if _is_import(node))
    return {(quoted[1] if (quoted := _QUOTED.search(line)) else line.rstrip(";")): line for line in lines}


def read_plain_code(text: str) -> str:
    """Python without comments and docstrings; the text as it is where it is none."""
    try:
        return ast.unparse(_parse_without_docstrings(text))
    except (SyntaxError, ValueError, RecursionError):
        return text


def _list_python_units(body: Sequence[ast.stmt]) -> Iterator[TestUnit]:
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass):
            continue
        binds, members = _list_bound_names(statement), tuple[TestUnit, ...]()
        tree, text = _plant(statement), ast.unparse(statement)
        if isinstance(statement, ast.ClassDef):
            members = tuple(_list_python_units(statement.body))
            tree = SyntaxTree(
                "class", parts=tuple(map(_plant, (*statement.bases, *statement.keywords, *statement.decorator_list)))
            )
        named = isinstance(statement, (*_DEFINITIONS, ast.Assign, ast.AnnAssign)) and binds
        name = ", ".join(binds) if named else f"`{text.splitlines()[0][:60]}`"
        yield TestUnit(("name", name) if named else ("statement", text), name, tree, text, members, frozenset(binds))


def _list_bound_names(statement: ast.stmt) -> Sequence[str]:
    if isinstance(statement, _DEFINITIONS):
        return [statement.name]
    nodes = (node for node in ast.walk(statement) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
    return list(dict.fromkeys(node.id for node in nodes))


def _parse_without_docstrings(text: str) -> ast.Module:
    """Without any text that stands alone: docstrings and what serves as a comment."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            kept = [one for one in body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]  # pyright: ignore
            node.body = kept or [ast.Pass()]  # pyright: ignore[reportAttributeAccessIssue]
    return tree


def _plant(node: ast.AST) -> SyntaxTree:
    """The tree of a Python node; each field of several nodes is a node of its own, each entry of a dict is one."""
    if isinstance(node, ast.Name | ast.arg) and not getattr(node, "annotation", None):
        return SyntaxTree("name", node.id if isinstance(node, ast.Name) else node.arg)
    parts, kind = list[SyntaxTree](), type(node).__name__
    pairs = [*zip(node.keys, node.values, strict=True)] if isinstance(node, ast.Dict) else []
    for field, value in ast.iter_fields(node) if not pairs else [("entries", pairs)]:
        values: list[Any] = value if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType]
        if field not in ("ctx", "type_comment", "kind"):
            parts.append(SyntaxTree(field, parts=tuple(_plant_value(one) for one in values)))
    call = node.value if isinstance(node, ast.Expr) else node
    said = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
    raising = isinstance(node, ast.With) and all(
        isinstance(one.context_expr, ast.Call) and PYTHON_ASSERTION.search(ast.unparse(one.context_expr.func))
        for one in node.items
    )
    if isinstance(node, ast.Assert) or raising or (isinstance(node, ast.Expr) and PYTHON_ASSERTION.search(said)):
        kind = CHECK
    return SyntaxTree(kind, parts=tuple(parts))


def _plant_value(value: Any) -> SyntaxTree:
    if isinstance(value, tuple):
        return SyntaxTree("entry", parts=tuple(_plant_value(one) for one in value))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return _plant(value) if isinstance(value, ast.AST) else SyntaxTree("value", repr(value))


@cache
def load_parser(suffix: str) -> Any:
    if suffix not in _GRAMMARS:
        return None
    wheel, dialect = _GRAMMARS[suffix]
    try:
        sitter: Any = import_module("tree_sitter")
        return sitter.Parser(sitter.Language(getattr(import_module(wheel), dialect)()))
    except ImportError:
        return None


def _list_units(parent: Any) -> Iterator[TestUnit]:
    """`marks` are the attributes and decorators before a definition."""
    marks = list[Any]()
    for node in parent.named_children:
        if node.type in _ATTRIBUTES:
            marks.append(node)
        elif node.type not in _DROPPED:
            if not _is_import(node):
                yield _make_unit(node, marks)
            marks = []


def _is_import(node: Any) -> bool:
    requires = node.type in ("lexical_declaration", "variable_declaration") and _REQUIRING.search(read_node(node))
    return node.type in _IMPORTS or bool(requires)


def _make_unit(node: Any, marks: Sequence[Any]) -> TestUnit:
    text = "\n".join(_read_code(one) for one in (*marks, node))
    attributes = tuple(_copy_tree(mark) for mark in marks)
    inline = bool(_INLINE_MARK.match(text) or _INLINE_MARK.search(text[: text.find("{") + 1]))
    if (call := _find_test_call(node)) is not None:
        return _make_call_unit(call, text)
    declared: list[Any] = node.named_children if node.type in _DECLARATIONS else []
    named = declared[0] if len(declared) == 1 else node
    name = read_node(named.child_by_field_name("name")) or read_node(node.child_by_field_name("type"))
    key = (node.type, name) if name else ("statement", " ".join(_copy_tree(node).words()))
    body = node.child_by_field_name("body")
    members = tuple(_list_units(body)) if node.type in _CONTAINERS and body is not None else ()
    outside = [child for child in node.children if body is None or child.id != body.id]
    own = tuple(_copy_tree(child) for child in outside if child.type not in _DROPPED) if members else (_copy_tree(node),)
    tree, binds = (
        SyntaxTree("unit", parts=attributes + own),
        frozenset({name}) if name and node.type in _BINDING else frozenset[str](),
    )
    return TestUnit(key, name or f"`{text.splitlines()[0][:60]}`", tree, text, members, binds, inline)


def _find_test_call(node: Any) -> Any:
    call = node.named_children[0] if node.type == "expression_statement" and node.named_children else None
    call = call.named_children[0] if call is not None and call.type == "await_expression" and call.named_children else call
    if call is None or call.type != "call_expression":
        return None
    callee = read_node(call.child_by_field_name("function"))
    return call if _SUITE_CALL.match(callee) or TEST_CALL.match(callee) else None


def _make_call_unit(call: Any, text: str) -> TestUnit:
    """A test or suite by its title. `it.skip` in place of `it` changes its head."""
    callee, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments").named_children
    given = [one for one in arguments if one.type not in _DROPPED]
    title = read_node(given[0]) if given else ""
    body = given[-1].child_by_field_name("body") if given else None
    suite = bool(_SUITE_CALL.match(read_node(callee))) and body is not None and body.type == "statement_block"
    members = tuple(_list_units(body)) if suite else ()
    tree = SyntaxTree("head", parts=tuple(map(_copy_tree, (callee, *given[1:-1])))) if suite else _copy_tree(call)
    return TestUnit(("suite" if suite else "test", title), title.strip("'\"`"), tree, text, members)


def _copy_tree(node: Any) -> SyntaxTree:
    text = read_node(node)
    kind = CHECK if node.is_named and ASSERTION.match(text) and node.type != "identifier" else node.type
    if not node.children or _TEXT_KIND.search(node.type):
        return SyntaxTree(kind, text)
    return SyntaxTree(kind, parts=tuple(_copy_tree(child) for child in node.children if child.type not in _DROPPED))


def read_node(node: Any) -> str:
    return node.text.decode("utf-8", "replace") if node is not None else ""


def _read_code(node: Any) -> str:
    """The source without comments and blank lines."""
    text, cuts = node.text, list[tuple[int, int]]()
    todo = [node]
    while todo:
        one = todo.pop()
        if one.type in _DROPPED and one.is_named:
            cuts.append((one.start_byte - node.start_byte, one.end_byte - node.start_byte))
        todo += one.children
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    return "\n".join(line.rstrip() for line in text.decode("utf-8", "replace").splitlines() if line.strip())
