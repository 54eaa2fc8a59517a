"""`afresh watch`: follow a task that another process works on."""

import sys
from typing import TYPE_CHECKING

import click

from afresh.cli.options import json_option, quiet_option, read_current_tasks, verbose_option
from afresh.cli.output import print_json_line

if TYPE_CHECKING:
    from afresh.app.queue.read_tasks import TaskReader
    from afresh.cli.render.progress import LiveProgress
    from afresh.cli.render.widgets import Line
    from afresh.core.state import State


@click.command("watch")
@click.argument("task", required=False)
@verbose_option
@quiet_option
@json_option
def command(task: str | None, verbose: bool, quiet: bool, as_json: bool) -> int:
    """Follow TASK (default: the one that runs now), which another process works on.

    Shows its last steps, then each step as it ends. Ends when the task ends or needs an answer, with the exit code of
    `afresh run`. Ctrl-C ends only the watching.
    """
    from afresh.app.inspect.watch_task import find_watched_task
    from afresh.cli.exit_codes import ExitCode, choose_status_code

    reader = read_current_tasks()
    name = find_watched_task(reader, task)
    try:
        state = watch_as_json(reader, name) if as_json else watch_lines(reader, name, verbose, quiet)
    except KeyboardInterrupt:
        click.echo(f"stopped watching; {name} goes on. `afresh watch {name[-8:]}` looks again.", err=True)
        return ExitCode.INTERRUPTED
    return ExitCode.NEEDS_ANSWER if state.dialogue.question else choose_status_code([state.status])


def watch_lines(reader: "TaskReader", task: str, verbose: bool, quiet: bool) -> "State":
    from afresh.app.inspect.watch_task import follow_commits
    from afresh.cli.render.console import open_console
    from afresh.cli.render.progress import LiveProgress, ProgressOptions
    from afresh.cli.tasks import find_task_spending
    from afresh.views.progress import list_past_lines

    def describe_cost(name: str) -> str:
        spent = find_task_spending(reader.root, name)
        return spent.cost if spent else ""

    first = state = reader.load(task)
    with LiveProgress(reader.clock, open_console(), ProgressOptions(quiet, verbose, describe_cost)) as progress:
        if not quiet:
            progress.show_lines(list_past_lines(state))
        show_activity(progress, state)
        for state, entries in follow_commits(reader, first):
            progress.saw(state, entries)
            show_activity(progress, state)
    if not quiet:
        print_end(state, is_old=state is first)
    return state


def show_activity(progress: "LiveProgress", state: "State") -> None:
    """Say what the journal lets one know of what goes on: words as they stream in are not in it."""
    from afresh.core.progress_event import WorkNotice
    from afresh.core.task import TaskStatus

    if state.status is TaskStatus.READY:
        what = "waiting for a worker; `afresh work` is one"
    elif state.work.pending:
        what = f"carrying out step {state.work.step + 1}"
    else:
        what = f"waiting for the reply for step {state.work.step + 1}"
    progress.follow(WorkNotice(what))


def print_end(state: "State", is_old: bool) -> None:
    """Say how the task stands, as far as its lines have not said it, and what to type next."""
    from afresh.cli.render.widgets import quote_text
    from afresh.core.task import TaskStatus
    from afresh.views.task_status import describe_question, list_next_commands

    said = f"{state.status}: {state.work.outcome}" if is_old and state.work.outcome else ""
    if state.status is TaskStatus.RUNNING and not state.dialogue.question:
        said = "interrupted: no process works on it"
    elif is_old and state.dialogue.question:
        said = f"asks: {describe_question(state)}"
    lines = [quote_text(f"  • {said}", limit=600)] if said else []
    lines.append([("  next: ", "dim"), *quote_text(list_next_commands(state)[0], "cyan")])
    print_wrapped(lines)


def print_wrapped(lines: "list[Line]") -> None:
    from afresh.cli.output import measure_width, print_lines
    from afresh.cli.render.widgets import wrap_line

    width = measure_width() if sys.stdout.isatty() else 10_000
    print_lines(row for line in lines for row in wrap_line(line, width))


def watch_as_json(reader: "TaskReader", task: str) -> "State":
    """Print an object a line: the last steps, each new line, and at the end how the task stands."""
    from afresh.app.inspect.watch_task import follow_commits
    from afresh.views.progress import RunProgress, list_past_lines, progress_line_to_json, update_run_progress
    from afresh.views.task_status import list_next_commands

    glance = RunProgress(0.0)
    first = state = reader.load(task)
    for line in list_past_lines(first):
        print_json_line(progress_line_to_json(task, line))
    for state, entries in follow_commits(reader, first):
        glance, lines = update_run_progress(glance, state, entries)
        for line in lines:
            print_json_line(progress_line_to_json(task, line))
    end = {"task": task, "status": state.status.value, "outcome": state.work.outcome, "question": state.dialogue.question}
    print_json_line(end | {"options": list(state.dialogue.options), "next": list(list_next_commands(state))})
    return state
