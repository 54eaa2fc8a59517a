"""Languages, folders, zones and entry points of a project."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

from afresh.code.config_files import ProjectConfiguration, get_table, list_texts, parse_json, parse_toml
from afresh.code.project_profile.source_files import LANGUAGE_BY_EXTENSION, SUPPORT_FOLDERS, TEST_FOLDERS, SourceFiles
from afresh.code.project_profile.traits import (
    CodeZones,
    ProjectLayout,
    count_to_words,
    rank_by_magnitude,
    round_to_words,
    share_to_tenths,
)
from afresh.core.recognise_test_files import is_test_file
from afresh.core.truncate import truncate_text

DOCUMENT_FILE = re.compile(
    r"(?:CHANGE(?:LOG|S)|CONTRIBUTING|ARCHITECTURE|HISTORY|NEWS|SECURITY)(?:\.\w+)?|docs/(?:decisions|adr|architecture)[\w./-]*"
)
MAX_LISTED_PATHS = 6


def measure_layout(sources: SourceFiles) -> ProjectLayout:
    total = sum(len(paths) for paths in sources.written.values())
    counts = {name: share_to_tenths(len(paths), total) for name, paths in sources.written.items()}
    spoken = sorted((name for name in counts if counts[name]), key=lambda name: (-counts[name], name))
    understood = {LANGUAGE_BY_EXTENSION.get(path.rpartition(".")[2].lower()) for path in sources.code.files}
    title, words = read_project_name(sources.configuration)
    return ProjectLayout(
        name=title,
        about=words,
        languages=tuple(f"{name} {counts[name]}/10" if counts[name] < 10 else name for name in spoken[:4]),
        main=sources.main,
        files=", ".join(
            (
                count_to_words(len(sources.shipped), "source file"),
                count_to_words(sum(map(is_test_file, sources.tests)), "test file"),
            )
        ),
        roots=sources.roots,
        tests=find_test_folders(sources),
        mirrored=has_mirrored_tests(sources),
        beside=find_support_folders(sources.code.paths),
        entries=tuple(find_entry_points(sources)),
        shared=tuple(path for path in sources.code.paths if path.endswith("conftest.py"))[:3],
        papers=tuple(path for path in sources.code.paths if DOCUMENT_FILE.fullmatch(path))[:MAX_LISTED_PATHS],
        unread=tuple(name for name in spoken[:2] if name not in understood),
    )


def read_project_name(configuration: ProjectConfiguration) -> tuple[str, str]:
    """Return the project's name and description."""
    package = parse_json(configuration.text("package.json"))
    crate = get_table(parse_toml(configuration.text("Cargo.toml")), "package")
    poetry = get_table(configuration.project, "tool", "poetry")
    for held in (get_table(configuration.project, "project"), poetry, package, crate):
        if names := list_texts(held.get("name")):
            return names[0], truncate_to_sentence((list_texts(held.get("description")) or [""])[0])
    if match := re.search(r"^module\s+(\S+)", configuration.text("go.mod"), re.MULTILINE):
        return match[1], ""
    return "", ""


def truncate_to_sentence(text: str) -> str:
    first = re.split(r"(?<=\w)\.\s", " ".join(text.split()))[0].rstrip(".")
    return first if len(first) <= 90 else truncate_text(first, 90).rpartition(" ")[0] + " …"


def find_test_folders(sources: SourceFiles) -> tuple[str, ...]:
    """Return the topmost folders that contain tests; `beside the code` if tests have no folders of their own."""
    counts: Counter[str] = Counter()
    for path in sources.tests:
        parts = path.split("/")[:-1]
        at = next((number for number, part in enumerate(parts) if part in TEST_FOLDERS), None)
        counts["/".join(parts[: at + 1]) if at is not None else "beside the code"] += 1
    return tuple(name for name in rank_by_magnitude(counts) if counts[name] * 20 >= len(sources.tests))[:3]


def has_mirrored_tests(sources: SourceFiles) -> bool:
    """Whether most folders below the tests have the same name as a folder of the code."""
    inner = {folder.rpartition("/")[2] for folder in (path.rpartition("/")[0] for path in sources.shipped)}
    below = {
        parts[at + 1]
        for parts in (path.split("/")[:-1] for path in sources.tests)
        for at in [next((number for number, part in enumerate(parts) if part in TEST_FOLDERS), len(parts))]
        if len(parts) > at + 1
    }
    return len(below) >= 3 and len(below & inner) * 2 > len(below)


def find_support_folders(paths: Iterable[str]) -> tuple[str, ...]:
    tops = {path.partition("/")[0] for path in paths if "/" in path}
    return tuple(sorted(tops & SUPPORT_FOLDERS))[:MAX_LISTED_PATHS]


