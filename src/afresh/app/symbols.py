"""Symbols of the user's checkout, for people: where they are and who uses them."""

from collections.abc import Sequence
from dataclasses import dataclass

from afresh.domain.calls import SymbolUses
from afresh.domain.code import SymbolKind, SymbolPlace
from afresh.domain.found import EntryPoint, SymbolMatches, MatchQuality
from afresh.errors import BadInput
from afresh.insight import calls, entries, symbols
from afresh.insight.code import CodeIndex

MAX_CHOICES = 12


@dataclass(frozen=True, slots=True)
class SymbolUsers:
    """A symbol with all that is known of who uses it."""

    place: SymbolPlace
    callers: SymbolUses
    tests: frozenset[str]
    """Files among those of the callers that are tests."""
    above: Sequence[SymbolPlace]
    below: Sequence[SymbolPlace]
    """Classes, or for a method the methods that take its place."""
    others: Sequence[SymbolPlace] = ()
    """Of the same name, in tests: not asked about."""


def find_existing_symbols(
    code: CodeIndex, asked: str, kinds: Sequence[SymbolKind] = (), most: int = symbols.MAX_FOUND_SYMBOLS
) -> SymbolMatches:
    if not asked.strip(" .:"):
        raise BadInput("there is nothing to look for", next="afresh find NAME, as in: afresh find parse")
    found = symbols.find_symbols(code, asked, kinds, most)
    if not found.places:
        raise BadInput(f"nothing is called {asked!r}, nor anything like it", next=advise_symbol_search(code, kinds))
    return found


def advise_symbol_search(code: CodeIndex, kinds: Sequence[SymbolKind]) -> str:
    if kinds:
        return "leave --kind out to look among all symbols"
    broken = [path for path in code.files if code.reading(path).fault]
    unread = f"; {len(broken)} files could not be read, the first is {broken[0]}" if broken else ""
    return f"{len(code.files):,} files were looked at{unread}"


def find_symbol_users(code: CodeIndex, asked: str) -> SymbolUsers | SymbolMatches:
    """Who uses the one symbol that is meant; the choice, if there are several or none of just that name."""
    found = find_existing_symbols(code, asked, most=MAX_CHOICES)
    spare = [place for place in found.places if code.is_test(place.path)]
    meant = [place for place in found.places if place not in spare] or spare
    if found.match not in (MatchQuality.EXACT, MatchQuality.SPELLING) or len(meant) != 1 or found.more:
        return found
    place = meant[0]
    answer = calls.find_callers(code, place)
    return SymbolUsers(
        place,
        answer,
        frozenset(path for path in {call.path for call in answer} if code.is_test(path)),
        calls.find_base_classes(code, place),
        calls.find_subclasses(code, place) or calls.find_overrides(code, place),
        [other for other in spare if other != place],
    )


def list_checkout_entry_points(code: CodeIndex) -> Sequence[EntryPoint]:
    return entries.list_entry_points(code)
