"""Where the imports of a Python file lead in its tree."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from afresh.core.symbol import ImportedModule

if TYPE_CHECKING:
    from afresh.code.index.code_index import CodeIndex

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
