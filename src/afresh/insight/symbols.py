"""Symbols by name: as written, in another spelling, by a part or by words of it, and failing all that, similar ones."""

from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches

from afresh.domain.code import Kind, Place
from afresh.domain.found import Found, Match
from afresh.domain.words import split
from afresh.insight.code import Code

MOST = 20
SIMILAR = 8
CLOSE = 0.7
"""Likeness from which on a name is offered instead."""


def find(code: Code, asked: str, kinds: Collection[Kind] = (), most: int = MOST) -> Found:
    """`name`, `Class.method`, a part of either, or `path:name` for those of one file."""
    path, name = taken_apart(asked)
    fits = fitting(code, path, kinds)
    exact = unique(place for place in code.defining(name) if fits(place))
    if exact:
        return cut(code, exact, Match.EXACT, most)
    everything = unique(place for place in all_places(code) if fits(place))
    for match, test in ((Match.SPELLING, spelt), (Match.PART, holding), (Match.WORDS, worded)):
        wanted = test(name)
        if found := [place for place in everything if wanted(place)]:
            return cut(code, found, match, most)
    return cut(code, near(everything, name), Match.NEAR, min(most, SIMILAR), name)


def taken_apart(asked: str) -> tuple[str, str]:
    """The file and the name. Colons of other languages and a line number at the end are understood too."""
    asked = asked.strip().removesuffix("()").replace("::", ".").replace("#", ".")
    path, colon, name = asked.rpartition(":")
    return (path, name.strip(".")) if colon else ("", asked.strip("."))


def fitting(code: Code, path: str, kinds: Collection[Kind]) -> Callable[[Place], bool]:
    def fits(place: Place) -> bool:
        here = not path or place.path == path or place.path.endswith(f"/{path}")
        return here and (not kinds or place.symbol.kind in kinds)

    return fits


def all_places(code: Code) -> Iterable[Place]:
    return (Place(path, symbol) for path in code.files for symbol in code.reading(path).symbols)


def unique(places: Iterable[Place]) -> list[Place]:
    """A name that is defined several times in a file stands once, with its last definition, which is the one that counts."""
    return list({(place.path, place.symbol.name): place for place in places}.values())


def cut(code: Code, found: list[Place], match: Match, most: int, near: str = "") -> Found:
    if not near:
        found = sorted(found, key=lambda place: order(code, place))
    return Found(tuple(found[:most]), match, max(0, len(found) - most))


def order(code: Code, place: Place) -> tuple[bool, bool, bool, int, str, int]:
    """What people mean most often: code before tests, functions and classes before constants, public before private."""
    symbol = place.symbol
    return (
        code.is_test(place.path),
        symbol.kind is Kind.CONSTANT,
        not symbol.public,
        len(symbol.name),
        place.path,
        symbol.line,
    )


def folded(name: str) -> str:
    return name.replace("_", "").lower()


def spelt(name: str) -> Callable[[Place], bool]:
    wanted = f".{folded(name)}"
    return lambda place: f".{folded(place.symbol.name)}".endswith(wanted)


def holding(name: str) -> Callable[[Place], bool]:
    """A dotted name is looked for in the whole, another one in the last part alone."""
    wanted, whole = folded(name), "." in name
    return lambda place: bool(wanted) and wanted in folded(place.symbol.name if whole else place.symbol.short)


def worded(name: str) -> Callable[[Place], bool]:
    wanted = set(split(name.replace(".", " ")))
    parts = {word for word in wanted if not any(word != other and other in word for other in wanted)}
    return lambda place: bool(parts) and parts <= set(split(place.symbol.name.replace(".", " ")))


def near(places: list[Place], name: str) -> list[Place]:
    short = folded(name.rpartition(".")[2])
    by_name: dict[str, list[Place]] = {}
    for place in places:
        by_name.setdefault(folded(place.symbol.short), []).append(place)
    alike = get_close_matches(short, by_name, n=SIMILAR, cutoff=CLOSE)
    return [place for each in alike for place in sorted(by_name[each], key=lambda place: (place.path, place.symbol.line))]
