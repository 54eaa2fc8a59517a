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


def code_map_to_json(code_map: CodeMap) -> dict[str, Any]:
    return {
        "for": code_map.about,
        "files": [
            {
                "path": shown.ranked.path,
                "score": round(shown.ranked.score, 4),
                "reasons": list(shown.ranked.reasons),
                "symbols": [symbol_place_to_json(SymbolPlace(shown.ranked.path, symbol)) for symbol in shown.symbols],
                "more": shown.more,
            }
            for shown in code_map.files
        ],
        "known": code_map.known,
        "commits": code_map.commits,
        "tokens": code_map.tokens,
        "cap": code_map.cap,
        "text": code_map.text,
        "unindexed": list(code_map.unindexed),
    }


def build_code_map(code_map: CodeMap, is_plain: bool) -> Page:
    """Build the map; plain is as a model gets it."""
    data = code_map_to_json(code_map)
    if is_plain:
        return Page(data, code_map.text)
    if not code_map.files:
        return Page(data, [[(f"Nothing fits into {code_map.cap:,} tokens; raise --tokens.", "dim")]])
    about = [("Most relevant for ", "bold"), (to_one_line(code_map.about, 100), "bold cyan")]
    files = [block for shown in code_map.files for block in ("", *_list_file_blocks(shown))]
    history = f", {code_map.commits:,} commits" if code_map.commits else ""
    size = f"{len(code_map.files):,} of {code_map.known:,} files{history}; {code_map.tokens:,} of {code_map.cap:,} tokens"
    more = "" if code_map.about else "; --for TEXT ranks by a goal or question"
    return Page(data, [about if code_map.about else [("Most important files", "bold")], *files, "", [(size + more, "dim")]])


def _list_file_blocks(shown: RankedMapFile) -> list[Block]:
    folder, slash, name = shown.ranked.path.rpartition("/")
    reasons = Indented([[(" · ".join(shown.ranked.reasons), "green")]])
    blocks: list[Block] = [[(folder + slash, "dim"), (name, "bold")], *([reasons] if shown.ranked.reasons else [])]
    for symbol in shown.symbols:
        depth = "  " * symbol.name.count(".")
        blocks.append(Cut([(f"{symbol.line:6}  {depth}", "dim"), *draw_signature(SymbolPlace(shown.ranked.path, symbol))]))
    return [*blocks, *([[(f"        … {shown.more} more", "dim")]] if shown.more and shown.symbols else [])]


def violation_to_json(violation: Violation) -> dict[str, Any]:
    offer = violation.offer
    change = offer and {
        "kind": "extract",
        "change": offer.head,
        "before": offer.before,
        "after": offer.after,
        "score": offer.score,
    }
    return {
        "path": violation.path, "line": violation.line, "function": violation.function, "complexity": violation.complexity,
        "depth": violation.depth,
        "made_of": violation.made_of, "offer": change, "needs_name": violation.offer is not None, "why_not": violation.why_not,
        "measures": [{"code": each.code, "name": each.name, "value": each.value,
        "limit": each.limit} for each in violation.measures],
    }  # fmt: skip


def build_violations(violations: Sequence[Violation], number: int, offers: bool, code: int = 0) -> Page:
    data = {"violations": [*map(violation_to_json, violations)], "number": number}
    blocks = [block for violation in violations for block in _list_violation_blocks(violation, offers)]
    if not violations:
        return Page(data, [[("No function is over a complexity limit.", "green")]], code)
    more = f"; showing the worst {len(violations)} (-n for more)" if number > len(violations) else ""
    text = f"{number} {'function is' if number == 1 else 'functions are'} over a limit{more}."
    if offers and (able := sum(violation.offer is not None for violation in violations)):
        text += f" Checked fixes are available for {able}; choose the names."
    return Page(data, [*blocks, [(text, "bold")]], code)


def _list_violation_blocks(violation: Violation, offers: bool) -> list[Block]:
    parts = ", ".join(f"{count} × {NODE_WORDS.get(name, name)}" for name, count in violation.made_of.items()) or "no decision"
    made_of = f"  {parts}{f', up to {violation.depth} deep' if violation.depth > 1 else ''}"
    head = [(violation.function, "bold"), ("  ", ""), (f"{violation.path}:{violation.line}", "cyan")]
    offer = [_describe_offer(violation)] if offers else []
    return [head, *map(_draw_measure, violation.measures), [(made_of, "dim")], *offer, ""]


def _draw_measure(each: ComplexityMeasure) -> Line:
    """Draw a bar of which the limit is a third; three times the limit fills it."""
    filled = min(BAR_COLUMNS, round(each.value / max(1, each.limit) * BAR_COLUMNS / 3))
    inside = min(filled, BAR_COLUMNS // 3)
    style = "red" if each.value >= 2 * each.limit else "yellow"
    bar = [("  " + "━" * inside, "dim"), ("━" * (filled - inside), style), ("─" * (BAR_COLUMNS - filled), "dim")]
    return [*bar, (f" {each.value:>3}", style), (f" {each.name}", ""), (f"  limit {each.limit}  {each.code}", "dim")]


def _describe_offer(violation: Violation) -> Line:
    if violation.offer is None:
        return [("  ✗ no fix available: ", "yellow"), (violation.why_not, "yellow")]
    # function, file and measure stand above
    known = rf" of (\S+\.)?{re.escape(violation.function)}\S* in {re.escape(violation.path)} "
    change = re.sub(known, " ", violation.offer.head.rpartition(": complexity")[0])
    return [("  ✓ ", "green"), (f"{violation.offer.before} → {violation.offer.after}  ", "bold green"), (change, "")]
