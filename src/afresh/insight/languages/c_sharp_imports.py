"""Where the usings of a C# file lead within its tree: by the namespaces that files declare."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from afresh.domain.code import Import, Symbol
from afresh.insight.languages.declared import Declared, declared

if TYPE_CHECKING:
    from afresh.insight.code import Code


def modules(code: "Code") -> Declared:
    readings = code.readings(path for path in code.files if path.endswith(".cs"))
    return declared(readings, lambda path: readings[path].packages or ("",), _seen)


def targets(imported: Import, path: str, modules: Declared) -> Iterable[str]:
    """The files of a namespace whose types or extension methods are used."""
    if not imported.names:
        return modules.used(imported.module, path)
    return {one for name, _ in imported.names for one in modules.files.get(imported.module, {}).get(name, ())}


def beside(path: str, modules: Declared) -> Iterable[str]:
    """Files of its own namespace, and of those around it, whose types it uses; C# has no using for them."""
    found: set[str] = set()
    for package in modules.readings[path].packages or ("",):
        while package:
            found |= modules.used(package, path)
            package = package.rpartition(".")[0]
        found |= modules.used("", path)
    return found


def _seen(path: str, symbol: Symbol) -> bool:
    return "." not in symbol.name or "(this " in symbol.signature
