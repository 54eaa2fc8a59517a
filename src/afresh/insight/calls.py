"""Who calls a symbol, what it calls, and which classes are above and below it."""

from collections.abc import Sequence

from afresh.domain.calls import Calls
from afresh.domain.code import Kind, Place
from afresh.insight.code import Code
from afresh.insight.graph.callees import callees as callees_in_python
from afresh.insight.graph.callers import callers as callers_in_python
from afresh.insight.graph.expressions import evaluate
from afresh.insight.graph.hierarchy import ancestors, below, overriding, owner_of, places
from afresh.insight.graph.names import bound
from afresh.insight.graph.others import callers_by_name
from afresh.insight.graph.values import Class
from afresh.insight.graph.world import World, unswept

FILES = 400
"""That one question may look into."""


def callers(code: Code, place: Place, most: int = FILES) -> Calls:
    """Every use of it: calls, decorations, imports, and where it is handed on. Python's functions and
    classes are followed; constants, and other languages, go by name."""
    if code.reading(place.path).language != "python" or place.symbol.kind is Kind.CONSTANT:
        return callers_by_name(code, place, most)
    with unswept():
        return callers_in_python(world_of(code), place, most)


def callees(code: Code, place: Place) -> Calls:
    """What it calls within this tree; for a class, what its methods call. Only Python is followed."""
    return callees_in_python(world_of(code), place) if code.reading(place.path).language == "python" else Calls()


def bases(code: Code, place: Place) -> Sequence[Place]:
    """Classes of this tree that it extends, in the order in which Python asks them."""
    world = world_of(code)
    return places(world, ancestors(world, Class(place.path, place.symbol.name))) if is_class(place) else []


def subclasses(code: Code, place: Place) -> Sequence[Place]:
    """Classes of this tree that extend it, directly or through others; nearest first."""
    world = world_of(code)
    return places(world, below(world, Class(place.path, place.symbol.name))) if is_class(place) else []


def overrides(code: Code, place: Place) -> Sequence[Place]:
    """Methods of classes below that take the place of this one."""
    owner = owner_of(place)
    return overriding(world_of(code), owner, place.symbol.short) if owner else []


def is_class(place: Place) -> bool:
    return place.symbol.kind in (Kind.CLASS, Kind.INTERFACE)


def world_of(code: Code) -> World:
    return World(code, evaluate, bound)
