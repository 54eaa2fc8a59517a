"""Who calls what, asked once for each state of the tree: two sections ask the same, and so does the next window."""

from collections import OrderedDict

from afresh.domain.calls import SymbolUses
from afresh.domain.code import SymbolPlace
from afresh.insight import calls
from afresh.insight.code import CodeIndex

MAX_FILES_PER_ITEM = 40
MAX_CACHED_ANSWERS = 128
"""Files that are looked into for one name, and answers that are kept."""
_cached_calls: OrderedDict[tuple[str, str, SymbolPlace], SymbolUses] = OrderedDict()


def find_callers_cached(code: CodeIndex, place: SymbolPlace) -> SymbolUses:
    return _find_cached("callers", code, place)


def find_callees_cached(code: CodeIndex, place: SymbolPlace) -> SymbolUses:
    return _find_cached("callees", code, place)


def _find_cached(what: str, code: CodeIndex, place: SymbolPlace) -> SymbolUses:
    key = (what, code.digest, place)
    if key not in _cached_calls:
        _cached_calls[key] = (
            calls.find_callers(code, place, MAX_FILES_PER_ITEM) if what == "callers" else calls.find_callees(code, place)
        )
        if len(_cached_calls) > MAX_CACHED_ANSWERS:
            _cached_calls.popitem(last=False)
    return _cached_calls[key]
