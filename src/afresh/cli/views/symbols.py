"""Symbols, as a person reads them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import render_fields, render_text
from afresh.domain.code import SymbolPlace
from afresh.domain.found import EntryPoint, SymbolMatches, MatchQuality
from afresh.domain.text import escape_hidden

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

KIND_STYLES = {"class": "yellow", "interface": "yellow", "function": "cyan", "method": "cyan", "constant": "magenta"}
MATCH_SENTENCES = {
    MatchQuality.SPELLING: "Not written so, but the same but for case and underscores:",
    MatchQuality.PART: "Nothing is called just {asked}; names with it in them:",
    MatchQuality.WORDS: "Nothing is called {asked}; names with all its words:",
    MatchQuality.NEAR: "Nothing is called {asked}. Similar names:",
}


def symbol_place_to_json(place: SymbolPlace) -> dict[str, Any]:
    symbol = place.symbol
    return {
        "path": place.path, "line": symbol.line, "end": symbol.end, "name": symbol.name, "kind": symbol.kind.value,
        "signature": symbol.signature, "doc": symbol.doc, "bases": list(symbol.bases),
    }  # fmt: skip


def symbol_hits_to_json(found: SymbolMatches) -> dict[str, Any]:
    return {"match": found.match.value, "places": [symbol_place_to_json(place) for place in found.places], "more": found.more}


def entry_point_to_json(entry: EntryPoint) -> dict[str, Any]:
    return {"path": entry.path, "line": entry.line, "name": entry.name, "why": entry.why}


def render_symbol_hits(found: SymbolMatches, asked: str) -> "RenderableType":
    from rich.console import Group

    parts: list[RenderableType] = []
    if found.match in MATCH_SENTENCES:
        parts += [render_text(MATCH_SENTENCES[found.match].format(asked=asked), "dim"), render_text("")]
    for at, place in enumerate(found.places):
        parts += [*([render_text("")] if at else []), *render_symbol(place)]
    if found.more:
        parts += [render_text(""), render_text(f"and {found.more:,} more; a longer name or --limit shows others", "dim")]
    return Group(*parts)


def render_symbol(place: SymbolPlace) -> "list[RenderableType]":
    """Where, what and what for; a path with its line is what terminals and editors open."""
    from rich.padding import Padding
    from rich.text import Text

    symbol = place.symbol
    head = Text.assemble(render_symbol_place(place), "  ", (symbol.kind.value, KIND_STYLES[symbol.kind.value]))
    if symbol.name != symbol.short:
        head.append_text(Text.assemble((" of ", "dim"), render_text(symbol.name.rpartition(".")[0])))
    lines: list[RenderableType] = [head, Padding(render_signature(place), (0, 0, 0, 2), expand=False)]
    return [*lines, Padding(render_text(symbol.doc, "dim"), (0, 0, 0, 2), expand=False)] if symbol.doc else lines


def render_symbol_place(place: SymbolPlace) -> "Text":
    from rich.text import Text

    return Text.assemble(render_text(place.path, "bold"), (f":{place.symbol.line}", "dim"))


def render_signature(place: SymbolPlace) -> "Text":
    text = render_text(" ".join(place.symbol.signature.split()))
    at = text.plain.find(place.symbol.short)
    if at >= 0:
        text.stylize(f"bold {KIND_STYLES[place.symbol.kind.value]}", at, at + len(place.symbol.short))
    return text


def render_symbol_choice(found: SymbolMatches, asked: str) -> "RenderableType":
    """Several are meant, or none: which one to ask for, and how."""
    from rich.console import Group
    from rich.text import Text

    several = found.match in (MatchQuality.EXACT, MatchQuality.SPELLING)
    what = (
        f"{asked} is defined {len(found.places) + found.more} times. Ask for one of them:"
        if several
        else MATCH_SENTENCES[found.match]
    )
    rows = [
        Text.assemble(
            "  afresh who-calls ", render_text(f"{place.path}:{place.symbol.name}", "bold"), "  ", render_symbol_kind(place)
        )
        for place in found.places
    ]
    more = [render_text(f"  and {found.more:,} more; afresh find {asked} --limit 100 lists them", "dim")] if found.more else []
    return Group(render_text(what.format(asked=asked)), render_text(""), *rows, *more)


def render_symbol_kind(place: SymbolPlace) -> "Text":
    return render_text(f"{place.symbol.kind.value}, line {place.symbol.line}", "dim")


def render_entry_points(entries: Sequence[EntryPoint]) -> "RenderableType":
    from rich.text import Text

    if not entries:
        return render_text("No command is declared here, and no file says that it can be started.", "dim")
    return render_fields(
        (
            escape_hidden(entry.name),
            Text.assemble(render_text(entry.path, "bold"), (f":{entry.line}", "dim"), "  ", render_text(entry.why, "dim")),
        )
        for entry in entries
    )
