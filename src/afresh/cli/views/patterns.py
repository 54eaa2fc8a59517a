"""Patterns: where each is from, and what would cross."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import render_fields, make_table, render_text
from afresh.domain.knowledge import Lesson, LessonStatus

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from afresh.app.knowledge import LessonRow
    from afresh.app.sharing import SharingOffer

MAX_WORDS_NAMED = 12


def render_patterns(rows: Sequence["LessonRow"]) -> "RenderableType":
    """For people only: no window tells where a pattern is from."""
    table = make_table("pattern", "state", "about", "from", ">used", ">passed")
    for row in sorted(rows, key=lambda row: (row.standing is not LessonStatus.APPROVED, -row.knowledge.uses)):
        one = row.knowledge
        used = f"{one.uses} of {one.shown}" if one.shown else ""
        state = render_text(row.standing, "green" if row.standing is LessonStatus.APPROVED else "dim").append(
            f"\n{one.by}", "dim"
        )
        table.add_row(
            render_text(one.id, "bold"),
            state,
            render_text(one.title, limit=100),
            render_pattern_origin(one),
            used,
            str(one.successes or ""),
        )
    return table


def render_pattern_origin(one: Lesson) -> "Text":
    name = one.project.rstrip("/").rpartition("/")[2]
    return render_text(name or "a person").append(f"\n{one.source}", "dim")


def sharing_offer_to_json(made: "SharingOffer", pattern: Lesson | None) -> dict[str, Any]:
    return {
        "object": made.origin.id,
        "crossed": pattern.id if pattern else None,
        "text": {key: asdict(made.text)[key] for key in ("title", "tags", "body")},
        "names": list(made.telling),
        "unsure": made.unsure,
    }


def render_sharing_offer(made: "SharingOffer", command: str) -> "RenderableType":
    from rich.console import Group

    one = made.text
    parts: list[RenderableType] = [
        render_text(f"This would cross into your other projects, and nothing else of {made.origin.id}:"),
        "",
        render_fields([("title", render_text(one.title)), ("tags", render_text(", ".join(one.tags)))]),
        "",
        *[highlight_telling_words(line, made.telling) for line in one.body.strip().splitlines()],
        "",
        render_sharing_warning(made),
        render_text(f"Nothing has crossed yet. To let it: {command}"),
    ]
    return Group(*parts)


def render_sharing_warning(made: "SharingOffer") -> "Text":
    if made.unsure:
        return render_text("This project is too large to be looked through: read what stands above with care.", "yellow")
    if not made.telling:
        return render_text("No name, path or literal of this project was found in it.", "green")
    words = list(dict.fromkeys(word.strip("`'\"") for word in made.telling if any(map(str.isalpha, word)))) or made.telling
    more = f" and {len(words) - MAX_WORDS_NAMED} more" if len(words) > MAX_WORDS_NAMED else ""
    return render_text(f"It may tell of this project: {', '.join(words[:MAX_WORDS_NAMED])}{more}", "yellow")


def highlight_telling_words(line: str, telling: Sequence[str]) -> "Text":
    text = render_text(line.lstrip("# "), "bold") if line.startswith("#") else render_text(line)
    text.highlight_words([word for word in telling if len(word) > 1], "yellow")
    return text
