"""The code map and functions over a complexity limit."""

import re
from collections.abc import Sequence
from typing import Any

from afresh.app.code.explore_code import CodeMap
from afresh.app.code.violations import ComplexityMeasure, Violation
from afresh.cli.render.symbols import draw_signature, symbol_place_to_json
from afresh.code.ranking.rank_files import RankedMapFile
from afresh.core.symbol import SymbolPlace
from afresh.core.truncate import to_one_line
from afresh.views.page import Block, Cut, Indented, Line, Page

NODE_WORDS = {"def": "nested def"}
BAR_COLUMNS = 18


def code_map_to_json(made: CodeMap) -> dict[str, Any]:
    return {
        "for": made.about,
        "files": [
            {
                "path": shown.ranked.path,
                "score": round(shown.ranked.score, 4),
                "reasons": list(shown.ranked.reasons),
                "symbols": [symbol_place_to_json(SymbolPlace(shown.ranked.path, symbol)) for symbol in shown.symbols],
                "more": shown.more,
            }
            for shown in made.files
        ],
        "known": made.known,
        "commits": made.commits,
        "tokens": made.tokens,
        "cap": made.cap,
        "text": made.text,
        "unindexed": list(made.unindexed),
    }


def build_code_map(made: CodeMap, is_plain: bool) -> Page:
    """Build the map; plain is as a model gets it."""
    data = code_map_to_json(made)
    if is_plain:
        return Page(data, made.text)
    if not made.files:
        return Page(data, [[(f"Nothing fits into {made.cap:,} tokens; raise --tokens.", "dim")]])
    about = [("Most relevant for ", "bold"), (to_one_line(made.about, 100), "bold cyan")]
    files = [block for shown in made.files for block in ("", *_list_file_blocks(shown))]
    history = f", {made.commits:,} commits" if made.commits else ""
    size = f"{len(made.files):,} of {made.known:,} files{history}; {made.tokens:,} of {made.cap:,} tokens"
    more = "" if made.about else "; --for TEXT ranks by a goal or question"
    return Page(data, [about if made.about else [("Most important files", "bold")], *files, "", [(size + more, "dim")]])


def _list_file_blocks(shown: RankedMapFile) -> list[Block]:
    folder, slash, name = shown.ranked.path.rpartition("/")
    reasons = Indented([[(" · ".join(shown.ranked.reasons), "green")]])
    blocks: list[Block] = [[(folder + slash, "dim"), (name, "bold")], *([reasons] if shown.ranked.reasons else [])]
    for one in shown.symbols:
        depth = "  " * one.name.count(".")
        blocks.append(Cut([(f"{one.line:6}  {depth}", "dim"), *draw_signature(SymbolPlace(shown.ranked.path, one))]))
    return [*blocks, *([[(f"        … {shown.more} more", "dim")]] if shown.more and shown.symbols else [])]


def violation_to_json(one: Violation) -> dict[str, Any]:
    offer = one.offer
    change = offer and {
        "kind": "extract",
        "change": offer.head,
        "before": offer.before,
        "after": offer.after,
        "score": offer.score,
    }
    return {
        "path": one.path, "line": one.line, "function": one.function, "complexity": one.complexity, "depth": one.depth,
        "made_of": one.made_of, "offer": change, "needs_name": one.offer is not None, "why_not": one.why_not,
        "measures": [{"code": each.code, "name": each.name, "value": each.value, "limit": each.limit} for each in one.measures],
    }  # fmt: skip


def build_violations(found: Sequence[Violation], number: int, offers: bool, code: int = 0) -> Page:
    data = {"violations": [*map(violation_to_json, found)], "number": number}
    blocks = [block for one in found for block in _list_violation_blocks(one, offers)]
    if not found:
        return Page(data, [[("No function is over a complexity limit.", "green")]], code)
    more = f"; showing the worst {len(found)} (-n for more)" if number > len(found) else ""
    text = f"{number} {'function is' if number == 1 else 'functions are'} over a limit{more}."
    if offers and (able := sum(one.offer is not None for one in found)):
        text += f" Checked fixes are available for {able}; choose the names."
    return Page(data, [*blocks, [(text, "bold")]], code)


def _list_violation_blocks(one: Violation, offers: bool) -> list[Block]:
    parts = ", ".join(f"{count} × {NODE_WORDS.get(name, name)}" for name, count in one.made_of.items()) or "no decision"
    made_of = f"  {parts}{f', up to {one.depth} deep' if one.depth > 1 else ''}"
    head = [(one.function, "bold"), ("  ", ""), (f"{one.path}:{one.line}", "cyan")]
    offer = [_describe_offer(one)] if offers else []
    return [head, *map(_draw_measure, one.measures), [(made_of, "dim")], *offer, ""]


def _draw_measure(each: ComplexityMeasure) -> Line:
    """Draw a bar of which the limit is a third; three times the limit fills it."""
    filled = min(BAR_COLUMNS, round(each.value / max(1, each.limit) * BAR_COLUMNS / 3))
    inside = min(filled, BAR_COLUMNS // 3)
    style = "red" if each.value >= 2 * each.limit else "yellow"
    bar = [("  " + "━" * inside, "dim"), ("━" * (filled - inside), style), ("─" * (BAR_COLUMNS - filled), "dim")]
    return [*bar, (f" {each.value:>3}", style), (f" {each.name}", ""), (f"  limit {each.limit}  {each.code}", "dim")]


def _describe_offer(one: Violation) -> Line:
    if one.offer is None:
        return [("  ✗ no fix available: ", "yellow"), (one.why_not, "yellow")]
    # function, file and measure stand above
    known = rf" of (\S+\.)?{re.escape(one.function)}\S* in {re.escape(one.path)} "
    change = re.sub(known, " ", one.offer.head.rpartition(": complexity")[0])
    return [("  ✓ ", "green"), (f"{one.offer.before} → {one.offer.after}  ", "bold green"), (change, "")]
