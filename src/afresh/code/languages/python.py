"""Reads Python files and resolves their imports to files of the tree."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from afresh.code.languages.python_text import (
    MaskedStatements,
    collapse_code_whitespace,
    extract_doc_line,
    extract_header,
    join_statements,
    list_base_classes,
    list_bound_names,
    list_chained_names,
    mask_source,
    tidy_source,
    truncate_assignment,
)
from afresh.core.symbol import FileReading, ImportedModule, Symbol, SymbolKind

if TYPE_CHECKING:
    from afresh.code.index.code_index import CodeIndex


MAX_REEXPORTS = 3
"""Re-exporting packages through which one name is followed."""
PACKAGE_STEM = "__init__"


@dataclass(frozen=True, slots=True)
class PythonModules:
    names: Mapping[str, Sequence[str]]
    """By path, the dotted names under which a file may be imported."""
    paths: Mapping[str, str]
    """The file of each dotted name."""
    imports_of: Callable[[str], Sequence[ImportedModule]]
    """Returns the imports of the file at a path."""
    _gathered: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def gathered(self, path: str) -> Mapping[str, str]:
        """Return the names that a package imports, with the module that each comes from."""
        if path not in self._gathered:
            found = {here: self.absolute(one, path) for one in self.imports_of(path) for _, here in one.names}
            self._gathered[path] = found
        return self._gathered[path]

    def absolute(self, imported: ImportedModule, path: str) -> str:
        """Return the absolute name of the imported module."""
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
    """Return the names under which the file may be imported: from the root, and from below `src` or a folder without
    `__init__.py`.
    """
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
    """Return the files of `import package`, including those of the names that the package re-exports."""
    path = modules.paths.get(name)
    if path is None:
        return set()
    if not is_package(path):
        return {path}
    gathered = (modules.paths.get(other) for other in modules.gathered(path).values())
    return {path, *(other for other in gathered if other)}


def _resolve_member(base: str, name: str, modules: PythonModules, depth: int) -> set[str]:
    """Return the files of `from base import name`, followed through packages that re-export the name."""
    if inner := modules.paths.get(f"{base}.{name}" if base else name):
        return {inner}
    path = modules.paths.get(base)
    if path is None:
        return set()
    if name == "*":
        return _resolve_module(base, modules)
    onward = modules.gathered(path).get(name) if depth and is_package(path) else None
    return {path, *(_resolve_member(onward, name, modules, depth - 1) if onward else ())}


__all__ = ["index_modules", "read_source", "read_source_and_words", "resolve_import"]

STATEMENT_START = re.compile(
    r"(?:\n( *+)|; *+)(?:@|(?:import|from|(?:async +)?(?:def|class))(?!\w)"
    r"|([(\[]?[^\W\d]\w*(?: *, *[^\W\d]\w*)*+ *,?[)\]]?) *+(?:=(?!=)|:(?!=)))"
    r"|: *+(?=(?:import|from) )"
)
"""A decorator, an import, a definition, or the target of an assignment. An import may also follow a header on the same line."""
DEFINITION_NAME = re.compile(r"(?:async +)?(?:def|class) +([^\W\d]\w*)")
BROKEN_LINE = re.compile(
    r"\n *+(?:(?:if|elif|else|for|while|try|except|finally|with|async|def|class)\b[^\n:]*+(?=\n)|(?:print|exec) +[\w\0])"
)
"""A header without a colon, or Python 2."""
DOCSTRING_LINE = re.compile(r"\s*\n[ (]*+(?:(?:\x00|\x01 *\x02) *+)++[ )]*+(?=\n)")
FROM_IMPORT = re.compile(r"from *+(\.[. ]*+|) *+([\w.]*) *+import *+\(?([^();]*+)\)?")
MAIN_GUARD = re.compile(r"^if +__name__ *== *['\"]__main__['\"]", re.MULTILINE)


def read_source(path: str, text: str) -> FileReading:
    return read_source_and_words(path, text)[0]


def read_source_and_words(path: str, text: str) -> tuple[FileReading, Counter[str]]:
    """Return the reading, and all identifiers and words of the text with their counts."""
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    masked = mask_source(text)
    identifiers, said = masked.identifiers(), masked.prose()
    for name, count in identifiers.items():
        said[name] += count
    found = StatementScanner(join_statements(text, masked.code))
    found.run()
    reading = FileReading(
        "python",
        text.count("\n") + (not text.endswith("\n") and bool(text)),
        tuple(found.symbols),
        tuple(found.imports),
        tuple(sorted(identifiers)),
        found.read_doc(0, 0, len(found.code)),
        'if __name__ == "__main__"' if MAIN_GUARD.search(text) else "",
        "does not parse" if found.broken else "",
    )
    return reading, said


@dataclass(frozen=True, slots=True)
class DefinitionBlock:
    end: int
    prefix: str
    is_class: bool


MODULE_BLOCK = DefinitionBlock(0, "", False)


class StatementScanner:
    """Scans the statements of a file once, in order."""

    def __init__(self, given: MaskedStatements) -> None:
        self.given, self.code = given, given.code
        self.broken = given.broken or bool(BROKEN_LINE.search(given.code))
        self.symbols: list[Symbol] = []
        self.imports: list[ImportedModule] = []
        self.blocks: list[DefinitionBlock] = []
        self.line, self.counted = 1, 0
        self.local_until = 0
        """End of the current function, whose local names are not visible outside."""
        self.decorated = 0
        """Line of the first decorator of the next definition."""

    def run(self) -> None:
        for match in STATEMENT_START.finditer(self.code):
            if match[2] and match.start() < self.local_until:
                continue
            self._enter(self.code.rfind("\n", 0, match.start() + 1))
            end = self.code.find("\n", match.start() + 1)
            if match[2]:
                self._constants(match, end)
            elif match[1] is None:
                self._imports(self.code[match.start() : end].lstrip(";: "))
            else:
                self._statement(self.code[match.end(1) : end], len(match[1]), end)

    def _enter(self, place: int) -> None:
        self.line += self.code.count("\n", self.counted, place)
        self.counted = place
        while self.blocks and place >= self.blocks[-1].end:
            self.blocks.pop()

    def _statement(self, statement: str, indent: int, end: int) -> None:
        if statement[0] == "@":
            self.decorated = self.decorated or self.line
        elif statement[0] in "if":
            self._imports(statement)
        elif named := DEFINITION_NAME.match(statement):
            self._definition(statement, named[1], indent, end)
        else:
            self.broken = True

    def _imports(self, statement: str) -> None:
        if statement.startswith("import"):
            self.imports += _read_module_imports(statement, self.line)
        elif match := FROM_IMPORT.match(statement):
            parts = (part.strip().partition(" as ") for part in match[3].split(",") if part.strip())
            names = tuple((name.strip(), alias.strip() or name.strip()) for name, _, alias in parts)
            self.imports.append(ImportedModule(match[1].replace(" ", "") + match[2], self.line, names))
        else:
            self.broken = True

    def _definition(self, header: str, name: str, indent: int, end: int) -> None:
        header = header.rstrip()
        dedent = _dedent_pattern(indent).search(self.code, end)
        after = dedent.start() if dedent else len(self.code)
        body = self.code[end:after].rstrip()
        last = self.line + body.count("\n")
        around = self.blocks[-1] if self.blocks else MODULE_BLOCK
        is_class = header[0] == "c"
        if header[-1] == ":":
            self.broken = self.broken or not body
            signature = self._written(header)[:-1].rstrip()
        else:
            signature = extract_header(self.given.source(self.line))
        bases = list_base_classes(signature) if is_class else ()
        kind = _definition_kind(is_class, bases, around.is_class)
        first, self.decorated = self.decorated or self.line, 0
        doc = self.read_doc(end, self.line, after)
        self.symbols.append(Symbol(around.prefix + name, kind, first, self.given.ends.get(last, last), signature, doc, bases))
        self.blocks.append(DefinitionBlock(after, f"{around.prefix}{name}.", is_class))
        if not is_class:
            self.local_until = max(self.local_until, after)

    def _constants(self, match: re.Match[str], end: int) -> None:
        """Record the constants of a module or class."""
        names = list_bound_names(match[2])
        rest = self.code[match.end() : end].partition(";")[0]
        if names and self.code[match.end() - 1] == "=":
            names += list_chained_names(rest)
        if names:
            signature = truncate_assignment(self._written(match[0].lstrip(";\n") + rest))
            prefix = self.blocks[-1].prefix if self.blocks else ""
            last = self.given.ends.get(self.line, self.line)
            self.symbols += [Symbol(prefix + name, SymbolKind.CONSTANT, self.line, last, signature) for name in names]

    def _written(self, statement: str) -> str:
        """Return the statement on one line, with its strings."""
        if "\0" in statement or "\1" in statement:
            return tidy_source(self.given.source(self.line))
        return collapse_code_whitespace(statement)

    def read_doc(self, end: int, line: int, after: int) -> str:
        match = DOCSTRING_LINE.match(self.code, end, after + 1)
        return extract_doc_line(self.given.source(line + self.code.count("\n", end, match.end()))) if match else ""


def _definition_kind(is_class: bool, bases: tuple[str, ...], owned: bool) -> SymbolKind:
    if not is_class:
        return SymbolKind.METHOD if owned else SymbolKind.FUNCTION
    is_interface = any(base.partition("[")[0].rpartition(".")[2] == "Protocol" for base in bases)
    return SymbolKind.INTERFACE if is_interface else SymbolKind.CLASS


@cache
def _dedent_pattern(indent: int) -> re.Pattern[str]:
    return re.compile(rf"\n {{0,{indent}}}+[^ \n]")


def _read_module_imports(statement: str, line: int) -> Iterator[ImportedModule]:
    for part in statement.removeprefix("import").partition(";")[0].split(","):
        name, _, alias = part.strip().partition(" as ")
        if name:
            yield ImportedModule(name.strip(), line, (), alias.strip())
