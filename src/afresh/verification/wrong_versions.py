"""Wrong versions of the work, made by syntax: of each one knows that a check ought to fail.

A changed function that fails, a changed line that does something else, an assertion that fails. What no check notices is what a
PASS does not stand on, however that came about: tests that ask too little, a measure that was moved, code that knows that it is
tested, an assertion that nobody hears.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from afresh.core.truncate import to_one_line
from afresh.core.verdict import NoteKind
from afresh.verification.test_units import ASSERTION, PYTHON_ASSERTION, TEST_CALL, load_parser, read_node

MAX_ASSERTIONS = 4
"""Of a test, from its end."""
MAX_CODE_CHARACTERS = 50
_BREAKS = {
    ".py": 'raise RuntimeError("broken on purpose")',
    ".rs": ' panic!("broken on purpose");', ".go": ' panic("broken on purpose");',
    ".java": ' if (true) throw new RuntimeException("broken on purpose");', ".sh": " exit 97;", "": " exit 97;",
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".hpp"), " __builtin_trap();"),
    **dict.fromkeys((".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx"), ' throw new Error("broken on purpose");'),
}  # fmt: skip
"""What makes a function fail as soon as it is called, by the suffix of the file."""
_FUNCTIONS = frozenset(
    ("function_definition", "function_declaration", "generator_function_declaration", "function_expression", "arrow_function",
     "method_definition", "function_item", "method_declaration", "constructor_declaration", "func_literal")
)  # fmt: skip
_PLAIN_FUNCTION = re.compile(
    r"^(?:[A-Za-z_][\w \t*]*[ \t*])?\w+[ \t]*\([^;{}()]*\)\s*\{(?=[^\n]*\}[ \t]*$|(?:.*?)^\})", re.M | re.S
)
"""In C and in shell."""
_DECLARING = re.compile(r"import|definition|declaration|comment|class|_item$|clause|^use_|export")
_JAVASCRIPT = (
    '((v) => typeof v === "boolean" ? !v : typeof v === "number" ? v + 1 : typeof v === "string" ? v + "?"'
    ' : Array.isArray(v) ? [...v, "?"] : v == null ? "?" : undefined)({})'
)
_OTHER_VALUE = {
    ".py": "(lambda v: not v if isinstance(v, bool) else v + 1 if isinstance(v, (int, float)) else v + '?' if isinstance(v, str)"
    " else [*v, '?'] if isinstance(v, list) else {{**v, '?': 0}} if isinstance(v, dict) else '?' if v is None else None)(({}))",
    **dict.fromkeys((".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx"), _JAVASCRIPT),
}
"""Another value of the same type, where an expression says so for any."""
_OTHER_TOKEN = {
    "+": "-", "-": "+", "*": "+", "/": "*", "//": "*", "%": "*", "+=": "-=", "-=": "+=",
    "<": ">=", "<=": ">", ">": "<=", ">=": "<",
    "==": "!=", "!=": "==", "===": "!==", "!==": "===", "in": "not in", "not in": "in", "is": "is not", "is not": "is",
    "true": "false", "false": "true", "True": "False", "False": "True",
}  # fmt: skip
_OPERATION = re.compile(r"binary|comparison|augmented|assignment_expression")
_BLOCKS = frozenset({"block", "statement_block"})
_WHOLE = re.compile(r"(?:integer|number|int_literal|integer_literal|decimal_integer_literal)$")
_PLACE = re.compile(r"tuple|subscript|index|array|list$")
_OTHERWISE = "with another value"
_CLASSES = re.compile(r"class|interface|impl|trait|mod_item|module|namespace")
_TEST_MARK = re.compile(r"#\[[\w:]*test|@(?:Parameterized)?Test\b")
_RAISING = re.compile(r"(?:async )?with [^\n]*\b(?:raises|warns|assert\w+)\(")


Test = tuple[str, str]
"""Its file and its title."""


@dataclass(frozen=True, slots=True)
class WrongVersion:
    kind: NoteKind
    words: str
    files: Mapping[str, str]
    places: Mapping[Test, str] = field(default_factory=dict[Test, str])
    """Of failing assertions: where they stand, by the file and the title of the test that each is in."""
    about: tuple[Test, ...] = ()
    """One of these has to notice it; else any."""


@dataclass(frozen=True, slots=True)
class _Edit:
    node: Any
    put: str
    words: str
    group: int = 0
    """The block that it stands in."""
    whole: bool = True
    """In place of the node, or before it."""

    @property
    def line(self) -> int:
        return self.node.start_point[0] + 1


def list_wrong_lines(path: str, text: str, lines: Collection[int]) -> Iterator[WrongVersion]:
    """One change each of what these lines do: of each block one, then the next of each."""
    content, parser = text.encode(), load_parser(_find_suffix(path))
    groups = dict[int, list[_Edit]]()
    for edit in _list_edits(parser.parse(content).root_node, content, path) if parser else ():
        if edit.line in lines:
            groups.setdefault(edit.group, []).append(edit)
    for edit in (edit for turn in zip_longest(*groups.values()) for edit in turn if edit):
        yield WrongVersion(NoteKind.SURVIVES, f"{path}:{edit.line} {edit.words}", {path: _apply(content, [edit])})


def list_other_values(path: str, text: str, words: Mapping[Test, frozenset[str]]) -> Iterator[WrongVersion]:
    """Of functions that these tests name, where no other in the file has that name, another value; the tests ought to notice."""
    parser, functions = load_parser(_find_suffix(path)), dict[str, list[Any]]()
    for node in _walk(parser.parse(text.encode()).root_node) if parser else ():
        if node.type in _FUNCTIONS and not any(_CLASSES.search(above.type) for above in _list_above(node)):
            functions.setdefault(read_node(_find_name(node)).rpartition(".")[2], []).append(node)
    for name, nodes in functions.items():
        about = tuple(test for test, named in words.items() if f"{name}(" in named)
        if about and len(nodes) == 1:
            for version in list_wrong_lines(path, text, _list_lines(nodes[0])):
                if version.words.endswith(_OTHERWISE):
                    yield replace(version, about=about if about[0][1] else ())


def _list_above(node: Any) -> Iterator[Any]:
    while (node := node.parent) is not None and node.parent is not None:
        yield node


def _find_name(function: Any) -> Any:
    """Its own, or that of what it is assigned to."""
    holders = (function, function.parent)
    return next((name for node in holders for field in ("name", "left") if (name := node.child_by_field_name(field))), None)


def fail_functions(path: str, text: str, lines: frozenset[int]) -> str:
    """The text with the functions failing that have one of these lines; all, where another line does something when it is
    loaded."""
    parser = load_parser(_find_suffix(path))
    if not parser:
        fails = _BREAKS.get(_find_suffix(path), "")
        return _PLAIN_FUNCTION.sub(lambda match: match[0] + fails, text) if fails else text
    root = parser.parse(text.encode()).root_node
    loads: bool = any(not _declares(node) and lines & _list_lines(node) for node in root.named_children)
    edits, end = list[_Edit](), 0
    for node in _walk(root):
        body = node.child_by_field_name("body") if node.type in _FUNCTIONS and node.start_byte >= end else None
        first = _find_first(body) if body is not None and body.type in _BLOCKS else body
        if first is not None and (loads or lines & _list_lines(node)):
            edits.append(_fail_at(first, text.encode(), path))
            end = node.end_byte
    return _apply(text.encode(), edits)


def list_wrong_data(texts: Mapping[str, str | None], words: Mapping[Test, frozenset[str]]) -> Iterator[WrongVersion]:
    """Data that these words name, with other digits. Where tests expect them it is noticed, but for a product that reads them."""
    for path, text in texts.items():
        other = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), text or "")
        about = tuple(test for test, named in words.items() if named.issuperset(re.findall(r"\w+", path.rpartition("/")[2])))
        if other != text and other and about:
            yield WrongVersion(NoteKind.SURVIVES, f"{path} with other digits", {path: other}, about=about)


def list_failing_assertions(texts: Mapping[str, str], tests: Sequence[str]) -> Iterator[WrongVersion]:
    """In each of these tests the last assertion fails, then in each the last but one, and so on."""
    asserting = [
        (path, title, texts[path].encode(), list(_list_assertions(body)) or [body.named_children[-1]])
        for path, title, body in _list_tests(texts, tests)
    ]
    for turn in range(MAX_ASSERTIONS):
        edits, places = dict[str, list[_Edit]](), dict[Test, str]()
        for path, title, content, anchors in asserting:
            if turn < len(anchors):
                anchor = anchors[-1 - turn]
                edits.setdefault(path, []).append(_fail_at(anchor, content, path, asserts=True))
                places[path, title] = f"{path}:{anchor.start_point[0] + 1}"
        if places:
            files = {path: _apply(texts[path].encode(), parts) for path, parts in edits.items()}
            yield WrongVersion(NoteKind.UNHEARD, "", files, places)


def find_test_words(texts: Mapping[str, str], tests: Sequence[str]) -> dict[Test, frozenset[str]]:
    return {(path, title): split_words(read_node(body)) for path, title, body in _list_tests(texts, tests)}


def split_words(text: str) -> frozenset[str]:
    """Of code; of what is called also with the bracket."""
    return frozenset((*re.findall(r"\w+", text), *re.findall(r"\w+\(", text)))


def is_of_test(test: str, path: str, title: str) -> bool:
    """Whether a runner's name of a test, or of a case of it, is that of the test with this title (`Class::name`)."""
    name = test.partition("[")[0] if path.endswith(".py") else test
    if name.partition("::")[0].endswith(".py"):
        return name == f"{path}::{title}"
    return bool(re.search(rf"(?:^|\W){re.escape(title).replace('::', '(?:::|[.])')}$", name))


