"""A map of code, as a person reads it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from afresh.cli.render.symbols import render_signature
from afresh.cli.render.widgets import render_text
from afresh.core.symbol import Symbol, SymbolPlace
from afresh.views.symbols import symbol_place_to_json

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from afresh.app.explore_code import CodeMap
    from afresh.code.ranking.ranked_map import RankedMapFile


def code_map_to_json(made: "CodeMap") -> dict[str, Any]:
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
    }


def render_code_map(made: "CodeMap") -> "RenderableType":
    from rich.console import Group

    if not made.files:
        return render_text(f"Nothing fits into {made.cap:,} tokens; raise --tokens.", "dim")
    parts: list[RenderableType] = [render_map_title(made)]
    for shown in made.files:
        parts += [render_text(""), *render_map_file(shown)]
    return Group(*parts, render_text(""), render_map_footer(made))


def render_map_title(made: "CodeMap") -> "Text":
    from rich.text import Text

    if not made.about:
        return Text("Most important files", style="bold")
    return Text.assemble(("Most relevant for ", "bold"), render_text(made.about, "bold cyan", 100))


def render_map_file(shown: "RankedMapFile") -> "Iterator[RenderableType]":
    from rich.padding import Padding
    from rich.text import Text

    folder, slash, name = shown.ranked.path.rpartition("/")
    yield Text.assemble(render_text(folder + slash, "dim"), render_text(name, "bold"))
    if shown.ranked.reasons:
        yield Padding(render_text(" · ".join(shown.ranked.reasons), "green"), (0, 0, 0, 2), expand=False)
    for symbol in shown.symbols:
        yield render_symbol_line(shown.ranked.path, symbol)
    if shown.more and shown.symbols:
        yield Text(f"        … {shown.more} more", style="dim")


def render_symbol_line(path: str, symbol: Symbol) -> "Text":
    from rich.text import Text

    text = Text.assemble(
        (f"{symbol.line:6}  ", "dim"), "  " * symbol.name.count("."), render_signature(SymbolPlace(path, symbol))
    )
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


def render_map_footer(made: "CodeMap") -> "Text":
    """What was asked, and what there was room for."""
    history = f", {made.commits:,} commits" if made.commits else ""
    return render_text(
        f"{len(made.files):,} of {made.known:,} files{history}; {made.tokens:,} of {made.cap:,} tokens"
        + ("" if made.about else "; --for TEXT ranks by a goal or question"),
        "dim",
    )