def find_entry_points(sources: SourceFiles) -> list[str]:
    """Return the commands that the project installs, then files that are meant to be run."""
    configuration = sources.configuration
    scripts = get_table(configuration.project, "project", "scripts") or get_table(
        configuration.project, "tool", "poetry", "scripts"
    )
    found = [f"{name} = {target}" for name, target in sorted(scripts.items()) if isinstance(target, str)]
    binaries = parse_json(configuration.text("package.json")).get("bin")
    found += (
        [f"{name} = {place}" for name, place in sorted(binaries.items())] if isinstance(binaries, dict) else list_texts(binaries)
    )
    crate = parse_toml(configuration.text("Cargo.toml")).get("bin")
    for held in crate if isinstance(crate, list) else []:
        if isinstance(held, dict) and isinstance(held.get("name"), str) and isinstance(held.get("path"), str):
            found.append(f"{held['name']} = {held['path']}")
    packages = [path.removesuffix("/__main__.py") for path in sources.shipped if path.endswith("/__main__.py")]
    found += [f"python -m {name.removeprefix('src/').replace('/', '.')}" for name in packages]
    begun = sources.code.entries
    started = [path for path in sources.understood if path in begun and not SUPPORT_FOLDERS & {*path.split("/")}]
    told = " ".join(found)
    found += [path for path in started if (not path.endswith(".py") or "/" not in path) and path not in told]
    return found[:4]


MAX_ZONES = 16
ROOT_ZONE = "the root"
ZoneGraph = Mapping[str, frozenset[str]]


def find_zone(path: str, sources: SourceFiles) -> str:
    """Return the part of the code that a file is in: a child of the root that holds most of it, or another root."""
    root = sources.root_of(path)
    if sources.home is None or (root or ".") != sources.home:
        return root.removeprefix(sources.common) or ROOT_ZONE
    rest = (path.removeprefix(f"{root}/") if root else path).removeprefix("src/").split("/")
    if rest[0] == "__init__.py":
        return root.rpartition("/")[2]
    if len(rest) > 1:
        return rest[0]
    return rest[0].rpartition(".")[0] if sources.main == "Python" else root.rpartition("/")[2] or ROOT_ZONE


def measure_zones(sources: SourceFiles) -> CodeZones:
    members = Counter(find_zone(path, sources) for path in sources.shipped)
    if len(members) < 2:
        return CodeZones()
    graph = find_zone_imports(sources, frozenset(members))
    packages = {name for name in members if members[name] > 1}
    kept = frozenset(
        rank_by_magnitude({name: members[name] for name in (packages if len(packages) > 3 else members)})[:MAX_ZONES]
    )
    inner = {name: graph.get(name, frozenset()) & kept for name in sorted(kept)}
    joined = {name for name in inner if inner[name]} | {target for targets in inner.values() for target in targets}
    inner = {name: targets for name, targets in inner.items() if name in joined}
    groups = find_cycles(inner)
    cycles = tuple(tuple(sorted(group)) for group in groups if len(group) > 1)
    layers = (
        order_in_layers(inner, groups) if not any(len(group) * 2 > len(kept) for group in groups) and any(inner.values()) else ()
    )
    more = f"{round_to_words(len(members) - len(kept))} smaller ones are not shown" if len(members) > len(kept) else ""
    cycles = tuple(sorted(cycles, key=lambda group: (-len(group), group)))
    return CodeZones(layers, cycles, find_hubs(graph, frozenset(members)), more)


def find_zone_imports(sources: SourceFiles, names: frozenset[str]) -> ZoneGraph:
    found: dict[str, set[str]] = {}
    shipped = frozenset(sources.shipped)
    for path in sources.understood:
        here = find_zone(path, sources)
        there = {find_zone(target, sources) for target in sources.code.imports(path) if target in shipped}
        found.setdefault(here, set()).update((there & names) - {here})
    return {name: frozenset(targets) for name, targets in found.items()}


def find_cycles(graph: ZoneGraph) -> list[frozenset[str]]:
    """Return the groups of zones in which each reaches all others."""
    reach = {name: find_reachable(graph, name) for name in graph}
    left, found = sorted(graph), list[frozenset[str]]()
    while left:
        group = frozenset([left[0], *(other for other in left[1:] if other in reach[left[0]] and left[0] in reach[other])])
        found.append(group)
        left = [name for name in left if name not in group]
    return found


def find_reachable(graph: ZoneGraph, start: str) -> frozenset[str]:
    seen, layer = set[str](), {start}
    while layer:
        layer = {target for name in layer for target in graph.get(name, ())} - seen
        seen |= layer
    return frozenset(seen)


def order_in_layers(graph: ZoneGraph, groups: list[frozenset[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the layers. A group's layer is the length of the longest import chain to it; cycles are joined by `=`."""
    home = {name: group for group in groups for name in group}

    @cache
    def depth(group: frozenset[str]) -> int:
        users = {home[name] for name in graph if any(home[target] is group for target in graph[name])} - {group}
        return 1 + max(map(depth, users), default=-1)

    rows: dict[int, list[str]] = {}
    for group in groups:
        rows.setdefault(depth(group), []).append(" = ".join(sorted(group)))
    return tuple(tuple(sorted(rows[number])) for number in sorted(rows))


def find_hubs(graph: ZoneGraph, names: frozenset[str]) -> tuple[str, ...]:
    """Return the zones that over a third of the others import."""
    counts = Counter(target for targets in graph.values() for target in targets)
    found = sorted(counts, key=lambda name: (-counts[name], name))
    return tuple(name for name in found if counts[name] * 3 > len(names) and counts[name] > 2)[:4]
