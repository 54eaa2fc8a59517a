"""A Python file, parsed once: its lines, its syntax tree and its functions."""

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from afresh.code.complexity import MAX_COMPLEXITY, FunctionNode, list_statement_bodies, measure_complexity
from afresh.core.recognise_test_files import is_test_code
from afresh.ports.workspace import FileTree, read_text

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
    """The enclosing definitions, outermost first."""

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
            function
            for function in self.functions
            if function.complexity > MAX_COMPLEXITY and not _COMPLEXITY_NOQA.search(self.line(function.node.lineno))
        ]

    def line(self, number: int) -> str:
        return self.lines[number - 1]


def parse_python(path: str, text: str) -> PythonSource | None:
    """Parse a file; None if the text is not Python, or too large to be written by hand."""
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
    """Return lines with their line ends, as Python counts them: `str.splitlines` also splits at form feeds and the like."""
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
    """Return the numbers of lines that begin inside a string, where white space is content."""
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


@dataclass(frozen=True, slots=True)
class PythonTree:
    paths: tuple[str, ...]
    sources: dict[str, PythonSource]
    skipped: dict[str, str]
    """Python files that could not be parsed, with the reason."""

    @property
    def code(self) -> list[PythonSource]:
        return [source for path, source in self.sources.items() if not is_test_code(path)]


@dataclass(slots=True)
class PythonTreeReader:
    """Reads trees and caches parsed files: an unchanged file costs one read and one comparison."""

    _known: dict[str, tuple[str, PythonSource | None]] = field(default_factory=dict[str, tuple[str, PythonSource | None]])

    def tree(self, files: FileTree) -> PythonTree:
        paths = tuple(files.paths())
        sources: dict[str, PythonSource] = {}
        skipped: dict[str, str] = {}
        for path in paths:
            if not path.endswith(".py"):
                continue
            source = self._source(path, files)
            if isinstance(source, PythonSource):
                sources[path] = source
            else:
                skipped[path] = source
        self._known = {path: known for path, known in self._known.items() if path in sources or path in skipped}
        return PythonTree(paths, sources, skipped)

    def _source(self, path: str, files: FileTree) -> PythonSource | str:
        text = read_text(files, path)
        if text is None:
            return "cannot be read as text"
        known = self._known.get(path)
        if known is None or known[0] != text:
            known = self._known[path] = (text, parse_python(path, text))
        if known[1] is not None:
            return known[1]
        return f"{len(text):,} characters, too large" if len(text) > MAX_SOURCE_CHARACTERS else "does not parse"