def _declares(node: Any) -> bool:
    """Whether it gives a name a meaning, and does no more."""
    named = node.named_children[0] if node.type == "expression_statement" and node.named_children else node
    left = named.child_by_field_name("left")
    return bool(_DECLARING.search(node.type)) or _is_text(node) or (left is not None and left.type == "identifier")


def _list_lines(node: Any) -> frozenset[int]:
    return frozenset(range(node.start_point[0] + 1, node.end_point[0] + 2))


def _find_first(block: Any) -> Any | None:
    """Of its statements, without a docstring."""
    return next((part for part in block.named_children if "comment" not in part.type and not _is_text(part)), None)


def _find_suffix(path: str) -> str:
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :] if "." in name else ""


def _apply(content: bytes, edits: Iterable[_Edit]) -> str:
    for edit in sorted(edits, key=lambda edit: edit.node.start_byte, reverse=True):
        start = edit.node.start_byte
        content = content[:start] + edit.put.encode() + content[edit.node.end_byte if edit.whole else start :]
    return content.decode()


def _walk(node: Any) -> Iterator[Any]:
    todo = [node]
    while todo:
        yield (node := todo.pop())
        todo += reversed(node.children)


def _list_edits(root: Any, content: bytes, path: str) -> Iterator[_Edit]:
    """Within functions and branches: what stands outside runs when it is loaded, or only says what is what."""
    other = _OTHER_VALUE.get(_find_suffix(path), "")
    todo: list[tuple[Any, int]] = [(root, 0)]
    while todo:
        node, group = todo.pop()
        parent = node.parent
        if node.type in _FUNCTIONS:
            group = node.start_byte + 1
        if node.type in _BLOCKS and parent is not None and not _CLASSES.search(parent.type):
            group = node.start_byte + 1
            first = _find_first(node)
            if first is not None and not (other and first.type == "return_statement"):
                yield _fail_at(first, content, path, group)
        value = _find_value(node) if group else None
        if value is not None and other:
            words = f"`{_shorten(node)}` {_OTHERWISE}"
            yield _Edit(value, other.format(read_node(value)), words, group)
        if group and not node.children:
            yield from _list_token_edits(node, parent, group)
        if node.type not in ("decorator", "type", "type_annotation") and not _is_text(node):
            todo += [(child, group) for child in reversed(node.children)]


