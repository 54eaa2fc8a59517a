"""Classes above and below a class, and methods that take the place of others."""

from collections.abc import Iterator, Sequence

from afresh.domain.code import SymbolKind, SymbolPlace
from afresh.insight.graph.classes import resolve_direct_bases, find_member, resolve_method_order
from afresh.insight.graph.scopes import last_name_from_node
from afresh.insight.graph.values import ClassValue
from afresh.insight.graph.world import InferenceSession

MAX_SUBCLASSES = 500
"""Classes below one that are looked for."""


def find_all_subclasses(world: InferenceSession, of: ClassValue) -> list[ClassValue]:
    """Every class that extends it, directly or through others; nearest first."""
    found = [of]
    for each in found:
        if len(found) > MAX_SUBCLASSES:
            break
        found += [other for other in find_direct_subclasses(world, each) if other not in found]
    return found[1:]


def find_direct_subclasses(world: InferenceSession, of: ClassValue) -> Iterator[ClassValue]:
    short = of.name.rpartition(".")[2]
    names = {short, *find_import_aliases(world, short)}
    paths = sorted({path for name in names for path in world.code.mentioning(name) if path in world.sources})
    for path in paths:
        file = world.file(path)
        for name, scope in sorted(file.scopes.items()) if file else ():
            bases = getattr(scope.node, "bases", ())
            if any(
                last_name_from_node(getattr(base, "value", base)) in names or last_name_from_node(base) in names for base in bases
            ):
                other = ClassValue(path, name)
                if other != of and of in resolve_direct_bases(world, other):
                    yield other


def find_import_aliases(world: InferenceSession, name: str) -> set[str]:
    """Other names that files import it by."""
    found: set[str] = set()
    for path in world.code.mentioning(name):
        if path in world.sources:
            found |= {here for one in world.code.reading(path).imports for there, here in one.names if there == name != here}
    return found


def find_place(world: InferenceSession, path: str, name: str) -> SymbolPlace | None:
    """The last symbol of that name, as Python would find it."""
    held = [symbol for symbol in world.code.reading(path).symbols if symbol.name == name] if path in world.sources else []
    return SymbolPlace(path, held[-1]) if held else None


def find_class_places(world: InferenceSession, classes: Sequence[ClassValue]) -> list[SymbolPlace]:
    found = (find_place(world, each.path, each.name) for each in classes)
    return [place for place in found if place is not None]


def list_ancestors(world: InferenceSession, of: ClassValue) -> list[ClassValue]:
    return [each for each in resolve_method_order(world, of)[1:] if isinstance(each, ClassValue)]


def owner_from_method(place: SymbolPlace) -> ClassValue | None:
    """The class of a method."""
    name = place.symbol.name.rpartition(".")[0]
    return ClassValue(place.path, name) if place.symbol.kind is SymbolKind.METHOD and name else None


def find_overriding_methods(world: InferenceSession, of: ClassValue, method: str) -> list[SymbolPlace]:
    """Methods of classes below that take the place of this one."""
    found: list[SymbolPlace] = []
    for each in find_all_subclasses(world, of):
        has = find_member(world, each, method)
        if has is not None and has.owner == each and has.functions:
            found += [place for place in [find_place(world, each.path, f"{each.name}.{method}")] if place is not None]
    return found
