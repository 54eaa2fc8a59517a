"""How tests come to a definition: by its name, or through others that call it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from afresh.code.context_items.find_targets import CHANGED_BY_TASK, SHARES_WORDS, TargetDefinition
from afresh.code.context_items.work_focus import WorkFocus, join_first_names
from afresh.code.graph import calls
from afresh.code.index.code_index import CodeIndex
from afresh.code.search_hit import SymbolUse, UseKind
from afresh.core.context_item import Note
from afresh.core.symbol import SymbolPlace

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
        for call in calls.find_callers_cached(self.code, place):
            if call.kind is not UseKind.IMPORT and self._follows(call) and (outer := self._holding(call)):
                yield outer

    def _follows(self, call: SymbolUse) -> bool:
        """What is not sure is not followed, but where nothing ever is."""
        return call.sure or self.code.reading(call.path).language != "python"

    def _holding(self, call: SymbolUse) -> SymbolPlace | None:
        held = self.code.reading(call.path).symbols if call.within else ()
        return next((SymbolPlace(call.path, one) for one in held if one.name == call.within), None)


MAX_LISTED_DEFINITIONS = 12
UNTESTED_LABEL = "no test leads to"
NAMED_IN_TESTS_LABEL = "named in tests"


def gather_coverage(scene: WorkFocus) -> Iterator[Note]:
    """File by file, by names and by the calls that can be followed; where lines were counted, that is told instead."""
    reach, found = ReachFromTests(scene.code), select_coverage_targets(scene)
    for path in dict.fromkeys(one.path for one in found):
        if text := render_file_coverage(reach, [one for one in found if one.path == path]):
            yield Note("coverage", path, f"{path}: {text}")


def render_file_coverage(reach: ReachFromTests, found: Sequence[TargetDefinition]) -> str:
    """What lacks a test first."""
    kinds: dict[str, list[str]] = {UNTESTED_LABEL: []}
    for one in found:
        if (through := reach.through(one.place)) == NOT_SEARCHED:
            continue
        kind = (
            UNTESTED_LABEL
            if through is None
            else f"tests name only {through}, which leads to"
            if through
            else NAMED_IN_TESTS_LABEL
        )
        kinds.setdefault(kind, []).append(f"{one.symbol.name} ({one.symbol.line})")
    return "; ".join(f"{kind}: {join_first_names(names, MAX_LISTED_DEFINITIONS)}" for kind, names in kinds.items() if names)


def select_coverage_targets(scene: WorkFocus) -> list[TargetDefinition]:
    """What was changed; of a task that is to write tests, or that looks at code, what it is about."""
    if scene.state.task.judged_as in ("write_tests", "code_review"):
        return [one for one in scene.targets if one.why != SHARES_WORDS]
    return [one for one in scene.targets if one.why == CHANGED_BY_TASK or scene.made(one.path, one.symbol.line, one.symbol.end)]
