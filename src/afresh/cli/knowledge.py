"""`afresh knowledge`: lists, approves, edits and shares lessons."""

from pathlib import Path

import click

from afresh.app.memory import curate_lessons as lessons
from afresh.app.project import Project
from afresh.cli.options import with_project
from afresh.cli.output import Output
from afresh.cli.render.lessons import (
    lesson_listing_to_json,
    lesson_to_json,
    render_lesson,
    render_lesson_listing,
    render_lesson_to_share,
    shared_lesson_to_json,
)

name_argument = click.argument("name", metavar="KO")


@click.group()
def command() -> None:
    """List, approve and reject what finished tasks have learnt."""


@command.command("list")
@with_project
def list_command(project: Project) -> Output:
    """List all lessons, with drafts that wait for approval."""
    listing = lessons.list_lessons(project)
    return Output(lesson_listing_to_json(listing), render_lesson_listing(listing))


@command.command()
@name_argument
@click.option("--edit", is_flag=True, help="Open it in $VISUAL or $EDITOR first, then check it.")
@with_project
def show(project: Project, name: str, edit: bool) -> Output:
    """Show one lesson."""
    path = lessons.find_lesson_file(project, name) if edit else None
    if path:
        click.edit(filename=str(path))
    row = lessons.read_lesson_file(project, path) if path else lessons.find_lesson(project, name)
    return Output(lesson_to_json(row), render_lesson(row))


@command.command()
@name_argument
@with_project
def approve(project: Project, name: str) -> Output:
    """Approve a lesson: matching tasks will get it."""
    return make_standing_output(lessons.approve_lesson(project, name))


@command.command()
@name_argument
@with_project
def reject(project: Project, name: str) -> Output:
    """Reject a lesson: no task will get it.

    The file is kept, so that the same lesson is not drafted again.
    """
    return make_standing_output(lessons.reject_lesson(project, name))


@command.command()
@name_argument
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@with_project
def export(project: Project, name: str, folder: Path | None) -> Output:
    """Write an approved lesson as an Agent Skill.

    The folder DIR defaults to .afresh/skills.
    """
    path = lessons.export_lesson_as_skill(project, name, folder)
    return Output({"file": str(path)}, f"written: {path}")


@command.command()
@name_argument
@click.option("--yes", is_flag=True, help="Share it; without this, only preview.")
@with_project
def share(project: Project, name: str, yes: bool) -> Output:
    """Share an approved lesson with your other projects.

    Without --yes, show exactly what would be shared.
    """
    lesson = lessons.find_lesson_to_share(project, name)
    pattern = lessons.share_lesson(project, lesson) if yes else None
    shared = f"shared {lesson.id} with your other projects as {pattern.id}" if pattern else ""
    return Output(shared_lesson_to_json(lesson, pattern), shared or render_lesson_to_share(lesson))


def make_standing_output(row: lessons.LessonRow) -> Output:
    return Output(lesson_to_json(row), f"{row.knowledge.id} is {row.standing}: {row.file}")
