"""How tests come to a definition: by its name, or through others that call it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from afresh.domain.calls import SymbolUse, UseKind
from afresh.domain.code import SymbolPlace
from afresh.insight.code import CodeIndex
from afresh.insight.looks import used

MAX_CALLS_TO_TEST = 5
MAX_CALLER_SEARCHES = 24
"""Calls between a test and what it comes to; and definitions of which it is asked who calls them, for one window."""
NOT_SEARCHED = "?"
"""Too many had been asked about before: nothing is said of it."""


@dataclass(slots=True)
class ReachFromTests:
    code: CodeIndex
    known: dict[SymbolPlace, str | None] = field(default_factory=dict[SymbolPlace, str | None])
    asked: dict[SymbolPlace, tuple[SymbolPlace, ...]] = field(default_factory=dict[SymbolPlace, tuple[SymbolPlace, ...]])

    def through(self, place: SymbolPlace) -> str | None:
        """Empty where a test names it itself; otherwise what a test uses of those that lead to it; None where there is none."""
        if any(self.code.is_test(path) for path in self.code.mentioning(place.symbol.short)):
            return ""
        if place not in self.known:
            self.known[place] = self._called(place)
        return self.known[place]

    def _called(self, place: SymbolPlace) -> str | None:
        seen, layer = {place}, [place]
        for _ in range(MAX_CALLS_TO_TEST):
            found = [self._callers(inner) for inner in layer]
            above = [outer for callers in found for outer in callers or () if outer not in seen]
            for outer in above:
                if tested := self._tested(outer):
                    return tested
            if None in found:
                return NOT_SEARCHED
            seen.update(above)
            layer = list(dict.fromkeys(above))
        return None

    def _tested(self, place: SymbolPlace) -> str | None:
        """By name, or as was found before."""
        if any(self.code.is_test(path) for path in self.code.mentioning(place.symbol.short)):
            return place.symbol.short
        before = self.known.get(place)
        return None if before == NOT_SEARCHED else before

    def _callers(self, place: SymbolPlace) -> tuple[SymbolPlace, ...] | None:
        """None when enough has been asked."""
        if place not in self.asked and len(self.asked) >= MAX_CALLER_SEARCHES:
            return None
        if place not in self.asked:
            self.asked[place] = tuple(self._found(place))
        return self.asked[place]

    def _found(self, place: SymbolPlace) -> Iterator[SymbolPlace]:
        for call in used.find_callers_cached(self.code, place):
            if call.kind is not UseKind.IMPORT and self._follows(call) and (outer := self._holding(call)):
                yield outer

    def _follows(self, call: SymbolUse) -> bool:
        """What is not sure is not followed, but where nothing ever is."""
        return call.sure or self.code.reading(call.path).language != "python"

    def _holding(self, call: SymbolUse) -> SymbolPlace | None:
        held = self.code.reading(call.path).symbols if call.within else ()
        return next((SymbolPlace(call.path, one) for one in held if one.name == call.within), None)
