"""The parts of the code and which of them use which: layers where the imports point one way, cycles where they don't."""

from collections import Counter
from collections.abc import Mapping
from functools import cache

from afresh.insight.fingerprint.facts import CodeZones
from afresh.insight.fingerprint.rounded import round_to_words, rank_by_magnitude
from afresh.insight.fingerprint.sources import SourceFiles

MAX_ZONES = 16
ROOT_ZONE = "the root"
ZoneGraph = Mapping[str, frozenset[str]]


def find_zone(path: str, sources: SourceFiles) -> str:
    """The part of the code that a file is in: what stands directly below the root that holds most of it, or another root."""
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
    """Groups in which each reaches each other."""
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
    """Each group as far to the right as the longest way of imports to it is long; a cycle stands in one layer, joined by `=`."""
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
    """Those that over a third of the others import."""
    counts = Counter(target for targets in graph.values() for target in targets)
    found = sorted(counts, key=lambda name: (-counts[name], name))
    return tuple(name for name in found if counts[name] * 3 > len(names) and counts[name] > 2)[:4]
