"""Where the imports of a JavaScript or TypeScript file lead within its tree."""

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from afresh.domain.code import Import
from afresh.insight.languages import settings

if TYPE_CHECKING:
    from afresh.insight.code import Code

SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs")
WRITTEN = {".js": (".ts", ".tsx", ".d.ts", ".jsx"), ".mjs": (".mts", ".d.mts"), ".cjs": (".cts", ".d.cts"), ".jsx": (".tsx",)}
"""What TypeScript compiles to a file of the ending, which is how imports name it."""
BUILT = ("dist", "lib", "build", "out")
PASSED_ON = 3
"""Files through which one name is followed."""
INHERITED = 5


@dataclass(frozen=True, slots=True)
class Mapped:
    """What the compiler was told: patterns and the places that each stands for, as paths of the tree."""

    base: str | None
    patterns: Sequence[tuple[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Modules:
    paths: Collection[str]
    mapped: Mapping[str, Mapped]
    """Of each folder with a tsconfig or jsconfig."""
    packages: Mapping[str, str]
    """The folder of each package of the tree, by its name."""
    manifests: Mapping[str, Mapping[str, Any]]
    """The package.json of each folder that has one."""
    imports: Callable[[str], Sequence[Import]]
    defined: Callable[[str], Collection[str]]
    """Names that the file at a path defines."""


def modules(code: "Code") -> Modules:
    manifests = {posixpath.dirname(path): settings.json_of(text) for path, text in settings.named(code, "package.json")}
    packages = {str(found["name"]): folder for folder, found in sorted(manifests.items(), reverse=True) if found.get("name")}
    configs = {path: settings.json_of(text) for path, text in settings.named(code, "tsconfig.json", "jsconfig.json")}
    more = {path: text for path, text in _extended(code, configs)}
    mapped = {posixpath.dirname(path): found for path in configs if (found := _mapped(path, {**more, **configs}))}
    paths = frozenset(path for path in code.files if path.endswith(SUFFIXES))
    readings = code.readings(paths)
    return Modules(
        paths,
        mapped,
        packages,
        manifests,
        code.imported_by,
        defined=cache(lambda path: frozenset(symbol.name for symbol in readings[path].symbols)),
    )


def _extended(code: "Code", configs: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Settings under other names that those in use are built on."""
    waiting, seen = list(configs.items()), set(configs)
    while waiting:
        path, found = waiting.pop()
        for parent in _parents(path, found):
            if parent not in seen and parent in code.paths:
                seen.add(parent)
                waiting.append((parent, settings.json_of(settings.text_of(code, parent))))
                yield waiting[-1]


def _parents(path: str, config: Mapping[str, Any]) -> list[str]:
    extends = config.get("extends", ())
    names = [extends] if isinstance(extends, str) else extends if isinstance(extends, list) else []
    found = [settings.joined(posixpath.dirname(path), name) for name in names if isinstance(name, str) and name.startswith(".")]
    return [name if name.endswith(".json") else f"{name}.json" for name in found]


def _mapped(path: str, configs: Mapping[str, Mapping[str, Any]], depth: int = INHERITED) -> Mapped | None:
    """The nearest settings of paths and base: its own, else those that it extends."""
    config = configs.get(path, {})
    options = settings.table(config, "compilerOptions")
    folder, base = posixpath.dirname(path), options.get("baseUrl")
    base = settings.joined(folder, base) if isinstance(base, str) else None
    patterns = [
        (pattern, tuple(settings.joined(folder if base is None else base, place) for place in places if isinstance(place, str)))
        for pattern, places in settings.table(options, "paths").items()
        if isinstance(places, list)
    ]
    if patterns or base is not None:
        return Mapped(base, patterns)
    parents = reversed(_parents(path, config)) if depth else ()
    return next((found for parent in parents if (found := _mapped(parent, configs, depth - 1))), None)


def targets(imported: Import, path: str, modules: Modules) -> Iterable[str]:
    return _targets(imported, path, modules, PASSED_ON)


def _targets(imported: Import, path: str, modules: Modules, depth: int) -> set[str]:
    file = resolved(imported.module, path, modules)
    if not file or file == path:
        return set()
    return {file, *(found for name, _ in imported.names for found in _passed_on(file, name, modules, depth))}


def _passed_on(file: str, name: str, modules: Modules, depth: int) -> set[str]:
    """Where a name comes from that a file only exports again."""
    if not depth or name in modules.defined(file):
        return set()
    imports = modules.imports(file)
    onward = [Import(one.module, 0, ((there, here),)) for one in imports for there, here in one.names if here == name]
    found = {target for one in onward for target in _targets(one, file, modules, depth - 1)}
    return found or {target for one in imports if not one.names for target in _starred(one, file, name, modules, depth)}


def _starred(imported: Import, path: str, name: str, modules: Modules, depth: int) -> set[str]:
    """`export * from` gives a name on if it is defined there, or further on."""
    file = resolved(imported.module, path, modules)
    if not file or file == path:
        return set()
    if name in modules.defined(file):
        return {file}
    further = _passed_on(file, name, modules, depth - 1)
    return {file, *further} if further else set()


def resolved(module: str, path: str, modules: Modules) -> str:
    """The file that a module is, seen from another; empty when it is not of the tree."""
    return next((file for place in _places(module, path, modules) if (file := _file(place, modules.paths))), "")


def _places(module: str, path: str, modules: Modules) -> Iterator[str]:
    folder = posixpath.dirname(path)
    if module.startswith("."):
        yield settings.joined(folder, module)
        return
    if mapped := _nearest(folder, modules.mapped):
        yield from _by_pattern(module, mapped.patterns)
        if mapped.base is not None:
            yield settings.joined(mapped.base, module)
    if module.startswith("#"):
        home = _nearest_folder(folder, modules.manifests)
        yield from _exported(modules.manifests.get(home, {}).get("imports"), module, home)
        return
    for name in _package_names(module):
        if name in modules.packages:
            yield from _of_package(modules.packages[name], module[len(name) + 1 :], modules)


def _by_pattern(module: str, patterns: Iterable[tuple[str, tuple[str, ...]]]) -> Iterator[str]:
    """The longest prefix goes first, as in the compiler."""
    for pattern, places in sorted(patterns, key=lambda one: len(one[0].partition("*")[0]), reverse=True):
        before, star, after = pattern.partition("*")
        if module == pattern or (star and module.startswith(before) and module.endswith(after)):
            middle = module[len(before) : len(module) - len(after)] if star else ""
            yield from (place.replace("*", middle, 1) for place in places)


def _package_names(module: str) -> Iterator[str]:
    parts = module.split("/")
    for count in range(len(parts), 0, -1):
        yield "/".join(parts[:count])


def _of_package(folder: str, inside: str, modules: Modules) -> Iterator[str]:
    manifest = modules.manifests.get(folder, {})
    yield from _exported(manifest.get("exports"), f"./{inside}" if inside else ".", folder)
    if inside:
        yield from (settings.joined(folder, place) for place in (inside, f"src/{inside}"))
        return
    for key in ("source", "types", "module", "main"):
        if isinstance(manifest.get(key), str):
            yield from _sources(settings.joined(folder, manifest[key]), folder)
    yield from (settings.joined(folder, place) for place in ("src/index", "index", "src/main"))


def _exported(exports: object, key: str, folder: str) -> Iterator[str]:
    """All places that conditions may choose, as written and as built from `src`."""
    if key == "." and not (isinstance(exports, Mapping) and "." in exports):
        found: list[tuple[str, object]] = [(".", exports)]
    else:
        found = list(exports.items()) if isinstance(exports, Mapping) else []
    for pattern, chosen in found:
        before, star, after = str(pattern).partition("*")
        if pattern == key or (star and key.startswith(before) and key.endswith(after)):
            middle = key[len(before) : len(key) - len(after)] if star else ""
            for place in _leaves(chosen):
                yield from _sources(settings.joined(folder, place.replace("*", middle)), folder)


def _leaves(chosen: object) -> Iterator[str]:
    waiting = [chosen]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _sources(place: str, folder: str) -> Iterator[str]:
    yield place
    inside = place[len(folder) :].lstrip("/").split("/")
    if inside[0] in BUILT:
        yield posixpath.join(folder, "src", *inside[1:])


def _file(place: str, paths: Collection[str]) -> str:
    if place in paths:
        return place
    stem, suffix = posixpath.splitext(place)
    written = [stem + other for other in WRITTEN.get(suffix, ())]
    beside = [place + other for other in SUFFIXES]
    index = [posixpath.join(place, "index") + other for other in SUFFIXES]
    return next((file for file in (*written, *beside, *index) if file in paths), "")


def _nearest_folder(folder: str, known: Collection[str]) -> str:
    while folder and folder not in known:
        folder = posixpath.dirname(folder)
    return folder


def _nearest(folder: str, known: Mapping[str, Mapped]) -> Mapped | None:
    return known.get(_nearest_folder(folder, known))
