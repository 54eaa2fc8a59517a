"""What a Python file says of itself."""

import ast
import re
from collections.abc import Iterator

from afresh.domain.code import Import, Kind, Reading, Symbol
from afresh.insight.complexity import FunctionNode, bodies
from afresh.insight.languages.python_imports import modules, targets
from afresh.insight.source import LARGEST, syntax

__all__ = ["modules", "read", "targets"]

LONGEST = 160
"""Characters of a signature."""
MAIN = re.compile(r"^if __name__ == ['\"]__main__['\"]", re.MULTILINE)


def read(path: str, text: str) -> Reading:
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    if len(text) > LARGEST:
        return Reading("python", lines, fault=f"{len(text):,} characters, too large")
    tree = syntax(text)
    if tree is None:
        return Reading("python", lines, fault="does not parse")
    return Reading(
        "python",
        lines,
        symbols=tuple(_symbols(tree.body, "", True)),
        imports=tuple(_imports(tree)),
        mentions=tuple(sorted(set(_mentions(tree)))),
        doc=_doc(tree),
        entry='if __name__ == "__main__"' if MAIN.search(text) else "",
    )


def _symbols(statements: list[ast.stmt], prefix: str, bound: bool, owner: bool = False) -> Iterator[Symbol]:
    """`bound`: names that are bound here are seen from outside."""
    for statement in statements:
        if isinstance(statement, FunctionNode):
            yield _function(statement, prefix, owner)
            yield from _symbols(statement.body, f"{prefix}{statement.name}.", False)
        elif isinstance(statement, ast.ClassDef):
            yield _class(statement, prefix)
            yield from _symbols(statement.body, f"{prefix}{statement.name}.", True, True)
        else:
            if bound:
                yield from _constants(statement, prefix)
            for body in bodies(statement):
                yield from _symbols(body, prefix, bound, owner)


def _function(node: FunctionNode, prefix: str, owner: bool) -> Symbol:
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    answer = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    signature = f"{word} {node.name}({ast.unparse(node.args)}){answer}"
    return Symbol(prefix + node.name, Kind.METHOD if owner else Kind.FUNCTION, _line(node), _end(node), signature, _doc(node))


def _class(node: ast.ClassDef, prefix: str) -> Symbol:
    bases = tuple(ast.unparse(base) for base in node.bases)
    inside = ", ".join([*bases, *(f"{key.arg}={ast.unparse(key.value)}" if key.arg else "**" for key in node.keywords)])
    signature = f"class {node.name}" + (f"({inside})" if inside else "")
    interface = any(base.partition("[")[0].rpartition(".")[2] == "Protocol" for base in bases)
    kind = Kind.INTERFACE if interface else Kind.CLASS
    return Symbol(prefix + node.name, kind, _line(node), _end(node), signature, _doc(node), bases)


def _constants(node: ast.stmt, prefix: str) -> Iterator[Symbol]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    for target in targets:
        names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        for name in names:
            if isinstance(name, ast.Name):
                signature = " ".join(ast.unparse(node).split())
                cut = signature if len(signature) <= LONGEST else signature[: LONGEST - 1] + "…"
                yield Symbol(prefix + name.id, Kind.CONSTANT, node.lineno, _end(node), cut)


def _line(node: FunctionNode | ast.ClassDef) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _doc(node: ast.Module | FunctionNode | ast.ClassDef) -> str:
    return (ast.get_docstring(node) or "").strip().partition("\n")[0].strip()


def _imports(tree: ast.Module) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, (), alias.asname or "")
        elif isinstance(node, ast.ImportFrom):
            names = tuple((alias.name, alias.asname or alias.name) for alias in node.names)
            yield Import("." * node.level + (node.module or ""), node.lineno, names)


def _mentions(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        for field in ("id", "attr", "name", "arg", "asname"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                yield from value.split(".")
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from node.module.split(".")
