"""Finds who uses a symbol and what it calls: by type inference in Python, by name in other languages."""

from collections.abc import Iterable, Sequence

from afresh.code.caches import RecentAnswers
from afresh.code.graph.calls_by_name import find_callers_by_name
from afresh.code.graph.inference import ClassValue, Inference, owner_from_method
from afresh.code.graph.python_callers import find_python_callers
from afresh.code.index.code_index import CodeIndex
from afresh.code.search_hit import SymbolUses
from afresh.core.symbol import SymbolKind, SymbolPlace

MAX_SEARCHED_FILES = 400
MAX_FILES_PER_ITEM = 40
MAX_CACHED_ANSWERS = 128
"""Limits: files that one query may search, and one item of a prompt; and cached answers."""


def find_callers(code: CodeIndex, place: SymbolPlace, most: int = MAX_SEARCHED_FILES) -> SymbolUses:
    """Return every use of a symbol: calls, decorators, imports, and where it is passed on. Python's functions and classes are
    resolved; constants and other languages are matched by name. What an operator or a statement calls is not found.
    """
    if code.reading(place.path).language != "python" or place.symbol.kind is SymbolKind.CONSTANT:
        return find_callers_by_name(code, place, most)
    return find_python_callers(Inference(code), place, most)


def find_base_classes(code: CodeIndex, place: SymbolPlace) -> Sequence[SymbolPlace]:
    """Return the classes of this tree that it extends, in method resolution order."""
    inference = Inference(code)
    return _find_places(inference, inference.list_ancestors(_class_from_place(place))) if is_class(place) else []


def find_subclasses(code: CodeIndex, place: SymbolPlace) -> Sequence[SymbolPlace]:
    """Return the classes of this tree that extend it, directly or indirectly, the nearest first."""
    inference = Inference(code)
    return _find_places(inference, inference.list_subclasses(_class_from_place(place))) if is_class(place) else []


def find_overrides(code: CodeIndex, place: SymbolPlace) -> Sequence[SymbolPlace]:
    """Return the methods of subclasses that override this one."""
    owner, method, inference = owner_from_method(place), place.symbol.short, Inference(code)
    subclasses = inference.list_subclasses(owner) if owner else []
    members = [(each, inference.find_member(each, method)) for each in subclasses]
    return _find_places(inference, [each for each, has in members if has and has.owner == each and has.functions], method)


def is_class(place: SymbolPlace) -> bool:
    return place.symbol.kind in (SymbolKind.CLASS, SymbolKind.INTERFACE)


def _class_from_place(place: SymbolPlace) -> ClassValue:
    return ClassValue(place.path, place.symbol.name)


def _find_places(inference: Inference, classes: Iterable[ClassValue], method: str = "") -> list[SymbolPlace]:
    places = (inference.find_place(each, method) for each in classes)
    return [place for place in places if place is not None]


_recent_calls: RecentAnswers[tuple[str, SymbolPlace], SymbolUses] = RecentAnswers(MAX_CACHED_ANSWERS)


def find_callers_cached(code: CodeIndex, place: SymbolPlace) -> SymbolUses:
    return _recent_calls.get_or_make((code.digest, place), lambda: find_callers(code, place, MAX_FILES_PER_ITEM))
