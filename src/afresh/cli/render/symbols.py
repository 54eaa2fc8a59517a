"""Renders the users of a symbol by file: resolved calls first, tests and matches by name separately."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from afresh.app.code.explore_code import SymbolUsers
from afresh.cli.render.parts import render_fields, render_heading, render_text
from afresh.code.search_hit import EntryPoint, MatchQuality, SymbolMatches, SymbolUse, UseKind
from afresh.core.symbol import SymbolKind, SymbolPlace
from afresh.core.text import escape_hidden


def symbol_place_to_json(place: SymbolPlace) -> dict[str, Any]:
    symbol = place.symbol
    return {
        "path": place.path, "line": symbol.line, "end": symbol.end, "name": symbol.name, "kind": symbol.kind.value,
        "signature": symbol.signature, "doc": symbol.doc, "bases": list(symbol.bases),
    }  # fmt: skip


KIND_STYLES = {"class": "yellow", "interface": "yellow", "function": "cyan", "method": "cyan", "constant": "magenta"}
MATCH_SENTENCES = {
    MatchQuality.SPELLING: "Same name in another spelling:",
    MatchQuality.PART: "No symbol is called {asked}. Names that contain it:",
    MatchQuality.WORDS: "No symbol is called {asked}. Names with all its words:",
    MatchQuality.NEAR: "No symbol is called {asked}. Similar names:",
}


def symbol_hits_to_json(found: SymbolMatches) -> dict[str, Any]:
    return {"match": found.match.value, "places": [symbol_place_to_json(place) for place in found.places], "more": found.more}


def entry_point_to_json(entry: EntryPoint) -> dict[str, Any]:
    return {"path": entry.path, "line": entry.line, "name": entry.name, "why": entry.why}


def render_symbol_hits(found: SymbolMatches, asked: str) -> RenderableType:
    parts: list[RenderableType] = []
    if found.match in MATCH_SENTENCES:
        parts += [render_text(MATCH_SENTENCES[found.match].format(asked=asked), "dim"), render_text("")]
    for at, place in enumerate(found.places):
        parts += [*([render_text("")] if at else []), *render_symbol(place)]
    if found.more:
        parts += [render_text(""), render_text(f"and {found.more:,} more; use a longer name or --limit", "dim")]
    return Group(*parts)


def render_symbol(place: SymbolPlace) -> list[RenderableType]:
    """Render location, signature and description; terminals and editors can open the path with its line."""
    symbol = place.symbol
    head = Text.assemble(
        Text.assemble(render_text(place.path, "bold"), (f":{place.symbol.line}", "dim")),
        "  ",
        (symbol.kind.value, KIND_STYLES[symbol.kind.value]),
    )
    if symbol.name != symbol.short:
        head.append_text(Text.assemble((" of ", "dim"), render_text(symbol.name.rpartition(".")[0])))
    lines: list[RenderableType] = [head, Padding(render_signature(place), (0, 0, 0, 2), expand=False)]
    return [*lines, Padding(render_text(symbol.doc, "dim"), (0, 0, 0, 2), expand=False)] if symbol.doc else lines


def render_signature(place: SymbolPlace) -> Text:
    text = render_text(" ".join(place.symbol.signature.split()))
    at = text.plain.find(place.symbol.short)
    if at >= 0:
        text.stylize(f"bold {KIND_STYLES[place.symbol.kind.value]}", at, at + len(place.symbol.short))
    return text


def render_symbol_choice(found: SymbolMatches, asked: str) -> RenderableType:
    """Render the candidates and how to ask for one of them."""
    several = found.match in (MatchQuality.EXACT, MatchQuality.SPELLING)
    what = f"{asked} is defined {len(found.places) + found.more} times. Choose one:" if several else MATCH_SENTENCES[found.match]
    rows = [
        Text.assemble(
            "  afresh code find --callers ",
            render_text(f"{place.path}:{place.symbol.name}", "bold"),
            "  ",
            (f"{place.symbol.kind.value}, line {place.symbol.line}", "dim"),
        )
        for place in found.places
    ]
    more = (
        [render_text(f"  and {found.more:,} more; afresh code find {asked} --limit 100 lists them", "dim")] if found.more else []
    )
    return Group(render_text(what.format(asked=asked)), render_text(""), *rows, *more)


def render_entry_points(entries: Sequence[EntryPoint]) -> RenderableType:
    if not entries:
        return render_text("No entry points found.", "dim")
    return render_fields(
        (
            escape_hidden(entry.name),
            Text.assemble(render_text(entry.path, "bold"), (f":{entry.line}", "dim"), "  ", render_text(entry.why, "dim")),
        )
        for entry in entries
    )


MAX_SECTION_LINES = 40
"""Maximum lines per section, unless all are requested."""
USE_NOTES = {UseKind.PASSED: "passed on", UseKind.DECORATOR: "decorates", UseKind.IMPORT: "imports"}


def symbol_users_to_json(used: SymbolUsers) -> dict[str, Any]:
    return {
        "symbol": symbol_place_to_json(used.place),
        "callers": [
            {"path": call.path, "line": call.line, "within": call.within, "text": call.text, "sure": call.sure,
             "kind": call.kind.value, "test": call.path in used.tests}
            for call in used.callers
        ],
        "files_not_read": used.callers.unread,
        "cut": used.callers.cut,
        "above": [symbol_place_to_json(place) for place in used.above],
        "below": [symbol_place_to_json(place) for place in used.below],
    }  # fmt: skip


def render_symbol_users(used: SymbolUsers, everything: bool = False) -> RenderableType:
    calls = [call for call in used.callers if call.kind is not UseKind.IMPORT]
    imports = [call for call in used.callers if call.kind is UseKind.IMPORT]
    sure = [call for call in calls if call.sure]
    named = [call for call in calls if not call.sure]
    parts: list[RenderableType] = [
        *render_symbol(used.place),
        render_text(""),
        render_text(describe_symbol_users(used, sure, named), "bold" if calls else "yellow"),
    ]
    for title, group in (
        ("", [call for call in sure if call.path not in used.tests]),
        ("Tests", [call for call in sure if call.path in used.tests]),
        ("By name only (receiver unknown, or resolved to a parent class)", named),
        ("Imports", imports if everything else []),
    ):
        parts += render_use_section(title, group, everything, used.place.symbol.kind)
    below = "Overridden by" if used.place.symbol.kind is SymbolKind.METHOD else "Extended by"
    parts += [*render_related_symbols("Extends", used.above), *render_related_symbols(below, used.below)]
    return Group(*parts, *render_use_remarks(used, imports, everything))


def describe_symbol_users(used: SymbolUsers, sure: Sequence[SymbolUse], named: Sequence[SymbolUse]) -> str:
    if not sure and not named:
        is_special = used.place.symbol.short.startswith("__")
        return f"No uses in this repository.{' What operators and statements call is not listed.' * is_special}"
    tests = sum(call.path in used.tests for call in sure)
    files = len({call.path for call in sure})
    of_tests = f", {'all' if tests == len(sure) else f'{tests} of them'} in tests" if tests else ""
    counted = f"{len(sure)} {'use' if len(sure) == 1 else 'uses'} in {files} {'file' if files == 1 else 'files'}{of_tests}"
    return f"{counted if sure else 'No confirmed uses'}{f'; {len(named)} more by name' if named else ''}"


def render_use_section(title: str, calls: Sequence[SymbolUse], everything: bool, of: SymbolKind) -> list[RenderableType]:
    parts: list[RenderableType] = [render_heading(title)] if title and calls else []
    kept = calls if everything else calls[:MAX_SECTION_LINES]
    for path, group in groupby(kept, key=lambda call: call.path):
        parts += [render_text(f"\n{path}", "bold"), *render_use_lines(list(group), of)]
    left = len(calls) - len(kept)
    if left:
        files = len({call.path for call in calls[len(kept) :]})
        parts.append(render_text(f"\nand {left:,} more lines in {files} {'file' if files == 1 else 'files'}; use --all", "dim"))
    return parts


def render_use_lines(calls: Sequence[SymbolUse], of: SymbolKind) -> Iterator[Text]:
    """Render uses under the function that contains them."""
    notes = {**USE_NOTES, UseKind.PASSED: "refers to it"} if of in (SymbolKind.CLASS, SymbolKind.INTERFACE) else USE_NOTES
    for within, group in groupby(calls, key=lambda call: call.within):
        yield render_text(f"  {within}", "cyan") if within else Text("  module level", "cyan italic")
        for call in group:
            note = (f"  {notes[call.kind]}", "magenta") if call.kind in notes else ""
            line = Text.assemble((f"{call.line:>8}  ", "dim"), render_text(call.text), note)
            line.no_wrap, line.overflow = True, "ellipsis"
            yield line


def render_related_symbols(title: str, places: Sequence[SymbolPlace]) -> list[RenderableType]:
    if not places:
        return []
    rows = [
        Text.assemble("  ", render_text(place.symbol.name, "yellow"), "  ", render_text(str(place), "dim"))
        for place in places[:12]
    ]
    more = [render_text(f"  and {len(places) - 12:,} more", "dim")] if len(places) > 12 else []
    return [render_heading(title), *rows, *more]


def render_use_remarks(used: SymbolUsers, imports: Sequence[SymbolUse], everything: bool) -> list[RenderableType]:
    files = len({call.path for call in imports})
    said_of = {
        f"Imported in {files} {'file' if files == 1 else 'files'}; use --all to list them.": bool(imports) and not everything,
        f"{used.callers.unread:,} more files mention it and were not searched (too many).": bool(used.callers.unread),
        "Type resolution took too long; some matches are by name only.": used.callers.cut,
        f"Also defined in tests: {', '.join(str(place) for place in used.others[:4])}.": bool(used.others),
    }
    told = [render_text(text, "dim") for text, holds in said_of.items() if holds]
    return [render_text(""), *told] if told else []
