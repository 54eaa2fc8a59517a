"""`afresh knowledge`: lists, approves, edits and shares lessons."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from afresh.cli.options import json_option, open_current_project
from afresh.cli.output import print_json, print_rendered

if TYPE_CHECKING:
    from afresh.app.memory.curate_lessons import LessonRow


@click.group()
def command() -> None:
    """List, approve and reject what finished tasks have learnt."""


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List all lessons, with drafts that wait for approval."""
    from afresh.app.memory.curate_lessons import list_lessons
    from afresh.cli.render.lessons import lesson_listing_to_json, render_lesson_listing

    found = list_lessons(open_current_project())
    if as_json:
        return print_json(lesson_listing_to_json(found))
    return print_rendered(render_lesson_listing(found))


@command.command()
@click.argument("name", metavar="KO")
@json_option
def show(name: str, as_json: bool) -> None:
    """Show one lesson."""
    from afresh.app.memory.curate_lessons import find_lesson

    print_lesson(find_lesson(open_current_project(), name), as_json)


@command.command()
@click.argument("name", metavar="KO")
@json_option
def approve(name: str, as_json: bool) -> None:
    """Approve a lesson: matching tasks will get it."""
    from afresh.app.memory.curate_lessons import approve_lesson

    print_lesson_judgement(approve_lesson(open_current_project(), name), as_json)


@command.command()
@click.argument("name", metavar="KO")
@json_option
def reject(name: str, as_json: bool) -> None:
    """Reject a lesson: no task will get it.

    The file is kept, so that the same lesson is not drafted again.
    """
    from afresh.app.memory.curate_lessons import reject_lesson

    print_lesson_judgement(reject_lesson(open_current_project(), name), as_json)


@command.command()
@click.argument("name", metavar="KO")
@json_option
def edit(name: str, as_json: bool) -> None:
    """Open a lesson in $VISUAL or $EDITOR, then check it."""
    from afresh.app.memory.curate_lessons import find_lesson_file, read_lesson_file

    project = open_current_project()
    path = find_lesson_file(project, name)
    click.edit(filename=str(path))
    print_lesson(read_lesson_file(project, path), as_json)


@command.command()
@click.argument("name", metavar="KO")
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@json_option
def export(name: str, folder: Path | None, as_json: bool) -> None:
    """Write an approved lesson as an Agent Skill.

    The folder DIR defaults to .afresh/skills.
    """
    from afresh.app.memory.curate_lessons import export_lesson_as_skill

    path = export_lesson_as_skill(open_current_project(), name, folder)
    if as_json:
        return print_json({"file": str(path)})
    return click.echo(f"written: {path}")


@command.command()
@click.argument("name", metavar="KO")
@click.option("--yes", is_flag=True, help="Share it; without this, only preview.")
@json_option
def share(name: str, yes: bool, as_json: bool) -> None:
    """Share an approved lesson with your other projects.

    Without --yes, show exactly what would be shared.
    """
    from afresh.app.memory.curate_lessons import find_lesson_to_share, share_lesson
    from afresh.cli.render.lessons import render_lesson_to_share, shared_lesson_to_json

    project = open_current_project()
    one = find_lesson_to_share(project, name)
    pattern = share_lesson(project, one) if yes else None
    if as_json:
        return print_json(shared_lesson_to_json(one, pattern))
    if pattern:
        return click.echo(f"shared {one.id} with your other projects as {pattern.id}")
    return print_rendered(render_lesson_to_share(one))


def print_lesson(row: "LessonRow", as_json: bool) -> None:
    from afresh.cli.render.lessons import lesson_to_json, render_lesson

    if as_json:
        print_json(lesson_to_json(row))
    else:
        print_rendered(render_lesson(row))


def print_lesson_judgement(row: "LessonRow", as_json: bool) -> None:
    from afresh.cli.render.lessons import lesson_to_json

    if as_json:
        print_json(lesson_to_json(row))
    else:
        click.echo(f"{row.knowledge.id} is {row.standing}: {row.file}")
