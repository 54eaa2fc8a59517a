"""Patterns: where each is from, and what would cross."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import fields, listing, said
from afresh.domain.knowledge import Knowledge, Standing

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from afresh.app.knowledge import Row
    from afresh.app.sharing import Offer

NAMED = 12


def pattern_list(rows: Sequence["Row"]) -> "RenderableType":
    """For people only: no window tells where a pattern is from."""
    table = listing("pattern", "state", "about", "from", ">used", ">passed")
    for row in sorted(rows, key=lambda row: (row.standing is not Standing.APPROVED, -row.knowledge.uses)):
        one = row.knowledge
        used = f"{one.uses} of {one.shown}" if one.shown else ""
        state = said(row.standing, "green" if row.standing is Standing.APPROVED else "dim").append(f"\n{one.by}", "dim")
        table.add_row(said(one.id, "bold"), state, said(one.title, limit=100), came_from(one), used, str(one.successes or ""))
    return table


def came_from(one: Knowledge) -> "Text":
    name = one.project.rstrip("/").rpartition("/")[2]
    return said(name or "a person").append(f"\n{one.source}", "dim")


def offer_json(made: "Offer", pattern: Knowledge | None) -> dict[str, Any]:
    return {
        "object": made.origin.id,
        "crossed": pattern.id if pattern else None,
        "text": {key: asdict(made.text)[key] for key in ("title", "tags", "body")},
        "names": list(made.telling),
        "unsure": made.unsure,
    }


def offer_shown(made: "Offer", command: str) -> "RenderableType":
    from rich.console import Group

    one = made.text
    parts: list[RenderableType] = [
        said(f"This would cross into your other projects, and nothing else of {made.origin.id}:"),
        "",
        fields([("title", said(one.title)), ("tags", said(", ".join(one.tags)))]),
        "",
        *[highlighted(line, made.telling) for line in one.body.strip().splitlines()],
        "",
        warned(made),
        said(f"Nothing has crossed yet. To let it: {command}"),
    ]
    return Group(*parts)


def warned(made: "Offer") -> "Text":
    if made.unsure:
        return said("This project is too large to be looked through: read what stands above with care.", "yellow")
    if not made.telling:
        return said("No name, path or literal of this project was found in it.", "green")
    words = list(dict.fromkeys(word.strip("`'\"") for word in made.telling if any(map(str.isalpha, word)))) or made.telling
    more = f" and {len(words) - NAMED} more" if len(words) > NAMED else ""
    return said(f"It may tell of this project: {', '.join(words[:NAMED])}{more}", "yellow")


def highlighted(line: str, telling: Sequence[str]) -> "Text":
    text = said(line.lstrip("# "), "bold") if line.startswith("#") else said(line)
    text.highlight_words([word for word in telling if len(word) > 1], "yellow")
    return text
