"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from afresh.app.project import Project
    from afresh.app.read_tasks import TaskReader


def default_to_empty(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    """Return an empty string if the option was not given."""
    return value or ""


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
model_option = click.option(
    "--model",
    "-m",
    default="",
    metavar="M",
    help="One of your models, provider:NAME, mailbox:DIR or offline (see `afresh models`).",
)
mode_option = click.option(
    "--mode",
    callback=default_to_empty,
    type=click.Choice(("autonomous", "supervised", "interactive")),
    help="Run unattended, confirm each new phase, or confirm each step.",
)
test_changes_option = click.option(
    "--allow-test-changes",
    "test_changes",
    multiple=True,
    metavar="PATH",
    help="Test file, folder or configuration file that it may change. Repeatable.",
)
no_sandbox_option = click.option("--no-sandbox", is_flag=True, help="Run commands without a sandbox. Only for code you trust.")


def add_run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a run; together they are `RunFlags`."""
    for option in (json_option, quiet_option, no_sandbox_option, mode_option):
        function = option(function)
    return function


class TypeOption(click.Option):
    """An option that loads the list of task types only for --help."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from afresh.app.inspect_templates import open_templates_at
        from afresh.config.templates.load_template import list_task_types

        self.help = f"Task type: {', '.join(list_task_types(open_templates_at(Path.cwd())))}."
        return super().get_help_record(ctx)


def add_order_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that describe a task, for `run` and `add`."""
    options = [
        click.argument("goal"),
        click.option("--type", "-t", "type_", cls=TypeOption, default="", metavar="T"),
        click.option(
            "--check", "-c", "checks", multiple=True, metavar="COMMAND", help="Command that must exit 0 when done. Repeatable."
        ),
        click.option(
            "--budget", default=0, type=click.IntRange(min=0), metavar="N", help="Maximum tokens per call (default: by type)."
        ),
        click.option(
            "--max-budget",
            default=0,
            type=click.IntRange(min=0),
            metavar="N",
            help="Upper limit if the budget is raised automatically (default: 4 × --budget).",
        ),
        click.option(
            "--thinking",
            default=None,
            type=click.IntRange(min=0),
            metavar="N",
            help="Extra tokens for thinking; 0 for none (default: by type).",
        ),
        click.option(
            "--steps", default=0, type=click.IntRange(min=0), metavar="N", help="Steps before it stops and asks (default: 60)."
        ),
        click.option(
            "--loop",
            callback=default_to_empty,
            type=click.Choice(("react", "plan_execute")),
            help="Act step by step, or plan first (default: by type).",
        ),
        test_changes_option,
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
