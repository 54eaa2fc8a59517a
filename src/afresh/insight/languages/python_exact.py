"""What a Python text says, by `ast`: for texts of which the shape alone does not tell it."""

import ast
from collections.abc import Iterator

from afresh.domain.code import ImportedModule, SymbolKind, Symbol
from afresh.insight.complexity import FunctionNode, list_statement_bodies
from afresh.insight.languages.python_header import (
    collapse_code_whitespace,
    truncate_assignment,
    extract_header,
    is_interface,
    tidy_source,
)


def list_symbols(
    statements: list[ast.stmt], lines: list[str], prefix: str = "", bound: bool = True, owner: bool = False
) -> Iterator[Symbol]:
    """`bound`: names that are bound here are seen from outside."""
    for statement in statements:
        if isinstance(statement, FunctionNode):
            yield _function_symbol(statement, lines, prefix, owner)
            yield from list_symbols(statement.body, lines, f"{prefix}{statement.name}.", False)
        elif isinstance(statement, ast.ClassDef):
            yield _class_symbol(statement, lines, prefix)
            yield from list_symbols(statement.body, lines, f"{prefix}{statement.name}.", bound, True)
        else:
            if bound:
                yield from _constant_symbols(statement, lines, prefix)
            for body in list_statement_bodies(statement):
                yield from list_symbols(body, lines, prefix, bound, owner)


def list_imports(tree: ast.Module) -> list[ImportedModule]:
    found: list[ImportedModule] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [ImportedModule(alias.name, node.lineno, (), alias.asname or "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = tuple((alias.name, alias.asname or alias.name) for alias in node.names)
            found.append(ImportedModule("." * node.level + (node.module or ""), node.lineno, names))
    return sorted(found, key=lambda one: one.line)


def list_mentions(tree: ast.Module) -> Iterator[str]:
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


def read_docstring_line(node: ast.Module | FunctionNode | ast.ClassDef) -> str:
    return (ast.get_docstring(node) or "").strip().partition("\n")[0].strip()


def _function_symbol(node: FunctionNode, lines: list[str], prefix: str, owner: bool) -> Symbol:
    kind = SymbolKind.METHOD if owner else SymbolKind.FUNCTION
    return Symbol(
        prefix + node.name, kind, _first_line(node), _last_line(node), _definition_header(node, lines), read_docstring_line(node)
    )


def _class_symbol(node: ast.ClassDef, lines: list[str], prefix: str) -> Symbol:
    bases = tuple(collapse_code_whitespace(_node_source(base, lines)) for base in node.bases)
    kind = SymbolKind.INTERFACE if is_interface(bases) else SymbolKind.CLASS
    return Symbol(
        prefix + node.name,
        kind,
        _first_line(node),
        _last_line(node),
        _definition_header(node, lines),
        read_docstring_line(node),
        bases,
    )


def _constant_symbols(node: ast.stmt, lines: list[str], prefix: str) -> Iterator[Symbol]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    for target in targets:
        names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        for name in names:
            if isinstance(name, ast.Name):
                yield Symbol(
                    prefix + name.id,
                    SymbolKind.CONSTANT,
                    node.lineno,
                    _last_line(node),
                    truncate_assignment(tidy_source(_node_source(node, lines))),
                )


def _definition_header(node: FunctionNode | ast.ClassDef, lines: list[str]) -> str:
    first = lines[node.lineno - 1].encode()[node.col_offset :].decode("utf-8", "replace")
    return extract_header("\n".join([first, *lines[node.lineno : node.body[0].lineno]]))


def _node_source(node: ast.stmt | ast.expr, lines: list[str]) -> str:
    end, last = node.end_lineno or node.lineno, node.end_col_offset
    taken = [line.encode() for line in lines[node.lineno - 1 : end]]
    taken[-1] = taken[-1][:last]
    taken[0] = taken[0][node.col_offset :]
    return b"\n".join(taken).decode("utf-8", "replace")


def _first_line(node: FunctionNode | ast.ClassDef) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _last_line(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno
