"""Classes above and below a class, and methods that take the place of others."""

from collections.abc import Iterator, Sequence

from afresh.domain.code import Kind, Place
from afresh.insight.graph.classes import direct_bases, find, order
from afresh.insight.graph.scopes import last_name
from afresh.insight.graph.values import Class
from afresh.insight.graph.world import World

BELOW = 500
"""Classes below one that are looked for."""


def below(world: World, of: Class) -> list[Class]:
    """Every class that extends it, directly or through others; nearest first."""
    found = [of]
    for each in found:
        if len(found) > BELOW:
            break
        found += [other for other in extending(world, each) if other not in found]
    return found[1:]


def extending(world: World, of: Class) -> Iterator[Class]:
    short = of.name.rpartition(".")[2]
    names = {short, *aliases(world, short)}
    paths = sorted({path for name in names for path in world.code.mentioning(name) if path in world.sources})
    for path in paths:
        file = world.file(path)
        for name, scope in sorted(file.scopes.items()) if file else ():
            bases = getattr(scope.node, "bases", ())
            if any(last_name(getattr(base, "value", base)) in names or last_name(base) in names for base in bases):
                other = Class(path, name)
                if other != of and of in direct_bases(world, other):
                    yield other


def aliases(world: World, name: str) -> set[str]:
    """Other names that files import it by."""
    found: set[str] = set()
    for path in world.code.mentioning(name):
        if path in world.sources:
            found |= {here for one in world.code.reading(path).imports for there, here in one.names if there == name != here}
    return found


def place_of(world: World, path: str, name: str) -> Place | None:
    """The last symbol of that name, as Python would find it."""
    held = [symbol for symbol in world.code.reading(path).symbols if symbol.name == name] if path in world.sources else []
    return Place(path, held[-1]) if held else None


def places(world: World, classes: Sequence[Class]) -> list[Place]:
    found = (place_of(world, each.path, each.name) for each in classes)
    return [place for place in found if place is not None]


def ancestors(world: World, of: Class) -> list[Class]:
    return [each for each in order(world, of)[1:] if isinstance(each, Class)]


def owner_of(place: Place) -> Class | None:
    """The class of a method."""
    name = place.symbol.name.rpartition(".")[0]
    return Class(place.path, name) if place.symbol.kind is Kind.METHOD and name else None


def overriding(world: World, of: Class, method: str) -> list[Place]:
    """Methods of classes below that take the place of this one."""
    found: list[Place] = []
    for each in below(world, of):
        has = find(world, each, method)
        if has is not None and has.owner == each and has.functions:
            found += [place for place in [place_of(world, each.path, f"{each.name}.{method}")] if place is not None]
    return found
