"""`afresh knowledge`: lists, approves, edits and shares lessons."""

from pathlib import Path

import click

from afresh.app.memory import curate_lessons as lessons
from afresh.app.project import Project
from afresh.cli.options import with_project
from afresh.cli.render.lessons import (
    build_lesson,
    build_lesson_listing,
    build_shared_lesson,
    lesson_to_json,
)
from afresh.views.page import Page

name_argument = click.argument("name", metavar="KO")


@click.group()
def command() -> None:
    """List, approve and reject what finished tasks have learnt."""


@command.command("list")
@with_project
def list_command(project: Project) -> Page:
    """List all lessons, with drafts that wait for approval."""
    return build_lesson_listing(lessons.list_lessons(project))


@command.command()
@name_argument
@click.option("--edit", is_flag=True, help="Open it in $VISUAL or $EDITOR first, then check it.")
@with_project
def show(project: Project, name: str, edit: bool) -> Page:
    """Show one lesson."""
    path = lessons.find_lesson_file(project, name) if edit else None
    if path:
        click.edit(filename=str(path))
    return build_lesson(lessons.read_lesson_file(project, path) if path else lessons.find_lesson(project, name))


@command.command()
@name_argument
@with_project
def approve(project: Project, name: str) -> Page:
    """Approve a lesson: matching tasks will get it."""
    return make_standing_output(lessons.approve_lesson(project, name))


@command.command()
@name_argument
@with_project
def reject(project: Project, name: str) -> Page:
    """Reject a lesson: no task will get it.

    The file is kept, so that the same lesson is not drafted again.
    """
    return make_standing_output(lessons.reject_lesson(project, name))


@command.command()
@name_argument
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@with_project
def export(project: Project, name: str, folder: Path | None) -> Page:
    """Write an approved lesson as an Agent Skill.

    The folder DIR defaults to .afresh/skills.
    """
    path = lessons.export_lesson_as_skill(project, name, folder)
    return Page({"file": str(path)}, f"written: {path}")


@command.command()
@name_argument
@click.option("--yes", is_flag=True, help="Share it; without this, only preview.")
@with_project
def share(project: Project, name: str, yes: bool) -> Page:
    """Share an approved lesson with your other projects.

    Without --yes, show exactly what would be shared.
    """
    lesson = lessons.find_lesson_to_share(project, name)
    return build_shared_lesson(lesson, lessons.share_lesson(project, lesson) if yes else None)


def make_standing_output(row: lessons.LessonRow) -> Page:
    return Page(lesson_to_json(row), f"{row.knowledge.id} is {row.standing}: {row.file}")
