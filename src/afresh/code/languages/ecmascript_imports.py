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
MAX_REEXPORTS = 3
"""Re-exporting files through which one name is followed."""
MAX_EXTENDED_CONFIGS = 5


@dataclass(frozen=True, slots=True)
class PathMapping:
    """Path patterns of the compiler settings, each with the tree paths that it maps to."""

    base: str | None
    patterns: Sequence[tuple[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class EcmascriptModules:
    paths: Collection[str]
    mapped: Mapping[str, PathMapping]
    """By folder that has a tsconfig or jsconfig."""
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
    packages = {str(found["name"]): folder for folder, found in sorted(manifests.items(), reverse=True) if found.get("name")}
    configs = {
        path: config_files.parse_json(text)
        for path, text in config_files.find_files_named(code, "tsconfig.json", "jsconfig.json")
    }
    more = {path: text for path, text in _extended_configs(code, configs)}
    mapped = {posixpath.dirname(path): found for path in configs if (found := _path_mapping(path, {**more, **configs}))}
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


def _extended_configs(code: "CodeIndex", configs: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the settings files that others extend."""
    waiting, seen = list(configs.items()), set(configs)
    while waiting:
        path, found = waiting.pop()
        for parent in _parent_configs(path, found):
            if parent not in seen and parent in code.paths:
                seen.add(parent)
                waiting.append((parent, config_files.parse_json(code.text(parent))))
                yield waiting[-1]


def _parent_configs(path: str, config: Mapping[str, Any]) -> list[str]:
    extends = config.get("extends", ())
    names = [extends] if isinstance(extends, str) else extends if isinstance(extends, list) else []
    found = [
        config_files.join_tree_path(posixpath.dirname(path), name)
        for name in names
        if isinstance(name, str) and name.startswith(".")
    ]
    return [name if name.endswith(".json") else f"{name}.json" for name in found]


def _path_mapping(path: str, configs: Mapping[str, Mapping[str, Any]], depth: int = MAX_EXTENDED_CONFIGS) -> PathMapping | None:
    """Return the nearest settings of `paths` and `baseUrl`: the file's own, otherwise those that it extends."""
    config = configs.get(path, {})
    options = config_files.get_table(config, "compilerOptions")
    folder, base = posixpath.dirname(path), options.get("baseUrl")
    base = config_files.join_tree_path(folder, base) if isinstance(base, str) else None
    patterns = [
        (
            pattern,
            tuple(
                config_files.join_tree_path(folder if base is None else base, place) for place in places if isinstance(place, str)
            ),
        )
        for pattern, places in config_files.get_table(options, "paths").items()
        if isinstance(places, list)
    ]
    if patterns or base is not None:
        return PathMapping(base, patterns)
    parents = reversed(_parent_configs(path, config)) if depth else ()
    return next((found for parent in parents if (found := _path_mapping(parent, configs, depth - 1))), None)


def resolve_import(imported: ImportedModule, path: str, modules: EcmascriptModules) -> Iterable[str]:
    return _resolve_import(imported, path, modules, MAX_REEXPORTS)


def _resolve_import(imported: ImportedModule, path: str, modules: EcmascriptModules, depth: int) -> set[str]:
    file = resolve_module(imported.module, path, modules)
    if not file or file == path:
        return set()
    return {file, *(found for name, _ in imported.names for found in _resolve_reexport(file, name, modules, depth))}


def _resolve_reexport(file: str, name: str, modules: EcmascriptModules, depth: int) -> set[str]:
    """Return the files that define a name which a file only re-exports."""
    if not depth or name in modules.defined(file):
        return set()
    imports = modules.imports(file)
    onward = [ImportedModule(one.module, 0, ((there, here),)) for one in imports for there, here in one.names if here == name]
    found = {target for one in onward for target in _resolve_import(one, file, modules, depth - 1)}
    return found or {
        target for one in imports if not one.names for target in _resolve_star_export(one, file, name, modules, depth)
    }


def _resolve_star_export(imported: ImportedModule, path: str, name: str, modules: EcmascriptModules, depth: int) -> set[str]:
    """Return the files in which `export * from` finds the name, directly or through further re-exports."""
    file = resolve_module(imported.module, path, modules)
    if not file or file == path:
        return set()
    if name in modules.defined(file):
        return {file}
    further = _resolve_reexport(file, name, modules, depth - 1)
    return {file, *further} if further else set()


def resolve_module(module: str, path: str, modules: EcmascriptModules) -> str:
    """Return the file of a module as imported from another file; empty when it is not in the tree."""
    return next((file for place in _candidate_places(module, path, modules) if (file := _find_file(place, modules.paths))), "")


def _candidate_places(module: str, path: str, modules: EcmascriptModules) -> Iterator[str]:
    folder = posixpath.dirname(path)
    if module.startswith("."):
        yield config_files.join_tree_path(folder, module)
        return
    if mapped := _nearest_mapping(folder, modules.mapped):
        yield from _match_patterns(module, mapped.patterns)
        if mapped.base is not None:
            yield config_files.join_tree_path(mapped.base, module)
    if module.startswith("#"):
        home = _nearest_folder(folder, modules.manifests)
        yield from _exported_places(modules.manifests.get(home, {}).get("imports"), module, home)
        return
    for name in _package_names(module):
        if name in modules.packages:
            yield from _package_places(modules.packages[name], module[len(name) + 1 :], modules)


def _match_patterns(module: str, patterns: Iterable[tuple[str, tuple[str, ...]]]) -> Iterator[str]:
    """Yield the mapped paths of a module, the longest prefix first, as in the compiler."""
    for pattern, places in sorted(patterns, key=lambda one: len(one[0].partition("*")[0]), reverse=True):
        before, star, after = pattern.partition("*")
        if module == pattern or (star and module.startswith(before) and module.endswith(after)):
            middle = module[len(before) : len(module) - len(after)] if star else ""
            yield from (place.replace("*", middle, 1) for place in places)


def _package_names(module: str) -> Iterator[str]:
    parts = module.split("/")
    for count in range(len(parts), 0, -1):
        yield "/".join(parts[:count])


def _package_places(folder: str, inside: str, modules: EcmascriptModules) -> Iterator[str]:
    manifest = modules.manifests.get(folder, {})
    yield from _exported_places(manifest.get("exports"), f"./{inside}" if inside else ".", folder)
    if inside:
        yield from (config_files.join_tree_path(folder, place) for place in (inside, f"src/{inside}"))
        return
    for key in ("source", "types", "module", "main"):
        if isinstance(manifest.get(key), str):
            yield from _source_places(config_files.join_tree_path(folder, manifest[key]), folder)
    yield from (config_files.join_tree_path(folder, place) for place in ("src/index", "index", "src/main"))


def _exported_places(exports: object, key: str, folder: str) -> Iterator[str]:
    """Yield all paths that export conditions may choose, as written and mapped from the build folder to `src`."""
    if key == "." and not (isinstance(exports, Mapping) and "." in exports):
        found: list[tuple[str, object]] = [(".", exports)]
    else:
        found = list(exports.items()) if isinstance(exports, Mapping) else []
    for pattern, chosen in found:
        before, star, after = str(pattern).partition("*")
        if pattern == key or (star and key.startswith(before) and key.endswith(after)):
            middle = key[len(before) : len(key) - len(after)] if star else ""
            for place in _exported_paths(chosen):
                yield from _source_places(config_files.join_tree_path(folder, place.replace("*", middle)), folder)


def _exported_paths(chosen: object) -> Iterator[str]:
    waiting = [chosen]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _source_places(place: str, folder: str) -> Iterator[str]:
    yield place
    inside = place[len(folder) :].lstrip("/").split("/")
    if inside[0] in BUILD_FOLDERS:
        yield posixpath.join(folder, "src", *inside[1:])


def _find_file(place: str, paths: Collection[str]) -> str:
    if place in paths:
        return place
    stem, suffix = posixpath.splitext(place)
    written = [stem + other for other in SOURCE_SUFFIXES_BY_OUTPUT.get(suffix, ())]
    beside = [place + other for other in MODULE_SUFFIXES]
    index = [posixpath.join(place, "index") + other for other in MODULE_SUFFIXES]
    return next((file for file in (*written, *beside, *index) if file in paths), "")


def _nearest_folder(folder: str, known: Collection[str]) -> str:
    while folder and folder not in known:
        folder = posixpath.dirname(folder)
    return folder


def _nearest_mapping(folder: str, known: Mapping[str, PathMapping]) -> PathMapping | None:
    return known.get(_nearest_folder(folder, known))
