"""Knowledge: lessons of finished tasks, to approve, reject, edit and search."""

from starlette.responses import Response

from afresh.app.memory.curate_lessons import (
    LessonRow,
    approve_lesson,
    list_lessons,
    reject_lesson,
    rewrite_lesson,
    search_project_lessons,
)
from afresh.core.lesson import LessonStatus
from afresh.errors import BadInput
from afresh.views.file_io import read_text_file
from afresh.web.visit import PageRoute, Visit

LESSON_ORDER = (LessonStatus.DRAFT, LessonStatus.APPROVED, LessonStatus.AGED, LessonStatus.REJECTED)


def show_knowledge(visit: Visit) -> Response:
    listing = list_lessons(visit.project, learn=False)
    wanted = visit.get_query("q").strip()
    return visit.show(
        "knowledge.html",
        rows=sorted(listing.rows, key=lambda row: (LESSON_ORDER.index(row.standing), row.knowledge.id)),
        patterns=listing.patterns,
        skills=listing.skills,
        faults=listing.notes,
        wanted=wanted,
        hits=search_project_lessons(visit.project, wanted, learn=False) if wanted else (),
    )


def find_lesson_row(visit: Visit) -> LessonRow:
    name, listing = visit.get_part("lesson"), list_lessons(visit.project, learn=False)
    lesson_row = next((row for row in (*listing.rows, *listing.patterns) if row.knowledge.id == name), None)
    if lesson_row is None:
        raise BadInput(f"no such lesson: {name}", next="choose one of the list")
    return lesson_row


def show_lesson(visit: Visit) -> Response:
    row = find_lesson_row(visit)
    return visit.show("lesson.html", row=row, text=read_text_file(visit.project.paths.root / row.file))


def judge_lesson(visit: Visit) -> Response:
    name, judge = visit.get_part("lesson"), visit.get_part("judgement")
    with visit.open_to_change() as project:
        if judge == "approve":
            approve_lesson(project, name)
            text = f"{name} is approved: tasks that it fits see it from now on."
        elif judge == "reject":
            reject_lesson(project, name)
            text = f"{name} is rejected and will not be drafted again."
        elif judge == "save":
            rewrite_lesson(project, name, visit.form.get("text", "").rstrip("\n") + "\n")
            return visit.go(visit.link("knowledge", name), f"{name} is saved.")
        else:
            raise BadInput("no such action", next="use the buttons of the page", safe="nothing was changed")
    return visit.go(visit.link("knowledge"), text)


ROUTES = [
    PageRoute("/knowledge", show_knowledge),
    PageRoute("/knowledge/{lesson}", show_lesson),
    PageRoute("/knowledge/{lesson}/{judgement}", judge_lesson, "POST"),
]
