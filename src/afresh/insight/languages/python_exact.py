"""What a Python text says, by `ast`: for texts of which the shape alone does not tell it."""

import ast
from collections.abc import Iterator

from afresh.domain.code import Import, Kind, Symbol
from afresh.insight.complexity import FunctionNode, bodies
from afresh.insight.languages.python_header import collapsed, cut, headed, is_interface, tidy


def symbols(
    statements: list[ast.stmt], lines: list[str], prefix: str = "", bound: bool = True, owner: bool = False
) -> Iterator[Symbol]:
    """`bound`: names that are bound here are seen from outside."""
    for statement in statements:
        if isinstance(statement, FunctionNode):
            yield _function(statement, lines, prefix, owner)
            yield from symbols(statement.body, lines, f"{prefix}{statement.name}.", False)
        elif isinstance(statement, ast.ClassDef):
            yield _class(statement, lines, prefix)
            yield from symbols(statement.body, lines, f"{prefix}{statement.name}.", bound, True)
        else:
            if bound:
                yield from _constants(statement, lines, prefix)
            for body in bodies(statement):
                yield from symbols(body, lines, prefix, bound, owner)


def imports(tree: ast.Module) -> list[Import]:
    found: list[Import] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [Import(alias.name, node.lineno, (), alias.asname or "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = tuple((alias.name, alias.asname or alias.name) for alias in node.names)
            found.append(Import("." * node.level + (node.module or ""), node.lineno, names))
    return sorted(found, key=lambda one: one.line)


def mentions(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        for name in ("id", "attr", "name", "arg", "asname", "rest"):
            value = getattr(node, name, None)
            if isinstance(value, str) and value != "*":
                yield from value.split(".")
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from node.module.split(".")
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        elif isinstance(node, ast.MatchClass):
            yield from node.kwd_attrs


def doc(node: ast.Module | FunctionNode | ast.ClassDef) -> str:
    return (ast.get_docstring(node) or "").strip().partition("\n")[0].strip()


def _function(node: FunctionNode, lines: list[str], prefix: str, owner: bool) -> Symbol:
    kind = Kind.METHOD if owner else Kind.FUNCTION
    return Symbol(prefix + node.name, kind, _line(node), _end(node), _header(node, lines), doc(node))


def _class(node: ast.ClassDef, lines: list[str], prefix: str) -> Symbol:
    bases = tuple(collapsed(_source(base, lines)) for base in node.bases)
    kind = Kind.INTERFACE if is_interface(bases) else Kind.CLASS
    return Symbol(prefix + node.name, kind, _line(node), _end(node), _header(node, lines), doc(node), bases)


def _constants(node: ast.stmt, lines: list[str], prefix: str) -> Iterator[Symbol]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    for target in targets:
        names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        for name in names:
            if isinstance(name, ast.Name):
                yield Symbol(prefix + name.id, Kind.CONSTANT, node.lineno, _end(node), cut(tidy(_source(node, lines))))


def _header(node: FunctionNode | ast.ClassDef, lines: list[str]) -> str:
    first = lines[node.lineno - 1].encode()[node.col_offset :].decode("utf-8", "replace")
    return headed("\n".join([first, *lines[node.lineno : node.body[0].lineno]]))


def _source(node: ast.stmt | ast.expr, lines: list[str]) -> str:
    end, last = node.end_lineno or node.lineno, node.end_col_offset
    taken = [line.encode() for line in lines[node.lineno - 1 : end]]
    taken[-1] = taken[-1][:last]
    taken[0] = taken[0][node.col_offset :]
    return b"\n".join(taken).decode("utf-8", "replace")


def _line(node: FunctionNode | ast.ClassDef) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno
