"""Where the usings of a C# file lead within its tree: by the namespaces that files declare."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from afresh.domain.code import ImportedModule, Symbol
from afresh.insight.languages.declared import PackageIndex, build_package_index

if TYPE_CHECKING:
    from afresh.insight.code import CodeIndex


def index_modules(code: "CodeIndex") -> PackageIndex:
    readings = code.readings(path for path in code.files if path.endswith(".cs"))
    return build_package_index(readings, lambda path: readings[path].packages or ("",), _is_visible)


def resolve_import(imported: ImportedModule, path: str, modules: PackageIndex) -> Iterable[str]:
    """The files of a namespace whose types or extension methods are used."""
    if not imported.names:
        return modules.used(imported.module, path)
    return {one for name, _ in imported.names for one in modules.files.get(imported.module, {}).get(name, ())}


def find_package_uses(path: str, modules: PackageIndex) -> Iterable[str]:
    """Files of its own namespace, and of those around it, whose types it uses; C# has no using for them."""
    found: set[str] = set()
    for package in modules.readings[path].packages or ("",):
        while package:
            found |= modules.used(package, path)
            package = package.rpartition(".")[0]
        found |= modules.used("", path)
    return found


def _is_visible(path: str, symbol: Symbol) -> bool:
    return "." not in symbol.name or "(this " in symbol.signature
