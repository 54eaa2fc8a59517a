"""Renders lessons: a list, one in full, and matches for a goal."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from afresh.app.memory.curate_lessons import LessonListing, LessonRow
from afresh.cli.render.parts import make_table, render_fields, render_heading, render_text
from afresh.core.lesson import PATTERN_ID_PREFIX, Lesson, LessonStatus
from afresh.core.truncate import to_one_line

NO_LESSONS_YET = (
    "No lessons yet. A task of two or more steps leaves one when it is verified and has changed something, and a draft when it "
    "is blocked or failed and has found something out. Tasks of the model `offline` leave none."
)


def render_patterns(rows: Sequence[LessonRow]) -> RenderableType:
    """Render patterns with their origin, which prompts never show."""
    table = make_table("pattern|state|about|from|>used|>passed")
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


def render_pattern_origin(one: Lesson) -> Text:
    name = one.project.rstrip("/").rpartition("/")[2]
    return render_text(name or "a person").append(f"\n{one.source}", "dim")


def shared_lesson_to_json(one: Lesson, pattern: Lesson | None) -> dict[str, Any]:
    text = {"title": one.title, "tags": list(one.tags), "body": one.body}
    return {"object": one.id, "crossed": pattern.id if pattern else None, "text": text}


def render_lesson_to_share(one: Lesson) -> RenderableType:
    body = [render_text(line.lstrip("# "), "bold" if line.startswith("#") else "") for line in one.body.splitlines()]
    return Group(
        render_text(f"This text of {one.id} would be shared with your other projects, nothing else:\n"),
        render_fields([("title", render_text(one.title)), ("tags", render_text(", ".join(one.tags)))]),
        "",
        *body,
        render_text("\nAny name, path or number in it is shown to them, too.", "yellow"),
        render_text(f"Nothing is shared yet. To share it: afresh knowledge share {one.id} --yes"),
    )


STANDING_COLOURS = {
    LessonStatus.APPROVED: "green",
    LessonStatus.DRAFT: "yellow",
    LessonStatus.REJECTED: "red",
    LessonStatus.AGED: "dim",
}


def lesson_to_json(row: LessonRow) -> dict[str, Any]:
    return {**asdict(row.knowledge), "standing": row.standing, "why": row.why, "file": str(row.file)}


def lesson_listing_to_json(found: LessonListing) -> dict[str, Any]:
    return {
        "objects": [{**lesson_to_json(row), "body": None} for row in found.rows],
        "skills": [{"path": path, "description": description} for path, description in found.skills],
        "notes": [{"file": note.file, "line": note.line, "what": note.what} for note in found.notes],
        "patterns": [{**lesson_to_json(row), "body": None} for row in found.patterns],
    }


def render_lesson_listing(found: LessonListing) -> RenderableType:
    parts: list[RenderableType] = []
    if found.rows:
        table = make_table("lesson|state|about|>used|>passed|>tokens saved")
        for row in sorted(found.rows, key=lambda row: (list(STANDING_COLOURS).index(row.standing), -row.knowledge.uses)):
            one = row.knowledge
            saved = "" if one.tokens_saved is None else f"{one.tokens_saved:,}"
            used = f"{one.uses} of {one.shown}" if one.shown else ""
            table.add_row(
                render_text(one.id, "bold"),
                render_lesson_standing(row),
                render_lesson_title(row),
                used,
                str(one.successes or ""),
                saved,
            )
        parts.append(table)
        if any(row.standing is LessonStatus.DRAFT for row in found.rows):
            parts.append(render_text("\nDrafts need your decision: afresh knowledge show KO, then approve or reject it.", "dim"))
    else:
        parts.append(Text(NO_LESSONS_YET))
    if found.skills:
        rows = [(to_one_line(path, 80), render_text(description, limit=160)) for path, description in found.skills]
        parts += [render_heading("Skills of the repository"), render_fields(rows)]
    if found.patterns:
        parts += [render_heading("Patterns for all your projects"), render_patterns(found.patterns)]
    if found.notes:
        parts += [render_heading("Unusable files"), *[render_text(str(note), "yellow") for note in found.notes]]
    return Group(*parts)


def render_lesson_standing(row: LessonRow) -> Text:
    text = render_text(row.standing, STANDING_COLOURS[row.standing])
    return text if row.standing is LessonStatus.DRAFT else text.append(f"\n{row.knowledge.by}", "dim")


def render_lesson_title(row: LessonRow) -> Text:
    text = render_text(row.knowledge.title, limit=100)
    return text.append(f"\n{to_one_line(row.why, 120)}", "dim") if row.why else text


def render_lesson(row: LessonRow) -> RenderableType:
    one = row.knowledge
    rows: list[tuple[str, Any]] = [
        (
            "state",
            Text.assemble(
                render_text(row.standing, STANDING_COLOURS[row.standing]),
                ("" if row.standing is LessonStatus.DRAFT else f", {one.by}", "dim"),
                f": {row.why}" if row.why else "",
            ),
        ),
        ("tags", render_text(", ".join(one.tags))),
        ("learnt from", render_text(" in ".join(filter(None, (one.source, find_lesson_origin(row)))) or "a person")),
        ("effect", render_text(describe_lesson_effect(one))),
        ("file", render_text(str(row.file))),
    ]
    title = Text.assemble((one.id, "bold"), " ", render_text(one.title))
    return Group(title, "", render_fields([pair for pair in rows if str(pair[1])]), "", render_lesson_body(one.body))


def find_lesson_origin(row: LessonRow) -> str:
    """Return the source project of a pattern; shown to people only."""
    return row.knowledge.project if row.knowledge.id.startswith(PATTERN_ID_PREFIX) else ""


def describe_lesson_effect(one: Lesson) -> str:
    if not one.shown:
        return "not used in a task yet"
    times = "once" if one.uses == 1 else f"{one.uses} times"
    used = f"used {times}, {one.successes} verified, last {one.last_used[:10]}" if one.uses else "never used"
    saved = "" if one.tokens_saved is None else f"; {one.tokens_saved:,} tokens saved against comparable tasks"
    return f"shown to {one.shown} {'task' if one.shown == 1 else 'tasks'}, {used}{saved}"


def render_lesson_body(text: str) -> Text:
    shown = Text()
    for line in text.strip().splitlines():
        shown.append_text(render_text(line.lstrip("# "), "bold") if line.startswith("#") else render_text(line)).append("\n")
    shown.rstrip()
    return shown
