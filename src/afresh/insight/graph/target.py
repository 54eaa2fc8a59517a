"""The symbol that is asked about: under which names it is used, and in which files to look."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from afresh.domain.code import Kind, Place
from afresh.insight.graph.classes import find, is_property
from afresh.insight.graph.hierarchy import aliases, below, owner_of
from afresh.insight.graph.implicit import WRITTEN_OUT
from afresh.insight.graph.meaning import Key
from afresh.insight.graph.scopes import CHAIN, FunctionNode
from afresh.insight.graph.values import Class
from afresh.insight.graph.world import World

ALIASES = 12
ROUNDS = 3
MADE_BY = ("__init__", "__new__", "__post_init__")
CLASS_ITSELF = ("cls", "__class__", CHAIN)


@dataclass(frozen=True, slots=True)
class Target:
    place: Place
    key: Key
    owner: Class | None
    """Of a method."""
    accessed: bool
    """A property: to name it is to call it."""
    arguments: ast.arguments | None
    names: frozenset[str]
    inside: frozenset[str]
    """Names that mean it only in files that define its class or one below: `cls` and the like."""

    @property
    def short(self) -> str:
        return self.place.symbol.short

    @property
    def implicit(self) -> bool:
        return self.short.startswith("__") and self.short.endswith("__") and self.short not in WRITTEN_OUT

    @property
    def made(self) -> bool:
        """Called by making an instance."""
        return self.owner is not None and self.short in MADE_BY


def target_of(world: World, place: Place) -> Target:
    owner = owner_of(place)
    scope = world.scope(place.path, place.symbol.name)
    node = scope.node if scope else None
    has = find(world, owner, place.symbol.short) if owner else None
    is_class = place.symbol.kind in (Kind.CLASS, Kind.INTERFACE)
    made = owner is not None and place.symbol.short in MADE_BY
    roots = {place.symbol.short}
    if made and owner is not None:
        roots |= {each.name.rpartition(".")[2] for each in (owner, *below(world, owner))}
    return Target(
        place,
        (place.path, place.symbol.name),
        owner,
        bool(has and any(is_property(binding) for binding in has.functions)),
        node.args if isinstance(node, FunctionNode) else None,
        frozenset(spoken(world, roots)),
        frozenset(CLASS_ITSELF if is_class or made else ()),
    )


def spoken(world: World, roots: Iterable[str]) -> set[str]:
    """The names it goes by: its own, and those it is imported or assigned under."""
    names = set(roots)
    fresh = set(names)
    for _ in range(ROUNDS):
        found = {other for name in sorted(fresh) for other in (*aliases(world, name), *assigned(world, name))}
        fresh = set(sorted(found - names)[:ALIASES])
        if not fresh:
            break
        names |= fresh
    return names


def assigned(world: World, name: str) -> set[str]:
    """Only in files that were opened anyway: an alias in a file that was never looked at has no uses that were."""
    return world.aliases.get(name, set())


def candidates(world: World, target: Target, most: int) -> tuple[list[str], int]:
    """Files to look into, those near the definition first, and how many more there are."""
    code, home = world.code, target.place.path
    speaking = {path for name in target.names for path in code.mentioning(name)}
    if target.implicit and target.owner is not None:
        kin = [target.owner, *below(world, target.owner)]
        speaking |= {path for each in kin for path in code.mentioning(each.name.rpartition(".")[2])}
        speaking |= {path for each in {one.path for one in kin} for path in code.importers(each)}
    near = set(code.importers(home))
    paths = sorted(
        (path for path in speaking | {home} if path in world.sources),
        key=lambda path: (path != home, path not in near, code.is_test(path), path),
    )
    return paths[:most], max(0, len(paths) - most)
