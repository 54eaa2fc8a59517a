"""Symbols, and the users of one by file: resolved calls first, tests and matches by name separately."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from afresh.app.code.explore_code import SymbolUsers
from afresh.code.search_hit import EntryPoint, MatchQuality, SymbolMatches, SymbolUse, UseKind
from afresh.core.symbol import SymbolKind, SymbolPlace
from afresh.core.text import format_count
from afresh.views.page import Block, Cut, Fields, Heading, Indented, Page, Span


def symbol_place_to_json(place: SymbolPlace) -> dict[str, Any]:
    symbol = place.symbol
    return {
        "path": place.path, "line": symbol.line, "end": symbol.end, "name": symbol.name, "kind": symbol.kind.value,
        "signature": symbol.signature, "doc": symbol.doc, "bases": list(symbol.bases),
    }  # fmt: skip


KIND_STYLES = {"class": "yellow", "interface": "yellow", "function": "cyan", "method": "cyan", "constant": "green"}
MATCH_SENTENCES = {
    MatchQuality.SPELLING: "Same name in another spelling:",
    MatchQuality.PART: "No symbol is called {asked}. Names that contain it:",
    MatchQuality.WORDS: "No symbol is called {asked}. Names with all its words:",
    MatchQuality.NEAR: "No symbol is called {asked}. Similar names:",
}


MAX_RELATED = 12
MAX_SECTION_LINES = 40
"""Maximum lines per section, unless all are requested."""
USE_NOTES = {UseKind.PASSED: "passed on", UseKind.DECORATOR: "decorates", UseKind.IMPORT: "imports"}


def symbol_hits_to_json(matches: SymbolMatches) -> dict[str, Any]:
    return {"match": matches.match.value, "places": [*map(symbol_place_to_json, matches.places)], "more": matches.more}


def build_symbol_hits(matches: SymbolMatches, asked: str) -> Page:
    blocks: list[Block] = []
    if matches.match in MATCH_SENTENCES:
        blocks += [[(MATCH_SENTENCES[matches.match].format(asked=asked), "dim")], ""]
    for at, place in enumerate(matches.places):
        blocks += [*([""] if at else []), *list_symbol_blocks(place)]
    if matches.more:
        blocks += ["", [(f"and {matches.more:,} more; use a longer name or --limit", "dim")]]
    return Page(symbol_hits_to_json(matches), blocks)


def list_symbol_blocks(place: SymbolPlace) -> list[Block]:
    """Place, signature and description; terminals and editors can open the path with its line."""
    symbol, kind = place.symbol, place.symbol.kind.value
    owner = [(" of ", "dim"), (symbol.name.rpartition(".")[0], "")] if symbol.name != symbol.short else []
    head = [(place.path, "bold"), (f":{symbol.line}", "dim"), ("  ", ""), (kind, KIND_STYLES[kind]), *owner]
    doc: list[Block] = [[(symbol.doc, "dim")]] if symbol.doc else []
    return [Cut(head), Indented([Cut(draw_signature(place)), *doc])]


def draw_signature(place: SymbolPlace) -> list[Span]:
    """Draw a signature with its name in the colour of its kind."""
    before, name, after = " ".join(place.symbol.signature.split()).partition(place.symbol.short)
    return [(before, ""), (name, f"bold {KIND_STYLES[place.symbol.kind.value]}"), (after, "")]


def build_symbol_choice(matches: SymbolMatches, asked: str) -> Page:
    """Build the candidates and how to ask for one of them."""
    several = matches.match in (MatchQuality.EXACT, MatchQuality.SPELLING)
    what = (
        f"{asked} is defined {len(matches.places) + matches.more} times. Choose one:"
        if several
        else MATCH_SENTENCES[matches.match]
    )
    blocks: list[Block] = [what.format(asked=asked), ""]
    for place in matches.places:
        kind = (f"  {place.symbol.kind.value}, line {place.symbol.line}", "dim")
        blocks.append([("  afresh code find --callers ", ""), (f"{place.path}:{place.symbol.name}", "bold"), kind])
    if matches.more:
        blocks.append([(f"  and {matches.more:,} more; afresh code find {asked} --limit 100 lists them", "dim")])
    return Page({"choose": symbol_hits_to_json(matches)}, blocks, 1)


def build_entry_points(entries: Sequence[EntryPoint]) -> Page:
    rows = [(point.name, [(point.path, "bold"), (f":{point.line}", "dim"), (f"  {point.why}", "dim")]) for point in entries]
    data = [{"path": point.path, "line": point.line, "name": point.name, "why": point.why} for point in entries]
    return Page(data, [Fields(rows)] if rows else [[("No entry points found.", "dim")]])


def build_symbol_users(used: SymbolUsers, everything: bool = False) -> Page:
    data = {
        "symbol": symbol_place_to_json(used.place),
        "callers": [
            {"path": call.path, "line": call.line, "within": call.within, "text": call.text, "sure": call.sure,
             "kind": call.kind.value, "test": call.path in used.tests}
            for call in used.callers
        ],
        "files_not_read": used.callers.unread,
        "cut": used.callers.cut,
        "above": [*map(symbol_place_to_json, used.above)],
        "below": [*map(symbol_place_to_json, used.below)],
    }  # fmt: skip
    calls = [call for call in used.callers if call.kind is not UseKind.IMPORT]
    imports = [call for call in used.callers if call.kind is UseKind.IMPORT]
    sure, named = [call for call in calls if call.sure], [call for call in calls if not call.sure]
    head = (describe_symbol_users(used, sure, named), "bold" if calls else "yellow")
    blocks: list[Block] = [*list_symbol_blocks(used.place), "", [head]]
    for title, group in (
        ("", [call for call in sure if call.path not in used.tests]),
        ("Tests", [call for call in sure if call.path in used.tests]),
        ("By name only (receiver unknown, or resolved to a parent class)", named),
        ("Imports", imports if everything else []),
    ):
        blocks += _list_use_section(title, group, everything, used.place.symbol.kind)
    below = "Overridden by" if used.place.symbol.kind is SymbolKind.METHOD else "Extended by"
    for title, places in (("Extends", used.above), (below, used.below)):
        rows: list[Block] = [[("  ", ""), (place.symbol.name, "yellow"), (f"  {place}", "dim")] for place in places[:MAX_RELATED]]
        more: list[Block] = [[(f"  and {len(places) - MAX_RELATED:,} more", "dim")]] if len(places) > MAX_RELATED else []
        blocks += [Heading(title), *rows, *more] if rows else []
    return Page(data, [*blocks, *_list_remarks(used, imports, everything)])


def describe_symbol_users(used: SymbolUsers, sure: Sequence[SymbolUse], named: Sequence[SymbolUse]) -> str:
    if not sure and not named:
        is_special = used.place.symbol.short.startswith("__")
        return f"No uses in this repository.{' What operators and statements call is not listed.' * is_special}"
    tests = sum(call.path in used.tests for call in sure)
    files = len({call.path for call in sure})
    of_tests = f", {'all' if tests == len(sure) else f'{tests} of them'} in tests" if tests else ""
    counted = f"{len(sure)} {'use' if len(sure) == 1 else 'uses'} in {files} {'file' if files == 1 else 'files'}{of_tests}"
    return f"{counted if sure else 'No confirmed uses'}{f'; {len(named)} more by name' if named else ''}"


def _list_use_section(title: str, calls: Sequence[SymbolUse], everything: bool, of: SymbolKind) -> list[Block]:
    """List uses under their file and the function that contains them."""
    blocks: list[Block] = [Heading(title)] if title and calls else []
    shown, left = (calls, []) if everything else (calls[:MAX_SECTION_LINES], calls[MAX_SECTION_LINES:])
    notes = {**USE_NOTES, UseKind.PASSED: "refers to it"} if of in (SymbolKind.CLASS, SymbolKind.INTERFACE) else USE_NOTES
    last = ""
    for (path, within), group in groupby(shown, key=lambda call: (call.path, call.within)):
        blocks += [] if path == last else [[(f"\n{path}", "bold")]]
        last = path
        blocks.append([(f"  {within or 'module level'}", "cyan" if within else "italic cyan")])
        for call in group:
            note = (f"  {notes[call.kind]}" if call.kind in notes else "", "cyan")
            blocks.append(Cut([(f"{call.line:>8}  ", "dim"), (call.text, ""), note]))
    if left:
        files = format_count(len({call.path for call in left}), "file")
        blocks.append([(f"\nand {len(left):,} more lines in {files}; use --all", "dim")])
    return blocks


def _list_remarks(used: SymbolUsers, imports: Sequence[SymbolUse], everything: bool) -> list[Block]:
    files = format_count(len({call.path for call in imports}), "file")
    remarks = {
        f"Imported in {files}; use --all to list them.": bool(imports) and not everything,
        f"{used.callers.unread:,} more files mention it and were not searched (too many).": bool(used.callers.unread),
        "Type resolution took too long; some matches are by name only.": used.callers.cut,
        f"Also defined in tests: {', '.join(str(place) for place in used.others[:4])}.": bool(used.others),
    }
    lines: list[Block] = [[(text, "dim")] for text, holds in remarks.items() if holds]
    return ["", *lines] if lines else []
