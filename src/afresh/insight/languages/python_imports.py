"""Where the imports of a Python file lead within its tree."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from afresh.domain.code import Import

if TYPE_CHECKING:
    from afresh.insight.code import Code

PASSED_ON = 3
"""Packages through which one name is followed."""


@dataclass(frozen=True, slots=True)
class Modules:
    paths: Mapping[str, str]
    """File of each dotted name that can be imported."""
    sources: Collection[str]
    imports_of: Callable[[str], Sequence[Import]]
    """What the file at a path imports."""

    def gathered(self, path: str) -> dict[str, str]:
        """Names that a package imports, with the module that each comes from."""
        return {here: absolute(one, path, self.sources) for one in self.imports_of(path) for _, here in one.names}


def modules(code: "Code") -> Modules:
    sources = frozenset(path for path in code.files if path.endswith((".py", ".pyi")))
    paths = {name: path for path in sorted(sources, reverse=True) for name in module_names(path, sources)}
    return Modules(paths, sources, code.imported_by)


def targets(imported: Import, path: str, modules: Modules) -> Iterable[str]:
    if not imported.names:
        return _whole(imported.module, modules)
    base = absolute(imported, path, modules.sources)
    return {found for name, _ in imported.names for found in _member(base, name, modules, PASSED_ON)}


def module_names(path: str, sources: Collection[str]) -> list[str]:
    """Names that the file may be imported by: from the top, and from below `src` or the folder without `__init__.py`."""
    parts = list(PurePosixPath(path).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    names = [".".join(parts)]
    top = len(parts) - 1 if PurePosixPath(path).stem != "__init__" else len(parts)
    while top > 0 and "/".join([*parts[:top], "__init__.py"]) in sources:
        top -= 1
    names.append(".".join(parts[top:]))
    if parts and parts[0] in ("src", "lib"):
        names.append(".".join(parts[1:]))
    return [name for name in dict.fromkeys(names) if name]


def absolute(imported: Import, path: str, sources: Collection[str]) -> str:
    module = imported.module.lstrip(".")
    level = len(imported.module) - len(module)
    if not level:
        return module
    names = module_names(path, sources)
    package = names[-1].split(".") if names else []
    up = level - 1 if path.endswith("__init__.py") else level
    kept = package[: len(package) - up] if up else package
    return ".".join([*kept, *(module.split(".") if module else [])])


def _whole(name: str, modules: Modules) -> set[str]:
    """`import package` may use anything that the package gathers."""
    path = modules.paths.get(name)
    if path is None:
        return set()
    if not path.endswith("__init__.py"):
        return {path}
    gathered = (modules.paths.get(other) for other in modules.gathered(path).values())
    return {path, *(other for other in gathered if other)}


def _member(base: str, name: str, modules: Modules, depth: int) -> set[str]:
    """Where `from base import name` leads, through packages that pass the name on."""
    if f"{base}.{name}" in modules.paths:
        return {modules.paths[f"{base}.{name}"]}
    path = modules.paths.get(base)
    if path is None:
        return set()
    if name == "*":
        return _whole(base, modules)
    onward = modules.gathered(path).get(name) if depth and path.endswith("__init__.py") else None
    return {path, *(_member(onward, name, modules, depth - 1) if onward else ())}
