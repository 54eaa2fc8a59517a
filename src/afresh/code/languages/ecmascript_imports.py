"""Resolves the imports of JavaScript and TypeScript files to files of the tree."""

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from afresh.code import config_files
from afresh.core.symbol import ImportedModule

if TYPE_CHECKING:
    from afresh.code.index.code_index import CodeIndex


MODULE_SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs")
SOURCE_SUFFIXES_BY_OUTPUT = {
    ".js": (".ts", ".tsx", ".d.ts", ".jsx"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
    ".jsx": (".tsx",),
}
"""Source suffixes that TypeScript compiles to each output suffix; imports name the output."""
BUILD_FOLDERS = ("dist", "lib", "build", "out")


@dataclass(frozen=True, slots=True)
class PathMapping:
    """Path patterns of the compiler settings, each with the tree paths that it maps to."""

    base: str | None
    patterns: Sequence[tuple[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class EcmascriptModules:
    paths: Collection[str]
    mapped: Mapping[str, PathMapping]
    """Path mapping of each folder with a tsconfig or jsconfig."""
    packages: Mapping[str, str]
    """The folder of each package of the tree, by its name."""
    manifests: Mapping[str, Mapping[str, Any]]
    """The package.json of each folder that has one."""
    imports: Callable[[str], Sequence[ImportedModule]]
    defined: Callable[[str], Collection[str]]
    """Returns the names that the file at a path defines."""


def index_modules(code: "CodeIndex") -> EcmascriptModules:
    manifests = {
        posixpath.dirname(path): config_files.parse_json(text)
        for path, text in config_files.find_files_named(code, "package.json")
    }
    packages = {str(values["name"]): folder for folder, values in sorted(manifests.items(), reverse=True) if values.get("name")}
    settings = config_files.find_files_named(code, "tsconfig.json", "jsconfig.json")
    mapped = {
        posixpath.dirname(path): path_mapping
        for path, text in settings
        if (path_mapping := _read_path_mapping(path, config_files.parse_json(text)))
    }
    paths = frozenset(path for path in code.files if path.endswith(MODULE_SUFFIXES))
    readings = code.readings(paths)
    return EcmascriptModules(
        paths,
        mapped,
        packages,
        manifests,
        code.imported_by,
        defined=cache(lambda path: frozenset(symbol.name for symbol in readings[path].symbols)),
    )


def _read_path_mapping(path: str, config: Mapping[str, Any]) -> PathMapping | None:
    """Return the `paths` and `baseUrl` of a settings file."""
    options = config_files.get_table(config, "compilerOptions")
    folder, base = posixpath.dirname(path), options.get("baseUrl")
    base = config_files.join_tree_path(folder, base) if isinstance(base, str) else None
    start = folder if base is None else base
    patterns = [
        (pattern, tuple(config_files.join_tree_path(start, place) for place in places if isinstance(place, str)))
        for pattern, places in config_files.get_table(options, "paths").items()
        if isinstance(places, list)
    ]
    return PathMapping(base, patterns) if patterns or base is not None else None


def resolve_import(imported: ImportedModule, path: str, modules: EcmascriptModules) -> Iterable[str]:
    file = _resolve_module(imported.module, path, modules)
    if not file or file == path:
        return set()
    return {file, *(found for name, _ in imported.names for found in _resolve_reexport(file, name, modules))}


def _resolve_reexport(file: str, name: str, modules: EcmascriptModules) -> set[str]:
    """Return the files from which a file takes a name that it only hands on."""
    if name in modules.defined(file):
        return set()
    imports = [module for module in modules.imports(file) if not module.names or any(here == name for _, here in module.names)]
    targets = [(module, _resolve_module(module.module, file, modules)) for module in imports]
    named = {target for module, target in targets if module.names and target}
    return named or {target for one, target in targets if target and name in modules.defined(target)}


def _resolve_module(module: str, path: str, modules: EcmascriptModules) -> str:
    """Return the file of a module as imported from another file; empty when it is not in the tree."""
    return next((file for place in _candidate_places(module, path, modules) if (file := _find_file(place, modules.paths))), "")


def _candidate_places(module: str, path: str, modules: EcmascriptModules) -> Iterator[str]:
    folder = posixpath.dirname(path)
    if module.startswith("."):
        yield config_files.join_tree_path(folder, module)
        return
    while folder and folder not in modules.mapped:
        folder = posixpath.dirname(folder)
    if mapped := modules.mapped.get(folder):
        yield from _match_patterns(module, mapped.patterns)
        if mapped.base is not None:
            yield config_files.join_tree_path(mapped.base, module)
    parts = module.split("/")
    for count in range(len(parts), 0, -1):
        if (name := "/".join(parts[:count])) in modules.packages:
            yield from _package_places(modules.packages[name], "/".join(parts[count:]), modules.manifests)


def _match_patterns(module: str, patterns: Iterable[tuple[str, tuple[str, ...]]]) -> Iterator[str]:
    """Yield the mapped paths of a module, the longest prefix first, as in the compiler."""
    for pattern, places in sorted(patterns, key=lambda one: len(one[0].partition("*")[0]), reverse=True):
        before, star, after = pattern.partition("*")
        if module == pattern or (star and module.startswith(before) and module.endswith(after)):
            middle = module[len(before) : len(module) - len(after)] if star else ""
            yield from (place.replace("*", middle, 1) for place in places)


def _package_places(folder: str, inside: str, manifests: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    if inside:
        yield from (config_files.join_tree_path(folder, place) for place in (inside, f"src/{inside}"))
        return
    for key in ("source", "types", "module", "main"):
        if isinstance(place := manifests.get(folder, {}).get(key), str):
            yield (written := config_files.join_tree_path(folder, place))
            first, *rest = written[len(folder) :].lstrip("/").split("/")
            if first in BUILD_FOLDERS:
                yield posixpath.join(folder, "src", *rest)
    yield from (config_files.join_tree_path(folder, place) for place in ("src/index", "index", "src/main"))


def _find_file(place: str, paths: Collection[str]) -> str:
    if place in paths:
        return place
    stem, suffix = posixpath.splitext(place)
    written = [stem + other for other in SOURCE_SUFFIXES_BY_OUTPUT.get(suffix, ())]
    beside = [place + other for other in MODULE_SUFFIXES]
    index = [posixpath.join(place, "index") + other for other in MODULE_SUFFIXES]
    return next((file for file in (*written, *beside, *index) if file in paths), "")
