"""The original text of expressions and statements, and new text made from it, which is parsed back before it is used."""

import ast
import io
import re
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from afresh.code.complexity import list_statement_bodies
from afresh.code.python_source import PythonSource, find_lines_inside_strings
from afresh.code.refactoring.blocks import find_first_line

TOOL_COMMENT = re.compile(r"#\s*(type:|noqa|pragma|fmt:|pylint|mypy|isort|pyright|nosec)", re.IGNORECASE)
"""Comments for a tool about one line."""
LOOSELY_BINDING_NODES = ast.IfExp | ast.Lambda | ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Starred


@lru_cache(maxsize=64)
def find_comments(text: str) -> Mapping[int, str]:
    """Return the text of each comment by line."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}


def has_no_comments(source: PythonSource, first: int, last: int) -> bool:
    """Whether there is no comment in these lines."""
    found = find_comments(source.text)
    return not any(line in found for line in range(first, last + 1))


def lift_comments(source: PythonSource, first: int, last: int, indent: str) -> list[str] | None:
    """Return the comments that have their own lines, to be moved above; None if there is a comment at the end of a line."""
    found = find_comments(source.text)
    lines: list[str] = []
    for line in range(first, last + 1):
        if line in found:
            if not source.line(line).lstrip().startswith("#") or TOOL_COMMENT.match(found[line]):
                return None
            lines.append(indent + found[line])
    return lines


def render_on_one_line(source: PythonSource, node: ast.expr) -> str | None:
    """Return the text of an expression on one line; None if it has a comment or does not fit on one line."""
    last = node.end_lineno or node.lineno
    if node.lineno == last:
        return source.line(last).encode()[node.col_offset : node.end_col_offset].decode()
    if not has_no_comments(source, node.lineno, last - 1) or any(
        line in find_lines_inside_strings(source.text) for line in range(node.lineno, last + 1)
    ):
        return None
    parts = [source.line(node.lineno).encode()[node.col_offset :].decode()]
    parts += [source.line(line) for line in range(node.lineno + 1, last)]
    parts.append(source.line(last).encode()[: node.end_col_offset].decode())
    text = re.sub(r"([(\[{]) ", r"\1", " ".join(part.strip().rstrip("\\").rstrip() for part in parts))
    for candidate in (re.sub(r",? ([)\]}])", r"\1", text), re.sub(r" ([)\]}])", r"\1", text)):
        if is_text_of(candidate, node):
            return candidate
    return None


def is_text_of(text: str, node: ast.expr) -> bool:
    """Whether the text parses to that expression."""
    try:
        return ast.dump(ast.parse(text.strip(), mode="eval").body) == ast.dump(node)
    except SyntaxError:
        return False


def render_operands(source: PythonSource, tests: Sequence[ast.expr], word: str) -> list[str] | None:
    """Return the operands of `and` or `or`, in parentheses where needed."""
    other = ast.Or if word == "and" else ast.And
    parts: list[str] = []
    for test in tests:
        flat = test.values if isinstance(test, ast.BoolOp) and not isinstance(test.op, other) else [test]
        for operand in flat:
            text = render_on_one_line(source, operand)
            if text is None:
                return None
            loose = isinstance(operand, LOOSELY_BINDING_NODES | ast.BoolOp)
            parts.append(f"({text})" if loose else text)
    return parts


def negate_condition(source: PythonSource, test: ast.expr) -> str | None:
    """Return a condition that is true exactly when the test is false, with the same evaluation."""
    text = render_on_one_line(source, test)
    if text is None:
        return None
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = render_on_one_line(source, operand)
            return f"({inner})" if inner and isinstance(operand, LOOSELY_BINDING_NODES) else inner
        case ast.Compare(ops=[operator], comparators=[right]) if type(operator) in OPPOSITE_OPERATORS and _can_swap_operator(
            operator, test.left, right
        ):
            left, after = render_on_one_line(source, test.left), render_on_one_line(source, right)
            return f"{left} {OPPOSITE_OPERATORS[type(operator)]} {after}" if left and after else None
        case ast.BoolOp() | ast.Compare() | ast.IfExp() | ast.Lambda() | ast.NamedExpr():
            return f"not ({text})"
        case _:
            return f"not {text}"


OPPOSITE_OPERATORS: Mapping[type[ast.cmpop], str] = {
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Eq: "!=",
    ast.NotEq: "==",
}


def _can_swap_operator(operator: ast.cmpop, left: ast.expr, right: ast.expr) -> bool:
    """Whether the operator can be inverted: `!=` is only sure to be the opposite of `==` for plain values."""
    constant = any(isinstance(side, ast.Constant) and isinstance(side.value, str | int | bytes) for side in (left, right))
    return constant or not isinstance(operator, ast.Eq | ast.NotEq)


def render_condition_header(indent: str, words: str, parts: Sequence[str], joint: str, source: PythonSource) -> list[str] | None:
    """Return `if a and b:` on one line, or one operand per line in parentheses."""
    line = f"{indent}{words} {f' {joint} '.join(parts)}:"
    if len(line) <= source.layout.line_width:
        return [line]
    unit = detect_indent_step(source)
    rest = [f"{indent}{unit}{joint} {part}" for part in parts[1:]]
    lines = [f"{indent}{words} (", f"{indent}{unit}{parts[0]}", *rest, f"{indent}):"]
    return lines if max(map(len, lines)) <= source.layout.line_width else None


@lru_cache(maxsize=64)
def detect_indent_step(source: PythonSource) -> str:
    """Return one level of indentation, as the file uses it."""
    found = (line for line in source.lines if line[:1] in (" ", "\t") and line.strip())
    first = next(found, "    ")
    indent = first[: len(first) - len(first.lstrip())]
    return indent if indent in ("\t", "  ", "    ") else "    "


def reindent_lines(source: PythonSource, first: int, last: int, old: str, new: str) -> list[str]:
    """Return the lines at another depth; lines inside strings are not changed."""
    strings = find_lines_inside_strings(source.text)
    lines: list[str] = []
    for number in range(first, last + 1):
        line = source.line(number).rstrip("\r\n")
        if number not in strings:
            line = new + line[len(old) :] if line.startswith(old) else new + line.lstrip() if line.strip() else ""
        lines.append(line)
    return lines


@dataclass(frozen=True, slots=True)
class StatementLines:
    """The lines of a statement that shares them with no other."""

    first: int
    last: int
    indent: str
    word: str
    """`elif` if the statement is one."""


def locate_statement(source: PythonSource, statement: ast.stmt) -> StatementLines | None:
    first, last = find_first_line(statement), statement.end_lineno or statement.lineno
    indent = read_indent(source, first)
    begins = len(indent.encode()) == statement.col_offset and first not in find_lines_inside_strings(source.text)
    tail = source.line(last).encode()[statement.end_col_offset :].decode().strip()
    if not begins or (tail and not tail.startswith("#")) or not _has_own_body_lines(source, statement):
        return None
    elif_ = isinstance(statement, ast.If) and source.line(first).startswith(indent + "elif")
    return StatementLines(first, last, indent, "elif" if elif_ else "")


def _has_own_body_lines(source: PythonSource, statement: ast.stmt) -> bool:
    """Whether the bodies of a compound statement begin on lines of their own, with one statement per line."""
    for body in list_statement_bodies(statement):
        for inner in body:
            if inner.lineno == statement.lineno or locate_statement(source, inner) is None:
                return False
    return True


def find_header_end(statement: ast.If | ast.For | ast.While) -> int:
    """Return the last line that can belong to the statement's header."""
    return find_first_line(statement.body[0]) - 1


def read_indent(source: PythonSource, line: int) -> str:
    text = source.line(line)
    return text[: len(text) - len(text.lstrip())]
