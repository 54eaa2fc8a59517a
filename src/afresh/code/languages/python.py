"""Reads Python files and resolves their imports to files of the tree."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from keyword import kwlist
from typing import TYPE_CHECKING

from afresh.code.languages.doc_comments import CommentStyle, extract_docstring_line
from afresh.code.languages.symbol_extraction import CapturedNode, NamedDefinition
from afresh.code.languages.tree_sitter_reader import Grammar, read_with_grammar
from afresh.core.symbol import FileReading, ImportedModule, SymbolKind

if TYPE_CHECKING:
    from tree_sitter import Node

    from afresh.code.index.code_index import CodeIndex

QUERY = """
(comment) @hidden
(string) @text
(interpolation expression: (_) @code)
(format_expression expression: (_) @code)
[(ERROR) (MISSING)] @error
(decorator) @before
(decorated_definition) @outer
[(import_statement) (import_from_statement) (future_import_statement)] @import
(class_definition) @class
(function_definition) @function
(assignment left: [
  (identifier) @constant
  (pattern_list (identifier) @constant)
  (tuple_pattern (identifier) @constant)
  (list_pattern (identifier) @constant)
]) @outer
"""
NO_COMMENT = re.compile(r"(?!)")
MAIN_GUARD = re.compile(r"^if +__name__ *== *['\"]__main__['\"]", re.MULTILINE)
MAX_REEXPORTS = 3
"""Re-exporting packages through which one name is followed."""
PACKAGE_STEM = "__init__"


def read_source(path: str, text: str) -> FileReading:
    return read_with_grammar(GRAMMAR, text)


def _name_definition(definition: CapturedNode) -> NamedDefinition | None:
    node = definition.node
    if node.type == "identifier":
        return NamedDefinition(definition.text(node))
    docstring = _find_docstring(node)
    doc = extract_docstring_line(definition.text(docstring)) if docstring else ""
    if definition.role == "function":
        return NamedDefinition(definition.field("name"), doc=doc)
    bases = tuple(_list_bases(definition))
    is_interface = any(base.partition("[")[0].rpartition(".")[2] == "Protocol" for base in bases)
    return NamedDefinition(definition.field("name"), SymbolKind.INTERFACE if is_interface else None, bases, doc=doc)


def _find_docstring(node: "Node") -> "Node | None":
    body = node.child_by_field_name("body")
    first = body.named_child(0) if body and body.named_child_count else None
    while first is not None and first.type == "comment":
        first = first.next_named_sibling
    if first is None or first.type != "expression_statement" or first.named_child_count != 1:
        return None
    inner = first.named_child(0)
    return inner if inner and inner.type in ("string", "concatenated_string") else None


def _list_bases(definition: CapturedNode) -> Iterator[str]:
    listed = definition.node.child_by_field_name("superclasses")
    for named_child in listed.named_children if listed else ():
        if named_child.type not in ("keyword_argument", "dictionary_splat", "comment"):
            yield " ".join(definition.text(named_child).split())


def _read_imports(definition: CapturedNode) -> Iterator[ImportedModule]:
    node, line = definition.node, definition.line
    written = [_read_alias(definition.of(one)) for one in node.children_by_field_name("name")]
    if node.type == "import_statement":
        yield from (ImportedModule(name, line, (), alias) for name, alias in written if name)
        return
    module = "".join(definition.field("module_name").split()) if node.type == "import_from_statement" else "__future__"
    if any(child.type == "wildcard_import" for child in node.named_children):
        written = [("*", "")]
    if module:
        yield ImportedModule(module, line, tuple((name, alias or name) for name, alias in written if name))


def _read_alias(imported: CapturedNode) -> tuple[str, str]:
    if imported.node.type == "aliased_import":
        return "".join(imported.field("name").split()), imported.field("alias")
    return "".join(imported.text(imported.node).split()), ""


def _find_entry_point(reading: FileReading, text: str, captures: Collection[str]) -> str:
    return 'if __name__ == "__main__"' if MAIN_GUARD.search(text) else ""


GRAMMAR = Grammar(
    language="python",
    title="Python",
    wheel="tree_sitter_python",
    query=QUERY,
    style=CommentStyle(NO_COMMENT),
    name=_name_definition,
    imports=_read_imports,
    entry=_find_entry_point,
    is_strict=True,
    keywords=frozenset(kwlist),
)


@dataclass(frozen=True, slots=True)
class PythonModules:
    names: Mapping[str, Sequence[str]]
    """Dotted names under which a file may be imported, by path."""
    paths: Mapping[str, str]
    """The file of each dotted name."""
    imports_of: Callable[[str], Sequence[ImportedModule]]
    """Returns the imports of the file at a path."""
    _gathered: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def gathered(self, path: str) -> Mapping[str, str]:
        """Return the names that a package imports, with the module that each comes from."""
        if path not in self._gathered:
            found = {here: self.absolute(module, path) for module in self.imports_of(path) for _, here in module.names}
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
