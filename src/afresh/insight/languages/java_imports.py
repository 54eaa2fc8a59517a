"""Where the imports of a Java file lead within its tree: by the packages that files declare, wherever their root is."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from afresh.domain.code import ImportedModule
from afresh.insight.languages.declared import PackageIndex, build_package_index

if TYPE_CHECKING:
    from afresh.insight.code import CodeIndex


def index_modules(code: "CodeIndex") -> PackageIndex:
    readings = code.readings(path for path in code.files if path.endswith(".java"))
    return build_package_index(readings, lambda path: readings[path].packages or ("",))


def resolve_import(imported: ImportedModule, path: str, modules: PackageIndex) -> Iterable[str]:
    """A class, one inside it or a member of it; of a whole package, what is used."""
    names = [name for name, _ in imported.names]
    if names == ["*"] and imported.module in modules.files:
        return modules.used(imported.module, path)
    full = ".".join([imported.module, *(name for name in names if name != "*")])
    package, _, kind = full.rpartition(".")
    while package:
        if found := modules.files.get(package, {}).get(kind):
            return found
        package, _, kind = package.rpartition(".")
    return ()


def find_package_uses(path: str, modules: PackageIndex) -> Iterable[str]:
    """Files of its own package whose classes it uses; Java has no import for them."""
    return {one for package in modules.readings[path].packages or ("",) for one in modules.used(package, path)}
