"""What a Python text says, by `ast`: for texts of which the shape alone does not tell it."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from afresh.code.complexity import FunctionNode, list_statement_bodies
from afresh.code.languages.python_mask import PROSE_WORD, NeedsParser, mask_source
from afresh.code.languages.python_regex_reader import StatementScanner, split_statements
from afresh.code.languages.python_signatures import (
    collapse_code_whitespace,
    extract_header,
    is_interface,
    tidy_source,
    truncate_assignment,
)
from afresh.code.python_source import parse_syntax_tree
from afresh.core.symbol import FileReading, ImportedModule, Symbol, SymbolKind

if TYPE_CHECKING:
    from afresh.code.index.code_index import CodeIndex


MAIN_GUARD = re.compile(r"^if +__name__ *== *['\"]__main__['\"]", re.MULTILINE)


def read_source(path: str, text: str) -> FileReading:
    return read_source_and_words(path, text)[0]


def read_source_and_words(path: str, text: str) -> tuple[FileReading, Counter[str]]:
    """The reading, and all identifiers and words of the text with how often they are said."""
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    try:
        code = mask_source(text)
    except NeedsParser:
        return _read_with_ast(text, lines, None), Counter(PROSE_WORD.findall(text))
    identifiers = code.identifiers()
    said = code.prose()
    mentions = tuple(sorted(identifiers))
    for name, count in identifiers.items():
        said[name] += count
    try:
        found = StatementScanner(split_statements(text, code)).run()
    except NeedsParser:
        return _read_with_ast(text, lines, mentions), said
    return FileReading("python", lines, tuple(found.symbols), tuple(found.imports), mentions, found.doc, found.entry), said


def _read_with_ast(text: str, lines: int, mentions: tuple[str, ...] | None) -> FileReading:
    tree = parse_syntax_tree(text)
    if tree is None:
        return FileReading("python", lines, mentions=mentions or (), fault="does not parse")
    written = text.split("\n")
    return FileReading(
        "python",
        lines,
        tuple(list_symbols(tree.body, written)),
        tuple(list_imports(tree)),
        mentions if mentions is not None else tuple(sorted(set(list_mentions(tree)))),
        read_docstring_line(tree),
        'if __name__ == "__main__"' if MAIN_GUARD.search(text) else "",
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


MAX_REEXPORTS = 3
"""Packages through which one name is followed."""
PACKAGE_STEM = "__init__"


@dataclass(frozen=True, slots=True)
class PythonModules:
    names: Mapping[str, Sequence[str]]
    """By path, the dotted names that a file may be imported by."""
    paths: Mapping[str, str]
    """The file of each name."""
    imports_of: Callable[[str], Sequence[ImportedModule]]
    """What the file at a path imports."""
    _gathered: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def gathered(self, path: str) -> Mapping[str, str]:
        """Names that a package imports, with the module that each comes from."""
        if path not in self._gathered:
            found = {here: self.absolute(one, path) for one in self.imports_of(path) for _, here in one.names}
            self._gathered[path] = found
        return self._gathered[path]

    def absolute(self, imported: ImportedModule, path: str) -> str:
        """The imported module, seen from the top."""
        module = imported.module.lstrip(".")
        level = len(imported.module) - len(module)
        if not level:
            return module
        names = self.names.get(path)
        package = names[-1].split(".") if names else []
        up = level - 1 if is_package(path) else level
        return ".".join([*package[: max(0, len(package) - up)], *([module] if module else [])])


def index_modules(code: "CodeIndex") -> PythonModules:
    sources = frozenset(path for path in code.files if path.endswith((".py", ".pyi", ".pyw")))
    names = {path: list_module_names(path, sources) for path in sorted(sources, reverse=True)}
    paths = {name: path for path, known in names.items() for name in known}
    return PythonModules(names, paths, code.imported_by)


def resolve_import(imported: ImportedModule, path: str, modules: PythonModules) -> Iterable[str]:
    if not imported.names:
        return _resolve_module(imported.module, modules)
    base = modules.absolute(imported, path)
    found: set[str] = set()
    for name, _ in imported.names:
        found |= _resolve_member(base, name, modules, MAX_REEXPORTS)
    return found


def list_module_names(path: str, sources: Collection[str]) -> list[str]:
    """Names that the file may be imported by: from the top, and from below `src` or the folder without `__init__.py`."""
    parts = path.rpartition(".")[0].split("/")
    folders = len(parts) - 1
    if parts[-1] == PACKAGE_STEM:
        parts.pop()
    top = folders
    while top > 0 and "/".join([*parts[:top], "__init__.py"]) in sources:
        top -= 1
    names = [".".join(parts), ".".join(parts[top:])]
    if parts and parts[0] in ("src", "lib"):
        names.append(".".join(parts[1:]))
    return [name for name in dict.fromkeys(names) if name]


def is_package(path: str) -> bool:
    return path.endswith(("__init__.py", "__init__.pyi"))


def _resolve_module(name: str, modules: PythonModules) -> set[str]:
    """`import package` may use anything that the package gathers."""
    path = modules.paths.get(name)
    if path is None:
        return set()
    if not is_package(path):
        return {path}
    gathered = (modules.paths.get(other) for other in modules.gathered(path).values())
    return {path, *(other for other in gathered if other)}


def _resolve_member(base: str, name: str, modules: PythonModules, depth: int) -> set[str]:
    """Where `from base import name` leads, through packages that pass the name on."""
    if inner := modules.paths.get(f"{base}.{name}" if base else name):
        return {inner}
    path = modules.paths.get(base)
    if path is None:
        return set()
    if name == "*":
        return _resolve_module(base, modules)
    onward = modules.gathered(path).get(name) if depth and is_package(path) else None
    return {path, *(_resolve_member(onward, name, modules, depth - 1) if onward else ())}
