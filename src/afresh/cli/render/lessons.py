"""Lessons: a list, one in full, and one as it would be shared."""

from dataclasses import asdict
from typing import Any

from afresh.app.memory.curate_lessons import LessonListing, LessonRow
from afresh.core.lesson import PATTERN_ID_PREFIX, Lesson, LessonStatus
from afresh.core.truncate import to_one_line
from afresh.views.page import Block, Fields, Heading, Line, Page, Table

NO_LESSONS_YET = (
    "No lessons yet. A task of two or more steps leaves one when it is verified and has changed something, and a draft when it "
    "is blocked or failed and has found something out. Tasks of the model `offline` leave none."
)
STANDING_COLOURS = {
    LessonStatus.APPROVED: "green",
    LessonStatus.DRAFT: "yellow",
    LessonStatus.REJECTED: "red",
    LessonStatus.AGED: "dim",
}


def lesson_to_json(row: LessonRow) -> dict[str, Any]:
    return {**asdict(row.knowledge), "standing": row.standing, "why": row.why, "file": str(row.file)}


def build_lesson_listing(listing: LessonListing) -> Page:
    data = {
        "objects": [{**lesson_to_json(row), "body": None} for row in listing.rows],
        "skills": [{"path": path, "description": description} for path, description in listing.skills],
        "notes": [{"file": note.file, "line": note.line, "what": note.what} for note in listing.notes],
        "patterns": [{**lesson_to_json(row), "body": None} for row in listing.patterns],
    }
    rows = sorted(listing.rows, key=lambda row: (list(STANDING_COLOURS).index(row.standing), -row.knowledge.uses))
    blocks: list[Block] = (
        [Table("lesson|state|about|>used|>passed|>tokens saved", [*map(_list_cells, rows)])] if rows else [NO_LESSONS_YET]
    )
    if any(row.standing is LessonStatus.DRAFT for row in listing.rows):
        blocks.append([("\nDrafts need your decision: afresh knowledge show KO, then approve or reject it.", "dim")])
    if listing.skills:
        skills = [(to_one_line(path, 80), to_one_line(description, 160)) for path, description in listing.skills]
        blocks += [Heading("Skills of the repository"), Fields(skills)]
    if listing.patterns:
        patterns = sorted(listing.patterns, key=lambda row: (row.standing is not LessonStatus.APPROVED, -row.knowledge.uses))
        blocks += [
            Heading("Patterns for all your projects"),
            Table("pattern|state|about|from|>used|>passed", [*map(_list_pattern_cells, patterns)]),
        ]
    if listing.notes:
        blocks += [Heading("Unusable files"), *([(str(note), "yellow")] for note in listing.notes)]
    return Page(data, blocks)


def _list_cells(row: LessonRow) -> list[Line]:
    lesson, style = row.knowledge, STANDING_COLOURS[row.standing]
    state = [(row.standing, style), *([] if row.standing is LessonStatus.DRAFT else [(f"\n{lesson.by}", "dim")])]
    title = [(to_one_line(lesson.title, 100), ""), *([(f"\n{to_one_line(row.why, 120)}", "dim")] if row.why else [])]
    used, saved = (
        f"{lesson.uses} of {lesson.shown}" if lesson.shown else "",
        "" if lesson.tokens_saved is None else f"{lesson.tokens_saved:,}",
    )
    return [[(lesson.id, "bold")], state, title, used, str(lesson.successes or ""), saved]


def _list_pattern_cells(row: LessonRow) -> list[Line]:
    lesson, style = row.knowledge, "green" if row.standing is LessonStatus.APPROVED else "dim"
    origin = [(lesson.project.rstrip("/").rpartition("/")[2] or "a person", ""), (f"\n{lesson.source}", "dim")]
    used = f"{lesson.uses} of {lesson.shown}" if lesson.shown else ""
    return [
        [(lesson.id, "bold")],
        [(row.standing, style), (f"\n{lesson.by}", "dim")],
        to_one_line(lesson.title, 100),
        origin,
        used,
        str(lesson.successes or ""),
    ]


def build_lesson(row: LessonRow) -> Page:
    knowledge = row.knowledge
    state = [
        (row.standing, STANDING_COLOURS[row.standing]),
        ("" if row.standing is LessonStatus.DRAFT else f", {knowledge.by}", "dim"),
        (f": {row.why}" if row.why else "", ""),
    ]
    origin = knowledge.project if knowledge.id.startswith(PATTERN_ID_PREFIX) else ""
    fields = [
        ("state", state),
        ("tags", ", ".join(knowledge.tags)),
        ("learnt from", " in ".join(filter(None, (knowledge.source, origin))) or "a person"),
        ("effect", describe_lesson_effect(knowledge)),
        ("file", str(row.file)),
    ]
    return Page(
        lesson_to_json(row),
        [
            [(knowledge.id, "bold"), (f" {knowledge.title}", "")],
            "",
            Fields([pair for pair in fields if pair[1]]),
            "",
            *_list_body(knowledge.body),
        ],
    )


def _list_body(text: str) -> list[Block]:
    return [[(line.lstrip("# "), "bold" if line.startswith("#") else "")] for line in text.strip().splitlines()]


def build_shared_lesson(lesson: Lesson, pattern: Lesson | None) -> Page:
    data = {
        "object": lesson.id,
        "crossed": pattern.id if pattern else None,
        "text": {"title": lesson.title, "tags": list(lesson.tags), "body": lesson.body},
    }
    if pattern:
        return Page(data, f"shared {lesson.id} with your other projects as {pattern.id}")
    return Page(
        data,
        [
            f"This text of {lesson.id} would be shared with your other projects, nothing else:\n",
            Fields([("title", lesson.title), ("tags", ", ".join(lesson.tags))]),
            "",
            *_list_body(lesson.body),
            [("\nAny name, path or number in it is shown to them, too.", "yellow")],
            f"Nothing is shared yet. To share it: afresh knowledge share {lesson.id} --yes",
        ],
    )


def describe_lesson_effect(lesson: Lesson) -> str:
    if not lesson.shown:
        return "not used in a task yet"
    times = "once" if lesson.uses == 1 else f"{lesson.uses} times"
    used = f"used {times}, {lesson.successes} verified, last {lesson.last_used[:10]}" if lesson.uses else "never used"
    saved = "" if lesson.tokens_saved is None else f"; {lesson.tokens_saved:,} tokens saved against comparable tasks"
    return f"shown to {lesson.shown} {'task' if lesson.shown == 1 else 'tasks'}, {used}{saved}"
