"""Symbols of the user's checkout, for people: where they are and who uses them."""

from collections.abc import Sequence
from dataclasses import dataclass

from afresh.domain.calls import Calls
from afresh.domain.code import Kind, Place
from afresh.domain.found import Entry, Found, Match
from afresh.errors import BadInput
from afresh.insight import calls, entries, symbols
from afresh.insight.code import Code

OFFERED = 12


@dataclass(frozen=True, slots=True)
class Used:
    """A symbol with all that is known of who uses it."""

    place: Place
    callers: Calls
    tests: frozenset[str]
    """Files among those of the callers that are tests."""
    above: Sequence[Place]
    below: Sequence[Place]
    """Classes, or for a method the methods that take its place."""
    others: Sequence[Place] = ()
    """Of the same name, in tests: not asked about."""


def find(code: Code, asked: str, kinds: Sequence[Kind] = (), most: int = symbols.MOST) -> Found:
    if not asked.strip(" .:"):
        raise BadInput("there is nothing to look for", next="afresh find NAME, as in: afresh find parse")
    found = symbols.find(code, asked, kinds, most)
    if not found.places:
        raise BadInput(f"nothing is called {asked!r}, nor anything like it", next=advice(code, kinds))
    return found


def advice(code: Code, kinds: Sequence[Kind]) -> str:
    if kinds:
        return "leave --kind out to look among all symbols"
    broken = [path for path in code.files if code.reading(path).fault]
    unread = f"; {len(broken)} files could not be read, the first is {broken[0]}" if broken else ""
    return f"{len(code.files):,} files were looked at{unread}"


def who_calls(code: Code, asked: str) -> Used | Found:
    """Who uses the one symbol that is meant; the choice, if there are several or none of just that name."""
    found = find(code, asked, most=OFFERED)
    spare = [place for place in found.places if code.is_test(place.path)]
    meant = [place for place in found.places if place not in spare] or spare
    if found.match not in (Match.EXACT, Match.SPELLING) or len(meant) != 1 or found.more:
        return found
    place = meant[0]
    answer = calls.callers(code, place)
    return Used(
        place,
        answer,
        frozenset(path for path in {call.path for call in answer} if code.is_test(path)),
        calls.bases(code, place),
        calls.subclasses(code, place) or calls.overrides(code, place),
        [other for other in spare if other != place],
    )


def where_runs_begin(code: Code) -> Sequence[Entry]:
    return entries.entries(code)