def _list_token_edits(node: Any, parent: Any, group: int) -> Iterator[_Edit]:
    text = read_node(node)
    put = str(int(text) + 1) if _WHOLE.match(node.type) and text.isdigit() and not _PLACE.search(parent.type) else ""
    if text in _OTHER_TOKEN and (_OPERATION.search(parent.type) or text.lower() in ("true", "false")):
        put = _OTHER_TOKEN[text]
    if put:
        scope = parent if len(read_node(parent)) < MAX_CODE_CHARACTERS else node
        at = node.start_byte - scope.start_byte
        after = read_node(scope).encode()[:at] + put.encode() + read_node(scope).encode()[at + len(node.text) :]
        yield _Edit(node, put, f"`{_shorten(scope)}` → `{after.decode()}`", group)


def _find_value(node: Any) -> Any | None:
    """What a function returns, or what becomes part of another thing."""
    if node.type == "return_statement":
        return next((part for part in node.named_children if part.type != "comment"), None)
    if node.type == "arrow_function":
        body = node.child_by_field_name("body")
        return body if body is not None and body.type != "statement_block" else None
    left = node.child_by_field_name("left") if node.type in ("assignment", "assignment_expression") else None
    parts = ("attribute", "subscript", "member_expression", "subscript_expression")
    return node.child_by_field_name("right") if left is not None and left.type in parts else None


