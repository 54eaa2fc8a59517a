"""Where the imports of a Go file lead within its tree: to the files of a package's folder."""

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from afresh.domain.code import ImportedModule, Symbol
from afresh.insight.languages import settings
from afresh.insight.languages.declared import PackageIndex, build_package_index

if TYPE_CHECKING:
    from afresh.insight.code import CodeIndex

MODULE_LINE = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GoModules:
    roots: Mapping[str, str]
    """The folder of each module of the tree."""
    folders: PackageIndex
    """What each folder declares, tests apart."""


def index_modules(code: "CodeIndex") -> GoModules:
    roots: dict[str, str] = {}
    for path, text in settings.find_files_named(code, "go.mod"):
        if found := MODULE_LINE.search(text):
            roots[found[1]] = posixpath.dirname(path)
    readings = code.readings(path for path in code.files if path.endswith(".go"))
    return GoModules(roots, build_package_index(readings, lambda path: (posixpath.dirname(path),), _is_visible))


def _is_visible(path: str, symbol: Symbol) -> bool:
    return "." not in symbol.name and not path.endswith("_test.go")


def resolve_import(imported: ImportedModule, path: str, modules: GoModules) -> Iterable[str]:
    """The files that declare what is used of the package; all when nothing tells which."""
    folder = _package_folder(imported.module, modules.roots)
    if folder is None:
        return ()
    used = set[str]() if imported.alias == "_" else modules.folders.used(folder, path)
    return used or modules.folders.whole(folder)


def find_package_uses(path: str, modules: GoModules) -> Iterable[str]:
    """Files of its own package whose names it uses; Go has no import for them."""
    return modules.folders.used(posixpath.dirname(path), path)


def _package_folder(module: str, roots: Mapping[str, str]) -> str | None:
    """Of the innermost module that the path belongs to."""
    for root in sorted(roots, key=len, reverse=True):
        if module == root or module.startswith(root + "/"):
            return posixpath.join(roots[root], module[len(root) + 1 :]).rstrip("/")
    return None
