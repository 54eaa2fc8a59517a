"""`afresh allow`: what a task may do beyond the ordinary: change tests, use the network."""

from typing import TYPE_CHECKING

import click

from afresh.cli.options import open_current_project
from afresh.views.page import Page

if TYPE_CHECKING:
    from afresh.app.dialogue.allow_network import PermissionChange
    from afresh.app.project import Project
    from afresh.core.state import State


@click.command("allow")
@click.argument("task")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--network", "addresses", multiple=True, metavar="HOST", help="Host that its commands may reach. Repeatable.")
@click.option(
    "--command",
    "commands",
    multiple=True,
    metavar="COMMAND",
    help="Command that may reach any public address; `...` at its end stands for whatever follows. Repeatable.",
)
@click.option("--always", is_flag=True, help="For all tasks of this repository; kept in your own config.toml.")
@click.option("--revoke", is_flag=True, help="Take back what is named, or all of the network.")
def command(task: str, paths: tuple[str, ...], always: bool, revoke: bool, **named) -> Page:
    """Let TASK change tests or use the network; with TASK alone, list what it may do.

    PATH is a test file, a folder, a single test (PATH::TEST), a configuration file, or one that acts unasked (CI, hooks). HOST is
    such as packages.example.org, *.example.org or example.org:8080. If the task asks about it, this answers it.
    """
    from afresh.app.dialogue.allow_network import PermissionChange
    from afresh.app.orders.tasks import find_task
    from afresh.views.tasks import permissions_to_json

    change = PermissionChange(named["addresses"], named["commands"], always)
    refuse_odd_options(paths, change, revoke)
    project = open_current_project()
    state = change_permissions(project, find_task(project, task), paths, change, revoke)
    return Page(permissions_to_json(state), "\n".join(describe_change(state, paths, change, revoke)))


def refuse_odd_options(paths: tuple[str, ...], change: "PermissionChange", revoke: bool) -> None:
    network = change.addresses or change.commands
    if paths and (revoke or change.always):
        raise click.UsageError("--always and --revoke are for --network and --command")
    if change.always and not network and not revoke:
        raise click.UsageError("--always needs --network or --command")


def change_permissions(
    project: "Project", task: str, paths: tuple[str, ...], change: "PermissionChange", revoke: bool
) -> "State":
    from afresh.app.dialogue.allow_network import allow_network, revoke_network
    from afresh.app.dialogue.allow_test_changes import allow_test_changes

    if revoke:
        return revoke_network(project, task, change)
    opens = bool(change.permissions)  # what can't be used is found before anything is allowed
    state = allow_test_changes(project, task, paths) if paths else project.store.load(task)
    return allow_network(project, task, change) if opens else state


def describe_change(state: "State", paths: tuple[str, ...], change: "PermissionChange", revoke: bool) -> list[str]:
    """Say what the task may do now, and which command continues it."""
    from afresh.core.task import TaskStatus
    from afresh.views.task_facts import describe_permission, list_allowed

    if (not paths and not change.permissions) or revoke:
        return (
            [f"{state.task.id} may:", *(f"  {line}" for line in list_allowed(state))]
            if list_allowed(state)
            else [f"{state.task.id} may change existing tests only if its goal calls for it, and has no network"]
        )
    lines = [f"{state.task.id} may change {', '.join(paths)}"] if paths else []
    lines += [f"{state.task.id} may {describe_permission(permission)}" for permission in change.permissions]
    asks = state.status is TaskStatus.BLOCKED
    return [*lines, "it has an open question: afresh answer" if asks else f"`afresh resume {state.task.id}` continues it"]
