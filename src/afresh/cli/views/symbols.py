"""Symbols, as a person reads them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import fields, said
from afresh.domain.code import Place
from afresh.domain.found import Entry, Found, Match
from afresh.domain.text import visible

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

KIND = {"class": "yellow", "interface": "yellow", "function": "cyan", "method": "cyan", "constant": "magenta"}
TOLD = {
    Match.SPELLING: "Not written so, but the same but for case and underscores:",
    Match.PART: "Nothing is called just {asked}; names with it in them:",
    Match.WORDS: "Nothing is called {asked}; names with all its words:",
    Match.NEAR: "Nothing is called {asked}. Similar names:",
}


def place_json(place: Place) -> dict[str, Any]:
    symbol = place.symbol
    return {
        "path": place.path, "line": symbol.line, "end": symbol.end, "name": symbol.name, "kind": symbol.kind.value,
        "signature": symbol.signature, "doc": symbol.doc, "bases": list(symbol.bases),
    }  # fmt: skip


def found_json(found: Found) -> dict[str, Any]:
    return {"match": found.match.value, "places": [place_json(place) for place in found.places], "more": found.more}


def entry_json(entry: Entry) -> dict[str, Any]:
    return {"path": entry.path, "line": entry.line, "name": entry.name, "why": entry.why}


def found(found: Found, asked: str) -> "RenderableType":
    from rich.console import Group

    parts: list[RenderableType] = []
    if found.match in TOLD:
        parts += [said(TOLD[found.match].format(asked=asked), "dim"), said("")]
    for at, place in enumerate(found.places):
        parts += [*([said("")] if at else []), *shown(place)]
    if found.more:
        parts += [said(""), said(f"and {found.more:,} more; a longer name or --limit shows others", "dim")]
    return Group(*parts)


def shown(place: Place) -> "list[RenderableType]":
    """Where, what and what for; a path with its line is what terminals and editors open."""
    from rich.padding import Padding
    from rich.text import Text

    symbol = place.symbol
    head = Text.assemble(where(place), "  ", (symbol.kind.value, KIND[symbol.kind.value]))
    if symbol.name != symbol.short:
        head.append_text(Text.assemble((" of ", "dim"), said(symbol.name.rpartition(".")[0])))
    lines: list[RenderableType] = [head, Padding(signature(place), (0, 0, 0, 2), expand=False)]
    return [*lines, Padding(said(symbol.doc, "dim"), (0, 0, 0, 2), expand=False)] if symbol.doc else lines


def where(place: Place) -> "Text":
    from rich.text import Text

    return Text.assemble(said(place.path, "bold"), (f":{place.symbol.line}", "dim"))


def signature(place: Place) -> "Text":
    text = said(" ".join(place.symbol.signature.split()))
    at = text.plain.find(place.symbol.short)
    if at >= 0:
        text.stylize(f"bold {KIND[place.symbol.kind.value]}", at, at + len(place.symbol.short))
    return text


def choice(found: Found, asked: str) -> "RenderableType":
    """Several are meant, or none: which one to ask for, and how."""
    from rich.console import Group
    from rich.text import Text

    several = found.match in (Match.EXACT, Match.SPELLING)
    what = f"{asked} is defined {len(found.places) + found.more} times. Ask for one of them:" if several else TOLD[found.match]
    rows = [
        Text.assemble("  afresh who-calls ", said(f"{place.path}:{place.symbol.name}", "bold"), "  ", described(place))
        for place in found.places
    ]
    more = [said(f"  and {found.more:,} more; afresh find {asked} --limit 100 lists them", "dim")] if found.more else []
    return Group(said(what.format(asked=asked)), said(""), *rows, *more)


def described(place: Place) -> "Text":
    return said(f"{place.symbol.kind.value}, line {place.symbol.line}", "dim")


def begins(entries: Sequence[Entry]) -> "RenderableType":
    from rich.text import Text

    if not entries:
        return said("No command is declared here, and no file says that it can be started.", "dim")
    return fields(
        (visible(entry.name), Text.assemble(said(entry.path, "bold"), (f":{entry.line}", "dim"), "  ", said(entry.why, "dim")))
        for entry in entries
    )