def _is_text(node: Any) -> bool:
    return node.type == "expression_statement" and [part.type for part in node.named_children] == ["string"]


def _shorten(node: Any) -> str:
    return to_one_line(read_node(node), MAX_CODE_CHARACTERS)


def _fail_at(node: Any, content: bytes, path: str, group: int = 0, asserts: bool = False) -> _Edit:
    """The statement, or the expression that is all of a function, fails before it does anything."""
    suffix, start = _find_suffix(path), node.start_byte
    fails, words = _BREAKS[suffix].strip(), f"`{_shorten(node)}` failing"
    if suffix == ".py":
        fails = fails.replace("RuntimeError", "AssertionError") if asserts else fails
        before = content[content.rfind(b"\n", 0, start) + 1 : start].decode()
        return _Edit(node, f"{fails}; " if before.strip() else f"{fails}\n{before}", words, group, whole=False)
    if node.parent is not None and node.parent.type in ("arrow_function", "closure_expression", "lambda_expression"):
        return _Edit(node, f"{{ {fails} }}", words, group)
    return _Edit(node, f"{fails} ", words, group, whole=False)


def _list_tests(texts: Mapping[str, str], tests: Sequence[str]) -> Iterator[tuple[str, str, Any]]:
    """Path, title and body of those of the tests that are in these files."""
    for path, text in texts.items():
        parser = load_parser(_find_suffix(path))
        for node in _walk(parser.parse(text.encode()).root_node) if parser else ():
            title, body = _read_test(node)
            if body is not None and body.named_children and any(is_of_test(test, path, title) for test in tests):
                yield path, title, body


def _read_test(node: Any) -> tuple[str, Any]:
    name = read_node(node.child_by_field_name("name"))
    if node.type in ("call_expression", "call") and TEST_CALL.match(read_node(node.child_by_field_name("function"))):
        arguments = [part for part in node.child_by_field_name("arguments").named_children if part.type != "comment"]
        body = arguments[-1].child_by_field_name("body") if arguments else None
        return (read_node(arguments[0]).strip("'\"`") if arguments else "", body)
    marks = read_node(node.prev_named_sibling) if node.type == "function_item" else read_node(node)[:200]
    tests = name.startswith(("test", "Test")) if node.type in ("function_definition", "function_declaration") else False
    above = node.parent.parent if tests and node.type == "function_definition" and node.parent.type != "module" else None
    above = node.parent.parent.parent if above is not None and node.parent.type == "decorated_definition" else above
    if above is not None and above.type == "class_definition":
        name = f"{read_node(above.child_by_field_name('name'))}::{name}"
    if tests or (node.type in ("function_item", "method_declaration") and _TEST_MARK.search(marks)):
        return name, node.child_by_field_name("body")
    return "", None


def _list_assertions(body: Any) -> Iterator[Any]:
    """The statements that hold one; of one within another the outer."""
    todo = [body]
    while todo:
        node = todo.pop()
        text = read_node(node) if node.is_named and node.type not in (*_BLOCKS, "identifier") else ""
        if (node.type == "assert_statement" or ASSERTION.match(text) or _RAISING.match(text) or _asserts(node)) and text:
            yield _find_statement(node)
        else:
            todo += reversed(node.children)


def _asserts(node: Any) -> bool:
    return node.type == "call" and bool(PYTHON_ASSERTION.search(read_node(node.child_by_field_name("function"))))


def _find_statement(node: Any) -> Any:
    """That holds it; or the expression that is all of a function."""
    while node.parent.type not in (*_BLOCKS, "module", "program") and not (
        node.parent.type in ("arrow_function", "closure_expression", "lambda_expression")
        and node.parent.child_by_field_name("body") == node
    ):
        node = node.parent
    return node
