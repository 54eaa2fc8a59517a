"""Languages in which a package is many files: which of them a file means is told by the names that it uses."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from afresh.core.symbol import FileReading, Symbol


@dataclass(frozen=True, slots=True)
class PackageIndex:
    files: Mapping[str, Mapping[str, Collection[str]]]
    """For each package, the files that declare each name."""
    readings: Mapping[str, FileReading]

    def used(self, package: str, path: str) -> set[str]:
        """Files of a package that declare a name which the file at `path` uses."""
        declared = self.files.get(package)
        if not declared:
            return set()
        return {one for name in self.readings[path].mentions for one in declared.get(name, ())} - {path}

    def whole(self, package: str) -> set[str]:
        return {one for files in self.files.get(package, {}).values() for one in files}


def build_package_index(
    readings: Mapping[str, FileReading],
    packages: Callable[[str], Iterable[str]],
    seen: Callable[[str, Symbol], bool] = lambda path, symbol: "." not in symbol.name,
) -> PackageIndex:
    """`packages` of each file; `seen`: whether other files use the symbol by its short name."""
    files: dict[str, dict[str, list[str]]] = {}
    for path, reading in readings.items():
        for package in packages(path):
            names = files.setdefault(package, {})
            for name in dict.fromkeys(symbol.short for symbol in reading.symbols if seen(path, symbol)):
                names.setdefault(name, []).append(path)
    return PackageIndex(files, readings)
