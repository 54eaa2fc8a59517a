"""The file's own text of expressions and statements, and new text made of it that is read back before it is used."""

import ast
import io
import re
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from afresh.insight.complexity import bodies
from afresh.insight.reshape.blocks import first_line
from afresh.insight.reshape.render import indent_of, widest
from afresh.insight.source import Source, inside_strings

ADDRESSED = re.compile(r"#\s*(type:|noqa|pragma|fmt:|pylint|mypy|isort|pyright|nosec)", re.IGNORECASE)
"""Comments that speak to a tool about one line."""
LOOSE = ast.IfExp | ast.Lambda | ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Starred


@lru_cache(maxsize=64)
def comments(text: str) -> Mapping[int, str]:
    """Line and text of each comment."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}


def plain(source: Source, first: int, last: int) -> bool:
    """No comment stands in these lines."""
    found = comments(source.text)
    return not any(line in found for line in range(first, last + 1))


def lifted(source: Source, first: int, last: int, indent: str) -> list[str] | None:
    """Comments that have lines of their own, to be put above; None if one belongs to its line."""
    found = comments(source.text)
    lines: list[str] = []
    for line in range(first, last + 1):
        if line in found:
            if not source.line(line).lstrip().startswith("#") or ADDRESSED.match(found[line]):
                return None
            lines.append(indent + found[line])
    return lines


def own(source: Source, node: ast.expr) -> str | None:
    """The text of an expression on one line; None if it has a comment or a shape that one line cannot take."""
    last = node.end_lineno or node.lineno
    if node.lineno == last:
        return source.line(last).encode()[node.col_offset : node.end_col_offset].decode()
    if not plain(source, node.lineno, last - 1) or any(line in inside_strings(source.text) for line in range(node.lineno, last + 1)):
        return None
    parts = [source.line(node.lineno).encode()[node.col_offset :].decode()]
    parts += [source.line(line) for line in range(node.lineno + 1, last)]
    parts.append(source.line(last).encode()[: node.end_col_offset].decode())
    text = re.sub(r"([(\[{]) ", r"\1", " ".join(part.strip().rstrip("\\").rstrip() for part in parts))
    for candidate in (re.sub(r",? ([)\]}])", r"\1", text), re.sub(r" ([)\]}])", r"\1", text)):
        if reads_as(candidate, node):
            return candidate
    return None


def reads_as(text: str, node: ast.expr) -> bool:
    """Whether the text is that expression."""
    try:
        return ast.dump(ast.parse(text.strip(), mode="eval").body) == ast.dump(node)
    except SyntaxError:
        return False


def joined(source: Source, tests: Sequence[ast.expr], word: str) -> list[str] | None:
    """The operands of `and` or `or`, in parentheses where they need them."""
    other = ast.Or if word == "and" else ast.And
    parts: list[str] = []
    for test in tests:
        flat = test.values if isinstance(test, ast.BoolOp) and not isinstance(test.op, other) else [test]
        for operand in flat:
            text = own(source, operand)
            if text is None:
                return None
            loose = isinstance(operand, LOOSE) or isinstance(operand, ast.BoolOp)
            parts.append(f"({text})" if loose else text)
    return parts


def opposite(source: Source, test: ast.expr) -> str | None:
    """True exactly when the test is not, and as surely evaluated."""
    text = own(source, test)
    if text is None:
        return None
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = own(source, operand)
            return f"({inner})" if inner and isinstance(operand, LOOSE) else inner
        case ast.Compare(ops=[operator], comparators=[right]) if type(operator) in SWAPPED and _swaps(operator, test.left, right):
            left, after = own(source, test.left), own(source, right)
            return f"{left} {SWAPPED[type(operator)]} {after}" if left and after else None
        case ast.BoolOp() | ast.Compare() | ast.IfExp() | ast.Lambda() | ast.NamedExpr():
            return f"not ({text})"
        case _:
            return f"not {text}"


SWAPPED: Mapping[type[ast.cmpop], str] = {
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Eq: "!=",
    ast.NotEq: "==",
}


def _swaps(operator: ast.cmpop, left: ast.expr, right: ast.expr) -> bool:
    """`!=` is only sure to be the opposite of `==` beside a plain value."""
    constant = any(isinstance(side, ast.Constant) and isinstance(side.value, str | int | bytes) for side in (left, right))
    return constant or not isinstance(operator, ast.Eq | ast.NotEq)


def conditional(indent: str, words: str, parts: Sequence[str], joint: str, source: Source) -> list[str] | None:
    """`if a and b:` on one line, or one operand a line in parentheses."""
    line = f"{indent}{words} {f' {joint} '.join(parts)}:"
    if len(line) <= widest(source):
        return [line]
    unit = step(source)
    rest = [f"{indent}{unit}{joint} {part}" for part in parts[1:]]
    lines = [f"{indent}{words} (", f"{indent}{unit}{parts[0]}", *rest, f"{indent}):"]
    return lines if max(map(len, lines)) <= widest(source) else None


@lru_cache(maxsize=64)
def step(source: Source) -> str:
    """One level of indentation, as the file has it."""
    found = (line for line in source.lines if line[:1] in (" ", "\t") and line.strip())
    first = next(found, "    ")
    indent = first[: len(first) - len(first.lstrip())]
    return indent if indent in ("\t", "  ", "    ") else "    "


def moved(source: Source, first: int, last: int, old: str, new: str) -> list[str]:
    """Lines at another depth; what stands inside a string is not touched."""
    strings = inside_strings(source.text)
    lines: list[str] = []
    for number in range(first, last + 1):
        line = source.line(number).rstrip("\r\n")
        if number not in strings:
            line = new + line[len(old) :] if line.startswith(old) else new + line.lstrip() if line.strip() else ""
        lines.append(line)
    return lines


@dataclass(frozen=True, slots=True)
class Lines:
    """Where a statement stands, if it has its lines for itself."""

    first: int
    last: int
    indent: str
    word: str
    """`elif` where the statement is one."""


def lines_of(source: Source, statement: ast.stmt) -> Lines | None:
    first, last = first_line(statement), statement.end_lineno or statement.lineno
    indent = indent_of(source, first)
    begins = len(indent.encode()) == statement.col_offset and first not in inside_strings(source.text)
    tail = source.line(last).encode()[statement.end_col_offset :].decode().strip()
    if not begins or (tail and not tail.startswith("#")) or not _below(source, statement):
        return None
    elif_ = isinstance(statement, ast.If) and source.line(first).startswith(indent + "elif")
    return Lines(first, last, indent, "elif" if elif_ else "")


def _below(source: Source, statement: ast.stmt) -> bool:
    """Bodies of a compound statement begin on lines of their own, and only one statement stands on a line."""
    for body in bodies(statement):
        for inner in body:
            if inner.lineno == statement.lineno or lines_of(source, inner) is None:
                return False
    return True


def header_end(statement: ast.If | ast.For | ast.While) -> int:
    """The last line that can belong to the statement's head."""
    return first_line(statement.body[0]) - 1
