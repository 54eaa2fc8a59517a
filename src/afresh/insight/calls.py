"""Who calls a symbol, what it calls, and which classes are above and below it."""

from collections.abc import Sequence

from afresh.domain.calls import SymbolUses
from afresh.domain.code import SymbolKind, SymbolPlace
from afresh.insight.code import CodeIndex
from afresh.insight.graph.callees import find_python_callees as callees_in_python
from afresh.insight.graph.callers import find_python_callers as callers_in_python
from afresh.insight.graph.expressions import evaluate_expression
from afresh.insight.graph.hierarchy import (
    list_ancestors,
    find_all_subclasses,
    find_overriding_methods,
    owner_from_method,
    find_class_places,
)
from afresh.insight.graph.names import resolve_binding
from afresh.insight.graph.others import find_callers_by_name
from afresh.insight.graph.values import ClassValue
from afresh.insight.graph.world import InferenceSession, disable_garbage_collection

MAX_SEARCHED_FILES = 400
"""That one question may look into."""


def find_callers(code: CodeIndex, place: SymbolPlace, most: int = MAX_SEARCHED_FILES) -> SymbolUses:
    """Every use of it: calls, decorations, imports, and where it is handed on. Python's functions and
    classes are followed; constants, and other languages, go by name."""
    if code.reading(place.path).language != "python" or place.symbol.kind is SymbolKind.CONSTANT:
        return find_callers_by_name(code, place, most)
    with disable_garbage_collection():
        return callers_in_python(start_inference(code), place, most)


def find_callees(code: CodeIndex, place: SymbolPlace) -> SymbolUses:
    """What it calls within this tree; for a class, what its methods call. Only Python is followed."""
    return callees_in_python(start_inference(code), place) if code.reading(place.path).language == "python" else SymbolUses()


def find_base_classes(code: CodeIndex, place: SymbolPlace) -> Sequence[SymbolPlace]:
    """Classes of this tree that it extends, in the order in which Python asks them."""
    world = start_inference(code)
    return find_class_places(world, list_ancestors(world, ClassValue(place.path, place.symbol.name))) if is_class(place) else []


def find_subclasses(code: CodeIndex, place: SymbolPlace) -> Sequence[SymbolPlace]:
    """Classes of this tree that extend it, directly or through others; nearest first."""
    world = start_inference(code)
    return (
        find_class_places(world, find_all_subclasses(world, ClassValue(place.path, place.symbol.name))) if is_class(place) else []
    )


def find_overrides(code: CodeIndex, place: SymbolPlace) -> Sequence[SymbolPlace]:
    """Methods of classes below that take the place of this one."""
    owner = owner_from_method(place)
    return find_overriding_methods(start_inference(code), owner, place.symbol.short) if owner else []


def is_class(place: SymbolPlace) -> bool:
    return place.symbol.kind in (SymbolKind.CLASS, SymbolKind.INTERFACE)


def start_inference(code: CodeIndex) -> InferenceSession:
    return InferenceSession(code, evaluate_expression, resolve_binding)
