"""Knowledge objects: what there is, one in full, and what fits a goal."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import fields, heading, listing, said
from afresh.cli.views.patterns import pattern_list
from afresh.domain.knowledge import PATTERN, Knowledge, Standing
from afresh.domain.text import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from afresh.app.knowledge import Listing, Row

COLOURS = {Standing.APPROVED: "green", Standing.DRAFT: "yellow", Standing.REJECTED: "red", Standing.AGED: "dim"}


def knowledge_json(row: "Row") -> dict[str, Any]:
    return {**asdict(row.knowledge), "standing": row.standing, "why": row.why, "file": str(row.file)}


def knowledge_list_json(found: "Listing") -> dict[str, Any]:
    return {
        "objects": [{**knowledge_json(row), "body": None} for row in found.rows],
        "skills": [{"path": path, "description": description} for path, description in found.skills],
        "notes": [asdict(note) for note in found.notes],
        "patterns": [{**knowledge_json(row), "body": None} for row in found.patterns],
    }


def knowledge_list(found: "Listing") -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    if found.rows:
        table = listing("object", "state", "about", ">used", ">passed", ">tokens saved")
        for row in sorted(found.rows, key=lambda row: (list(COLOURS).index(row.standing), -row.knowledge.uses)):
            one = row.knowledge
            saved = "" if one.tokens_saved is None else f"{one.tokens_saved:,}"
            used = f"{one.uses} of {one.shown}" if one.shown else ""
            table.add_row(said(one.id, "bold"), state(row), about(row), used, str(one.successes or ""), saved)
        parts.append(table)
        if any(row.standing is Standing.DRAFT for row in found.rows):
            parts.append(said("\nDrafts wait for you: afresh knowledge show KO, then approve or reject it.", "dim"))
    else:
        parts.append(Text("Nothing yet. A task that is verified after two steps or more leaves what it has learnt here."))
    if found.skills:
        rows = [(one_line(path, 80), said(description, limit=160)) for path, description in found.skills]
        parts += [heading("Skills of the repository"), fields(rows)]
    if found.patterns:
        parts += [heading("Patterns for all your projects"), pattern_list(found.patterns)]
    if found.notes:
        parts += [heading("Can't be used as they are"), *[said(str(note), "yellow") for note in found.notes]]
    return Group(*parts)


def state(row: "Row") -> "Text":
    text = said(row.standing, COLOURS[row.standing])
    return text if row.standing is Standing.DRAFT else text.append(f"\n{row.knowledge.by}", "dim")


def about(row: "Row") -> "Text":
    text = said(row.knowledge.title, limit=100)
    return text.append(f"\n{one_line(row.why, 120)}", "dim") if row.why else text


def knowledge_show(row: "Row") -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    one = row.knowledge
    rows: list[tuple[str, Any]] = [
        (
            "state",
            Text.assemble(
                said(row.standing, COLOURS[row.standing]),
                ("" if row.standing is Standing.DRAFT else f", {one.by}", "dim"),
                f": {row.why}" if row.why else "",
            ),
        ),
        ("tags", said(", ".join(one.tags))),
        ("learnt from", said(" in ".join(filter(None, (one.source, origin(row)))) or "a person")),
        ("effect", said(effect(one))),
        ("file", said(str(row.file))),
    ]
    title = Text.assemble((one.id, "bold"), " ", said(one.title))
    return Group(title, "", fields([pair for pair in rows if str(pair[1])]), "", body(one.body))


def origin(row: "Row") -> str:
    """Of a pattern, the project that it is from; for people only."""
    return row.knowledge.project if row.knowledge.id.startswith(PATTERN) else ""


def effect(one: Knowledge) -> str:
    if not one.shown:
        return "not shown to a task yet"
    times = "once" if one.uses == 1 else f"{one.uses} times"
    used = f"used {times}, {one.successes} verified, last {one.last_used[:10]}" if one.uses else "never used"
    saved = "" if one.tokens_saved is None else f"; {one.tokens_saved:,} tokens saved against comparable tasks"
    return f"shown to {one.shown} {'task' if one.shown == 1 else 'tasks'}, {used}{saved}"


def body(text: str) -> "Text":
    from rich.text import Text

    shown = Text()
    for line in text.strip().splitlines():
        shown.append_text(said(line.lstrip("# "), "bold") if line.startswith("#") else said(line)).append("\n")
    shown.rstrip()
    return shown


def knowledge_search_json(found: Sequence[tuple[str, float, str]]) -> list[dict[str, Any]]:
    return [{"id": id, "fit": round(fit, 2), "text": text} for id, fit, text in found]


def knowledge_search(found: Sequence[tuple[str, float, str]]) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    if not found:
        return Text("Nothing fits: a task with this goal is shown nothing.")
    return Group(*[Text.assemble(said(text), (f"\nfit {fit:.1f}\n", "dim")) for _, fit, text in found])
