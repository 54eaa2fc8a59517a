"""A map of code, as a person reads it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import said
from afresh.cli.views.symbols import place_json, signature
from afresh.domain.code import Place, Symbol

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from afresh.app.map import Map, Shown


def map_json(made: "Map") -> dict[str, Any]:
    return {
        "for": made.about,
        "files": [
            {
                "path": shown.ranked.path, "score": round(shown.ranked.score, 4), "reasons": list(shown.ranked.reasons),
                "symbols": [place_json(Place(shown.ranked.path, symbol)) for symbol in shown.symbols], "more": shown.more,
            }
            for shown in made.files
        ],
        "known": made.known, "commits": made.commits, "tokens": made.tokens, "cap": made.cap, "text": made.text,
    }  # fmt: skip


def mapped(made: "Map") -> "RenderableType":
    from rich.console import Group

    if not made.files:
        return said(f"Nothing fits into {made.cap:,} tokens; --tokens gives it more.", "dim")
    parts: list[RenderableType] = [title(made)]
    for shown in made.files:
        parts += [said(""), *one_file(shown)]
    return Group(*parts, said(""), footing(made))


def title(made: "Map") -> "Text":
    from rich.text import Text

    if not made.about:
        return Text("What the code hangs on", style="bold")
    return Text.assemble(("What matters for ", "bold"), said(made.about, "bold cyan", 100))


def one_file(shown: "Shown") -> "Iterator[RenderableType]":
    from rich.padding import Padding
    from rich.text import Text

    folder, slash, name = shown.ranked.path.rpartition("/")
    yield Text.assemble(said(folder + slash, "dim"), said(name, "bold"))
    if shown.ranked.reasons:
        yield Padding(said(" · ".join(shown.ranked.reasons), "green"), (0, 0, 0, 2), expand=False)
    for symbol in shown.symbols:
        yield line(shown.ranked.path, symbol)
    if shown.more and shown.symbols:
        yield Text(f"        … {shown.more} more", style="dim")


def line(path: str, symbol: Symbol) -> "Text":
    from rich.text import Text

    text = Text.assemble((f"{symbol.line:6}  ", "dim"), "  " * symbol.name.count("."), signature(Place(path, symbol)))
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


def footing(made: "Map") -> "Text":
    """What was asked, and what there was room for."""
    history = f", {made.commits:,} commits" if made.commits else ""
    return said(
        f"{len(made.files):,} of {made.known:,} files{history}; {made.tokens:,} of {made.cap:,} tokens"
        + ("" if made.about else "; --for TEXT shows what matters for it"),
        "dim",
    )
