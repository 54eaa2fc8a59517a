"""Options that several commands share."""

import sys
from collections.abc import Callable, Mapping
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from afresh.cli.output import wants_json

if TYPE_CHECKING:
    from afresh.app.orders.check_order import OrderTerms
    from afresh.app.project import Project
    from afresh.app.queue.read_tasks import TaskReader
    from afresh.core.event import Event


def default_to_empty(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    """Return an empty string if the option was not given."""
    return value or ""


class WholeNumber(click.IntRange):
    """A whole number between limits, with plain words for one that is not."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            limits = f" from {self.min:,}" if self.min is not None else ""
            limits += f" to {self.max:,}" if self.max is not None else " on" if limits else ""
            self.fail(f"{value!r} is not a whole number{limits}", param, ctx)

    def _describe_range(self) -> str:
        """Not in --help: errors say it."""
        return ""


OPTION_SECTIONS = {
    "What to do": ("type_", "issue", "on", "with_changes"),
    "Or tasks from a list": ("file", "own", "tests", "violations", "dry_run"),
    "Queue": ("priority", "needs", "labels", "due", "project_name"),
    "Checks": ("checks", "no_check", "force"),
    "Limits and permissions": ("knobs", "test_changes", "addresses", "commands", "tools", "no_sandbox"),
    "Model": ("model", "mode"),
}
"""Options of `run` and `add` by what they are about; all others are about output."""


FORMER_OPTIONS = {
    "--budget": "budget", "--max-budget": "max_budget", "--steps": "max_steps", "--thinking": "thinking", "--loop": "loop",
    "--baseline": "baseline",
}  # fmt: skip
"""Former options that `--set` replaces."""


class OrderCommand(click.Command):
    """A command that takes a goal, with its options in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        named = {option.name: record for option in options if (record := option.get_help_record(ctx))}
        for title, names in OPTION_SECTIONS.items():
            if rows := [named.pop(name) for name in names if name in named]:
                with formatter.section(title):
                    formatter.write_dl(rows)
        with formatter.section("Output"):
            formatter.write_dl(list(named.values()))
        settings = [(name, KNOBS[name][0]) for option in options if isinstance(option, KnobOption) for name in option.knobs]
        with formatter.section("Settings for --set"):
            formatter.write_dl(settings)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name not in FORMER_OPTIONS:
                raise
            what = f"`{error.option_name}` is now `--set {FORMER_OPTIONS[error.option_name]}=VALUE`"
            raise click.UsageError(what, ctx) from None
        except click.UsageError as error:
            if "unexpected extra argument" not in error.message:
                raise
            what = f'put the goal in quotes: {ctx.command_path} "fix the bug in parser.py"'
            raise click.UsageError(what, ctx) from None


MAX_PRIORITY = 999_999
priority_type = WholeNumber(-MAX_PRIORITY, MAX_PRIORITY)
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
verbose_option = click.option(
    "--verbose", "-v", is_flag=True, help="Show diffs, all the model says, and what sending the whole history would have cost."
)
model_option = click.option(
    "--model",
    "-m",
    default="",
    metavar="M",
    help="One of `afresh models`, provider:NAME, mailbox:DIR or offline.",
)
mode_option = click.option(
    "--mode",
    callback=default_to_empty,
    type=click.Choice(("autonomous", "supervised", "interactive")),
    metavar="MODE",
    help="autonomous, supervised (confirm each new phase) or interactive (confirm each step).",
)
test_changes_option = click.option(
    "--allow-test-changes",
    "test_changes",
    multiple=True,
    metavar="PATH",
    help="Test, folder, or CI file or hook that it may change. Repeatable.",
)
network_option = click.option(
    "--allow-network",
    "addresses",
    multiple=True,
    metavar="HOST",
    help="Host that its commands may reach (see `afresh allow`). Repeatable.",
)
command_option = click.option(
    "--allow-command",
    "commands",
    multiple=True,
    metavar="COMMAND",
    help="Command that may reach any public address. Repeatable.",
)
no_sandbox_option = click.option("--no-sandbox", is_flag=True, help="Run commands without a sandbox. Only for code you trust.")


notify_option = click.option(
    "--notify",
    default="",
    metavar="COMMAND",
    help="Run COMMAND with a message when it is over or needs an answer; desktop: show a notification.",
)


KNOBS: dict[str, tuple[str, tuple[str, ...] | int]] = {
    "budget": ("most tokens of a call, reply included (default: 4,000 at first, more where needed or cheaper)", 1),
    "max_budget": ("the highest that this limit may become (default: budget if you set it, else 4 × the start)", 1),
    "max_steps": ("steps before it stops and asks (default: 60)", 1),
    "thinking": ("extra tokens for thinking; 0 for none (default: by type)", 0),
    "loop": ("react (step by step) or plan_execute (plan first); default: by type", ("react", "plan_execute")),
    "baseline": ("how often each check runs before the first change: once or twice, to find flaky tests", ("once", "twice")),
}
"""What `--set` sets, by the names that config.toml has: what it means, and its words or smallest number."""
TASK_KNOBS = tuple(name for name in KNOBS if name != "baseline")
"""Settings that are recorded with a task."""
MAX_DIGITS = 12


def parse_knob(name: str, value: str) -> int | str:
    """Return the value as its setting requires. BadParameter says what it may be."""
    able = KNOBS[name][1]
    if isinstance(able, tuple):
        if value not in able:
            raise click.BadParameter(f"{name} should be {' or '.join(able)}, not {value!r}")
        return value
    if not (value.isascii() and value.isdecimal() and len(value) <= MAX_DIGITS and int(value) >= able):
        raise click.BadParameter(f"{name} should be a whole number from {able} on, not {value!r}")
    return int(value)


class KnobOption(click.Option):
    """`--set NAME=VALUE` for some settings; the command gets a dictionary."""

    def __init__(self, *args: Any, knobs: tuple[str, ...], **more: Any) -> None:
        super().__init__(*args, **more)
        self.knobs = knobs

    def process_value(self, ctx: click.Context, value: Any) -> dict[str, int | str]:
        read = dict[str, int | str]()
        for word in super().process_value(ctx, value):
            name, equals, text = word.partition("=")
            if name not in self.knobs or not equals:
                fault = f"no such setting: {name}" if equals else f"{word!r} is not NAME=VALUE"
                raise click.BadParameter(f"{fault}; settings: {', '.join(self.knobs)}", ctx, self)
            read[name] = parse_knob(name, text.strip())
        return read


def make_knob_option(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    text = (
        f"Set {' or '.join(names)} for this task. Repeatable."
        if len(names) < 3
        else "A setting of this task; see below. Repeatable."
    )
    return click.option("--set", "knobs", cls=KnobOption, knobs=names, multiple=True, metavar="NAME=VALUE", help=text)


def add_run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a run; together they are `RunFlags`."""
    for option in (notify_option, verbose_option, quiet_option, no_sandbox_option, mode_option):
        function = option(function)
    return function


class TypeOption(click.Option):
    """An option that loads the list of task types only for --help."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from afresh.app.inspect.inspect_templates import open_templates_at
        from afresh.config.templates.load_template import list_task_types

        self.help = f"Task type: {', '.join(list_task_types(open_templates_at(Path.cwd())))}."
        return super().get_help_record(ctx)


ORDER_OPTIONS = (
    click.argument("goal", required=False),
    click.option(
        "--from-issue",
        "issue",
        default="",
        metavar="FILE",
        help="Take the goal from an issue: text, or JSON of gh or glab; - reads stdin.",
    ),
    click.option("--type", "-t", "type_", cls=TypeOption, default="", metavar="T"),
    click.option(
        "--check",
        "-c",
        "checks",
        multiple=True,
        metavar="COMMAND",
        help="Command that must exit 0 when done, but for tests that failed before. Repeatable.",
    ),
    click.option("--no-check", is_flag=True, help="Start without a check: you review the result (`apply --unverified`)."),
    click.option("--force", is_flag=True, help="Start even if a file named in the goal, or a program, is missing."),
    test_changes_option,
    network_option,
    command_option,
    click.option(
        "--mcp", "tools", multiple=True, metavar="SERVER[.TOOL]", help="Approved MCP tools that it may use. Repeatable."
    ),
    model_option,
)
"""The options that describe a task."""


def add_order_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that describe a task, for `run` and `add`."""
    for option in reversed(ORDER_OPTIONS):
        function = option(function)
    return function


def select_limits(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the limits among the options of an order, by their names in `TaskOrder`."""
    knobs = {name: value for name, value in values["knobs"].items() if name in TASK_KNOBS}
    return {**knobs, "test_changes": values["test_changes"], "tools": values["tools"]}


def read_order(goal: str | None, more: dict[str, Any]) -> "tuple[str, list[Event]]":
    """Return the goal, by default the title of the issue, and what is recorded with it: the issue and permissions."""
    from afresh.app.dialogue.allow_network import permissions_of_order

    permissions = permissions_of_order(more["addresses"], more["commands"])
    if not more["issue"]:
        if goal is None:
            raise click.UsageError("Missing argument 'GOAL'.")
        return goal, permissions
    from afresh.app.orders.read_issue import read_issue
    from afresh.core.task import IssueAttached

    issue = read_issue(more["issue"])
    return goal or issue.title, [IssueAttached(issue), *permissions]


def make_order_terms(
    without_check: bool, force: bool, attended: bool, silent: bool = False, starts_now: bool = True
) -> "OrderTerms":
    """Return what the user allows of an order; at a terminal the rest is asked."""
    from afresh.app.orders.check_order import OrderTerms

    def tell(text: str) -> None:
        if not silent:
            click.secho(text, dim=True, err=True)

    def confirm(question: str) -> bool:
        return click.confirm(question, default=False, err=True)

    return OrderTerms(
        starts_now=starts_now,
        without_check=without_check,
        force=force,
        confirm=confirm if attended else None,
        tell=tell,
    )


def is_attended() -> bool:
    """Whether a person at a terminal can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty() and not wants_json()


def read_current_tasks() -> "TaskReader":
    from afresh.app.queue.read_tasks import open_task_reader

    return open_task_reader(Path.cwd())


def open_current_project() -> "Project":
    from afresh.app.project import open_project

    return open_project(Path.cwd(), lambda text: click.echo(f"warning: {text}", err=True))


def with_project(function: Callable[..., Any]) -> Callable[..., Any]:
    """Call the function with the current project first."""
    return update_wrapper(lambda *words, **more: function(open_current_project(), *words, **more), function)


def with_task(function: Callable[..., Any]) -> Callable[..., Any]:
    """Call the function with the current project and the task that the user named; none: the latest."""

    def call(project: "Project", task: str | None, **more: Any) -> Any:
        from afresh.app.orders.tasks import find_task

        return function(project, find_task(project, task), **more)

    return update_wrapper(with_project(call), function)
