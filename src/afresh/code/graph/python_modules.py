"""The files of a tree that a Python module name means."""

import sys
from functools import cached_property
from itertools import takewhile
from pathlib import PurePosixPath

from afresh.code.index.code_index import CodeIndex
from afresh.code.languages.python import list_module_names


class PythonModules:
    def __init__(self, code: CodeIndex) -> None:
        self.sources = frozenset(path for path in code.files if path.endswith((".py", ".pyi")))

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """Files by each dotted name under which they may be imported."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.sources):
            for name in list_module_names(path, self.sources):
                found.setdefault(name, []).append(path)
        return found

    def find(self, name: str, importer: str) -> str:
        """Return the file of a dotted name, the one closest to the importing file; empty if it is not in this tree."""
        found = self.by_name.get(name, [])
        folder = PurePosixPath(importer).parent
        if name.partition(".")[0] in sys.stdlib_module_names:
            found = [path for path in found if PurePosixPath(path).parent == folder]
        return min(found, key=lambda path: (-_count_shared_folders(path, importer), path.endswith(".pyi"), path), default="")

    def find_imported(self, level: int, module: str, importer: str) -> str:
        """Return the file of an import, or the folder of a package without `__init__.py`; empty if it is not in this tree."""
        if not level:
            return self.find(module, importer)
        above = PurePosixPath(importer).parents
        folder = str(above[min(level, len(above)) - 1])
        return self._within(folder, module) if module else self._package(folder)

    def find_submodule(self, path: str, name: str) -> str:
        """Return the file of a submodule of a package, given by its `__init__.py` or its folder; empty if there is none."""
        if path.endswith(".py") and not path.endswith("__init__.py"):
            return ""
        found = self._within(path.removesuffix("__init__.py").rstrip("/"), name)
        return found if found in self.sources else ""

    def _within(self, folder: str, module: str) -> str:
        """Return the file of a module below a folder."""
        base = "/".join(part for part in (folder.removeprefix("."), *module.split(".")) if part)
        return f"{base}.py" if f"{base}.py" in self.sources else self._package(base)

    def _package(self, folder: str) -> str:
        file = "/".join(part for part in (folder.removeprefix("."), "__init__.py") if part)
        return file if file in self.sources else folder


def _count_shared_folders(one: str, other: str) -> int:
    """Return how many leading folders two paths share."""
    pairs = zip(PurePosixPath(one).parts, PurePosixPath(other).parts, strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
