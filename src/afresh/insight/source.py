"""A Python file, read once: its lines, its tree and its functions."""

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from afresh.insight.complexity import MAX_COMPLEXITY, FunctionNode, list_statement_bodies, measure_complexity

MAX_SOURCE_CHARACTERS = 1_000_000
_PYTHON_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_COMPLEXITY_NOQA = re.compile(r"#\s*noqa(?!\s*:)|#\s*noqa\s*:[^#]*\bC901\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class PythonFunction:
    node: FunctionNode
    name: str
    """Qualified, as `Class.method`."""
    complexity: int
    around: tuple[FunctionNode | ast.ClassDef, ...]
    """The definitions it stands in, outermost first."""

    @property
    def owner(self) -> ast.ClassDef | None:
        return self.around[-1] if self.around and isinstance(self.around[-1], ast.ClassDef) else None

    @property
    def enclosing(self) -> tuple[FunctionNode, ...]:
        return tuple(node for node in self.around if isinstance(node, FunctionNode))


@dataclass(frozen=True, slots=True, eq=False)
class PythonSource:
    path: str
    text: str
    tree: ast.Module
    lines: tuple[str, ...]
    functions: tuple[PythonFunction, ...]

    @property
    def newline(self) -> str:
        return "\r\n" if self.lines and self.lines[0].endswith("\r\n") else "\n"

    @property
    def violations(self) -> list[PythonFunction]:
        return [
            one
            for one in self.functions
            if one.complexity > MAX_COMPLEXITY and not _COMPLEXITY_NOQA.search(self.line(one.node.lineno))
        ]

    def line(self, number: int) -> str:
        return self.lines[number - 1]


def parse_python(path: str, text: str) -> PythonSource | None:
    """None for a text that is not Python, or too large to be written by hand."""
    if len(text) > MAX_SOURCE_CHARACTERS:
        return None
    tree = parse_syntax_tree(text)
    if tree is None:
        return None
    return PythonSource(path, text, tree, split_lines(text), tuple(_list_functions(tree.body, "", ())))


def parse_syntax_tree(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def split_lines(text: str) -> tuple[str, ...]:
    """Lines as Python counts them, with their ends: `str.splitlines` also splits at form feeds and the like."""
    return tuple(_PYTHON_LINE.findall(text))


def _list_functions(
    statements: list[ast.stmt], prefix: str, around: tuple[FunctionNode | ast.ClassDef, ...]
) -> Iterator[PythonFunction]:
    for statement in statements:
        if isinstance(statement, FunctionNode):
            yield PythonFunction(statement, prefix + statement.name, measure_complexity(statement), around)
        inside = isinstance(statement, FunctionNode | ast.ClassDef)
        name = f"{prefix}{statement.name}." if isinstance(statement, FunctionNode | ast.ClassDef) else prefix
        for body in list_statement_bodies(statement):
            yield from _list_functions(body, name, (*around, statement) if inside else around)  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def find_lines_inside_strings(text: str) -> frozenset[int]:
    """Lines that begin inside a string, where white space is content."""
    found: set[int] = set()
    starts: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        if name in ("FSTRING_START", "TSTRING_START"):
            starts.append(token.start[0])
        elif name in ("FSTRING_END", "TSTRING_END"):
            found.update(range(starts.pop() + 1, token.end[0] + 1))
        elif name == "STRING":
            found.update(range(token.start[0] + 1, token.end[0] + 1))
    return frozenset(found)
