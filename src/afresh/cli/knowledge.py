"""`afresh knowledge`: what tasks have learnt, to look at, to confirm, to correct."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from afresh.cli.common import json_option

if TYPE_CHECKING:
    from afresh.app.knowledge import Row


@click.group()
def command() -> None:
    """What finished tasks have learnt: listed, shown, searched, and approved or rejected by you."""


@command.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List what there is, what waits for you, and what came of it."""
    from afresh.app.knowledge import listing
    from afresh.cli.common import desk, print_json, show
    from afresh.cli.views.knowledge import knowledge_list, knowledge_list_json

    found = listing(desk())
    if as_json:
        return print_json(knowledge_list_json(found))
    return show(knowledge_list(found))


@command.command("show")
@click.argument("name", metavar="KO")
@json_option
def show_(name: str, as_json: bool) -> None:
    """Show one object."""
    from afresh.app.knowledge import find
    from afresh.cli.common import desk

    tell(find(desk(), name), as_json)


@command.command()
@click.argument("name", metavar="KO")
@json_option
def approve(name: str, as_json: bool) -> None:
    """Confirm that an object is right: tasks that it fits will be shown it."""
    from afresh.app.knowledge import approve
    from afresh.cli.common import desk

    decided(approve(desk(), name), as_json)


@command.command()
@click.argument("name", metavar="KO")
@json_option
def reject(name: str, as_json: bool) -> None:
    """Never show an object again. The file is kept, so that the same is not drafted once more."""
    from afresh.app.knowledge import reject
    from afresh.cli.common import desk

    decided(reject(desk(), name), as_json)


@command.command()
@click.argument("name", metavar="KO")
@json_option
def edit(name: str, as_json: bool) -> None:
    """Open an object in your editor ($VISUAL, $EDITOR), and check it afterwards."""
    from afresh.app.knowledge import at, file_of
    from afresh.cli.common import desk

    here = desk()
    path = file_of(here, name)
    click.edit(filename=str(path))
    tell(at(here, path), as_json)


@command.command()
@click.argument("question", nargs=-1, required=True)
@json_option
def search(question: tuple[str, ...], as_json: bool) -> None:
    """Show what a task with this goal would be shown, and how well it fits."""
    from afresh.app.knowledge import search
    from afresh.cli.common import desk, print_json, show
    from afresh.cli.views.knowledge import knowledge_search, knowledge_search_json

    found = search(desk(), " ".join(question))
    if as_json:
        return print_json(knowledge_search_json(found))
    return show(knowledge_search(found))


@command.command()
@click.argument("name", metavar="KO")
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@json_option
def export(name: str, folder: Path | None, as_json: bool) -> None:
    """Write an approved object as an Agent Skill: a folder with SKILL.md, in DIR (.afresh/skills)."""
    from afresh.app.knowledge import as_skill
    from afresh.cli.common import desk, print_json

    path = as_skill(desk(), name, folder)
    if as_json:
        return print_json({"file": str(path)})
    return click.echo(f"written: {path}")


@command.command()
@click.argument("name", metavar="KO")
@click.option("--plain", is_flag=True, help="Only the lines that name nothing of this project.")
@click.option("--yes", is_flag=True, help="You have seen what crosses: let it.")
@json_option
def share(name: str, plain: bool, yes: bool, as_json: bool) -> None:
    """Let an approved object cross into your other projects, as a pattern. Without --yes: show exactly what would cross."""
    from afresh.app.sharing import offer
    from afresh.app.sharing import share as cross
    from afresh.cli.common import desk, print_json, show
    from afresh.cli.views.patterns import offer_json, offer_shown

    here = desk()
    made = offer(here, name, plain)
    pattern = cross(here, made) if yes else None
    if as_json:
        return print_json(offer_json(made, pattern))
    if pattern:
        return click.echo(f"{made.origin.id} has crossed: your other projects may be shown it as {pattern.id}")
    return show(offer_shown(made, f"afresh knowledge share {made.origin.id}{' --plain' if plain else ''} --yes"))


def tell(row: "Row", as_json: bool) -> None:
    from afresh.cli.common import print_json, show
    from afresh.cli.views.knowledge import knowledge_json, knowledge_show

    if as_json:
        print_json(knowledge_json(row))
    else:
        show(knowledge_show(row))


def decided(row: "Row", as_json: bool) -> None:
    from afresh.cli.common import print_json
    from afresh.cli.views.knowledge import knowledge_json

    if as_json:
        print_json(knowledge_json(row))
    else:
        click.echo(f"{row.knowledge.id} is {row.standing}: {row.file}")
