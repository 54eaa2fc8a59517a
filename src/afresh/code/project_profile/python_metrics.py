"""What one file of Python shows of its style, counted once for each content."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from afresh.code.complexity import FunctionNode, count_decision_points
from afresh.code.python_source import parse_syntax_tree

DOCSTRING_CONVENTIONS = {
    "Google style": re.compile(r"^\s*(?:Args|Returns|Raises|Yields|Attributes):\s*$", re.MULTILINE),
    "NumPy style": re.compile(r"^\s*(?:Parameters|Returns|Raises)\s*\n\s*-{4,}", re.MULTILINE),
    "Sphinx fields": re.compile(r"^\s*:(?:param|returns?|raises|type|rtype)\b", re.MULTILINE),
}
DATACLASS_DECORATOR = re.compile(r"(?:\w+\.)?(?:dataclass|define|frozen|attrs)\b")


@dataclass(frozen=True, slots=True)
class PythonFileMetrics:
    functions: int = 0
    annotated: int = 0
    waiting: int = 0
    """Functions that are async."""
    lengths: tuple[int, ...] = ()
    classes: int = 0
    data: int = 0
    frozen: int = 0
    docs: int = 0
    marked: tuple[tuple[str, int], ...] = ()
    """Docstrings in each of the known conventions."""
    double: int = 0
    single: int = 0
    raised: tuple[str, ...] = ()
    decisions: int = 0


@lru_cache(maxsize=1024)
def measure_python_file(text: str) -> PythonFileMetrics:
    """Nothing of a file that does not parse."""
    tree = parse_syntax_tree(text)
    if tree is None:
        return PythonFileMetrics()
    nodes = list(ast.walk(tree))
    functions = [node for node in nodes if isinstance(node, FunctionNode)]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    docs = [doc for node in (*functions, *classes) if (doc := ast.get_docstring(node, clean=False))]
    data = [mark for node in classes for one in node.decorator_list if DATACLASS_DECORATOR.match(mark := ast.unparse(one))]
    marks = list(iterate_quote_marks(text, nodes))
    return PythonFileMetrics(
        functions=len(functions),
        annotated=sum(map(is_fully_annotated, functions)),
        waiting=sum(isinstance(node, ast.AsyncFunctionDef) for node in functions),
        lengths=tuple((node.end_lineno or node.lineno) - node.lineno + 1 for node in functions),
        classes=len(classes),
        data=len(data),
        frozen=sum("frozen" in mark for mark in data),
        docs=len(docs),
        marked=tuple((name, sum(bool(pattern.search(doc)) for doc in docs)) for name, pattern in DOCSTRING_CONVENTIONS.items()),
        double=marks.count('"'),
        single=marks.count("'"),
        raised=tuple(name for node in nodes if isinstance(node, ast.Raise) and (name := read_raised_name(node))),
        decisions=count_decision_points(tree.body),
    )


def is_fully_annotated(function: FunctionNode) -> bool:
    """All but `self`; a constructor need not say what it returns."""
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    given += [one for one in (function.args.vararg, function.args.kwarg) if one]
    wanted = [one for number, one in enumerate(given) if not (number == 0 and one.arg in ("self", "cls", "mcs", "metacls"))]
    answered = function.returns is not None or (function.name == "__init__" and bool(wanted))
    return answered and all(one.annotation for one in wanted)


def iterate_quote_marks(text: str, nodes: list[ast.AST]) -> Iterator[str]:
    """The mark that each plain string begins with; not of those that hold one, nor of docstrings."""
    lines = text.split("\n")
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not {"'", '"'} & {*node.value}:
            line = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
            said = line.encode()[node.col_offset :].decode("utf-8", "replace").lstrip("rbufRBUF")
            if said[:1] in ("'", '"') and said[:3] not in ("'''", '"""'):
                yield said[0]


def read_raised_name(node: ast.Raise) -> str:
    """What is raised by its name; not what is raised again."""
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if isinstance(raised, ast.Attribute):
        return raised.attr
    return raised.id if isinstance(raised, ast.Name) and raised.id[:1].isupper() else ""


@lru_cache(maxsize=1024)
def detect_indentation(text: str) -> str:
    """Of the lines that follow one which opens a block; empty where there is none."""
    steps = re.findall(r"^\S[^\n]*[:{(\[]\s*\n(\t+|  +)(?=\S)", text, re.MULTILINE)
    counts: dict[str, int] = {}
    for step in steps:
        name = "tabs" if step.startswith("\t") else f"{len(step)} spaces"
        counts[name] = counts.get(name, 0) + 1
    found = min(counts, key=lambda name: (-counts[name], name)) if counts else ""
    return found if found in ("tabs", "2 spaces", "3 spaces", "4 spaces", "8 spaces") else ""
