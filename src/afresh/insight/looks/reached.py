"""How tests come to a definition: by its name, or through others that call it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from afresh.domain.calls import Call, Way
from afresh.domain.code import Place
from afresh.insight.code import Code
from afresh.insight.looks import used

DEPTH = 5
ASKED = 24
"""Calls between a test and what it comes to; and definitions of which it is asked who calls them, for one window."""
UNASKED = "?"
"""Too many had been asked about before: nothing is said of it."""


@dataclass(slots=True)
class Reach:
    code: Code
    known: dict[Place, str | None] = field(default_factory=dict[Place, str | None])
    asked: dict[Place, tuple[Place, ...]] = field(default_factory=dict[Place, tuple[Place, ...]])

    def through(self, place: Place) -> str | None:
        """Empty where a test names it itself; otherwise what a test uses of those that lead to it; None where there is none."""
        if any(self.code.is_test(path) for path in self.code.mentioning(place.symbol.short)):
            return ""
        if place not in self.known:
            self.known[place] = self._called(place)
        return self.known[place]

    def _called(self, place: Place) -> str | None:
        seen, layer = {place}, [place]
        for _ in range(DEPTH):
            found = [self._callers(inner) for inner in layer]
            above = [outer for callers in found for outer in callers or () if outer not in seen]
            for outer in above:
                if tested := self._tested(outer):
                    return tested
            if None in found:
                return UNASKED
            seen.update(above)
            layer = list(dict.fromkeys(above))
        return None

    def _tested(self, place: Place) -> str | None:
        """By name, or as was found before."""
        if any(self.code.is_test(path) for path in self.code.mentioning(place.symbol.short)):
            return place.symbol.short
        before = self.known.get(place)
        return None if before == UNASKED else before

    def _callers(self, place: Place) -> tuple[Place, ...] | None:
        """None when enough has been asked."""
        if place not in self.asked and len(self.asked) >= ASKED:
            return None
        if place not in self.asked:
            self.asked[place] = tuple(self._found(place))
        return self.asked[place]

    def _found(self, place: Place) -> Iterator[Place]:
        for call in used.callers(self.code, place):
            if call.kind is not Way.IMPORT and self._follows(call) and (outer := self._holding(call)):
                yield outer

    def _follows(self, call: Call) -> bool:
        """What is not sure is not followed, but where nothing ever is."""
        return call.sure or self.code.reading(call.path).language != "python"

    def _holding(self, call: Call) -> Place | None:
        held = self.code.reading(call.path).symbols if call.within else ()
        return next((Place(call.path, one) for one in held if one.name == call.within), None)
