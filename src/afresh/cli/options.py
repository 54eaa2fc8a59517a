"""What the commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from afresh.app.project import Project
    from afresh.app.read_tasks import TaskReader


def default_to_empty(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    """A choice that need not be made."""
    return value or ""


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress.")
model_option = click.option(
    "--model",
    "-m",
    default="",
    metavar="M",
    help="A name of yours, provider:NAME, mailbox:DIR or offline; `afresh models` lists them.",
)
mode_option = click.option(
    "--mode",
    callback=default_to_empty,
    type=click.Choice(("autonomous", "supervised", "interactive")),
    help="How closely you follow: not at all, at every change of phase, or after every step.",
)
no_sandbox_option = click.option("--no-sandbox", is_flag=True, help="Run commands unconfined. Only for code you trust.")


def add_run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say how a run goes; together they are a `working.Way`."""
    for option in (json_option, quiet_option, no_sandbox_option, mode_option):
        function = option(function)
    return function


class TypeOption(click.Option):
    """Names the types that there are only when help is asked for."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from afresh.app.inspect_templates import open_templates_at
        from afresh.config.templates.load_template import list_task_types

        self.help = f"Kind of task: {', '.join(list_task_types(open_templates_at(Path.cwd())))}."
        return super().get_help_record(ctx)


def add_order_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that describe a task, for `run` and `add`."""
    options = [
        click.argument("goal"),
        click.option("--type", "-t", "type_", cls=TypeOption, default="", metavar="T"),
        click.option("--check", "-c", "checks", multiple=True, metavar="COMMAND", help="Must exit 0 when done; may be repeated."),
        click.option(
            "--budget", default=0, type=click.IntRange(min=0), metavar="N", help="Ceiling in tokens for each call (by type)."
        ),
        click.option(
            "--max-budget",
            default=0,
            type=click.IntRange(min=0),
            metavar="N",
            help="Highest ceiling when there is a reason to raise it (four times --budget; the same as --budget: never raised).",
        ),
        click.option(
            "--thinking",
            default=None,
            type=click.IntRange(min=0),
            metavar="N",
            help="Tokens for a provider's model to think with, on top of the ceiling; 0: none (by type).",
        ),
        click.option("--steps", default=0, type=click.IntRange(min=0), metavar="N", help="Steps before it stops and asks (60)."),
        click.option(
            "--loop",
            callback=default_to_empty,
            type=click.Choice(("react", "plan_execute")),
            help="One action after another, or a plan first and then its items (by type).",
        ),
        model_option,
    ]
    for option in reversed(options):
        function = option(function)
    return function


def read_current_tasks() -> "TaskReader":
    from afresh.app.read_tasks import open_task_reader

    return open_task_reader(Path.cwd())


def open_current_project() -> "Project":
    from afresh.app.project import open_project

    return open_project(Path.cwd())
