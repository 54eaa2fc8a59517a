"""Renders the code map and functions over a complexity limit."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from afresh.app.code.explore_code import CodeMap
from afresh.app.code.violations import ComplexityMeasure, Violation
from afresh.cli.render.parts import render_text
from afresh.cli.render.symbols import render_signature, symbol_place_to_json
from afresh.code.ranking.rank_files import RankedMapFile
from afresh.core.symbol import Symbol, SymbolPlace


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


def render_code_map(made: CodeMap) -> RenderableType:
    if not made.files:
        return render_text(f"Nothing fits into {made.cap:,} tokens; raise --tokens.", "dim")
    parts: list[RenderableType] = [render_map_title(made)]
    for shown in made.files:
        parts += [render_text(""), *render_map_file(shown)]
    return Group(*parts, render_text(""), render_map_footer(made))


def render_map_title(made: CodeMap) -> Text:
    if not made.about:
        return Text("Most important files", style="bold")
    return Text.assemble(("Most relevant for ", "bold"), render_text(made.about, "bold cyan", 100))


def render_map_file(shown: RankedMapFile) -> Iterator[RenderableType]:
    folder, slash, name = shown.ranked.path.rpartition("/")
    yield Text.assemble(render_text(folder + slash, "dim"), render_text(name, "bold"))
    if shown.ranked.reasons:
        yield Padding(render_text(" · ".join(shown.ranked.reasons), "green"), (0, 0, 0, 2), expand=False)
    for symbol in shown.symbols:
        yield render_symbol_line(shown.ranked.path, symbol)
    if shown.more and shown.symbols:
        yield Text(f"        … {shown.more} more", style="dim")


def render_symbol_line(path: str, symbol: Symbol) -> Text:
    text = Text.assemble(
        (f"{symbol.line:6}  ", "dim"), "  " * symbol.name.count("."), render_signature(SymbolPlace(path, symbol))
    )
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


def render_map_footer(made: CodeMap) -> Text:
    """Render the query and how much of the code is shown."""
    history = f", {made.commits:,} commits" if made.commits else ""
    return render_text(
        f"{len(made.files):,} of {made.known:,} files{history}; {made.tokens:,} of {made.cap:,} tokens"
        + ("" if made.about else "; --for TEXT ranks by a goal or question"),
        "dim",
    )


NODE_WORDS = {"def": "nested def"}
BAR_COLUMNS = 18


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


def render_violations(found: Sequence[Violation], number: int, offers: bool) -> RenderableType:
    if not found:
        return render_text("No function is over a complexity limit.", "green")
    parts: list[RenderableType] = []
    for one in found:
        parts += [
            Text.assemble(render_text(one.function, "bold"), "  ", render_text(f"{one.path}:{one.line}", "cyan")),
            *[_render_measure(each) for each in one.measures],
            _describe_makeup(one),
        ]
        parts += [*([_render_suggestion(one)] if offers else []), Text("")]
    return Group(*parts, _render_violation_total(found, number, offers))


def _render_measure(each: ComplexityMeasure) -> Text:
    """Draw a bar of which the limit is a third; three times the limit fills it."""
    filled = min(BAR_COLUMNS, round(each.value / max(1, each.limit) * BAR_COLUMNS / 3))
    inside = min(filled, BAR_COLUMNS // 3)
    style = "red" if each.value >= 2 * each.limit else "yellow"
    bar = (("━" * inside, "dim"), ("━" * (filled - inside), style), ("─" * (BAR_COLUMNS - filled), "dim"))
    return Text.assemble("  ", *bar, (f" {each.value:>3}", style), f" {each.name}", (f"  limit {each.limit}  {each.code}", "dim"))


def _describe_makeup(one: Violation) -> Text:
    parts = [f"{count} × {NODE_WORDS.get(name, name)}" for name, count in one.made_of.items()]
    deep = f", up to {one.depth} deep" if one.depth > 1 else ""
    return Text(f"  {', '.join(parts) or 'no decision'}{deep}", style="dim")


def _render_suggestion(one: Violation) -> Text:
    if one.offer is None:
        return Text.assemble(("  ✗ no fix available: ", "yellow"), render_text(one.why_not, "yellow"))
    gain = f"{one.offer.before} → {one.offer.after}"
    return Text.assemble(("  ✓ ", "green"), (f"{gain}  ", "bold green"), render_text(_shorten_suggestion(one, one.offer.head)))


def _shorten_suggestion(one: Violation, head: str) -> str:
    """Remove what the lines above already show: function, file and measure."""
    return re.sub(rf" of (\S+\.)?{re.escape(one.function)}\S* in {re.escape(one.path)} ", " ", head.rpartition(": complexity")[0])


def _render_violation_total(found: Sequence[Violation], number: int, offers: bool) -> Text:
    noun = "function is" if number == 1 else "functions are"
    more = f"; showing the worst {len(found)} (-n for more)" if number > len(found) else ""
    text = f"{number} {noun} over a limit{more}."
    if offers and (able := sum(one.offer is not None for one in found)):
        text += f" Checked fixes are available for {able}; choose the names."
    return Text(text, style="bold")
