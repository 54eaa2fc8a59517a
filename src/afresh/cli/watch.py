"""`afresh show --follow`: follow a task that another process works on."""

import sys

import click

from afresh.app.inspect.watch_task import find_watched_task, follow_commits
from afresh.app.queue.read_tasks import TaskReader
from afresh.cli.exit_codes import ExitCode, choose_status_code
from afresh.cli.output import measure_width, print_json_line, print_lines, wants_json
from afresh.cli.render.console import open_console
from afresh.cli.render.progress import LiveProgress, ProgressOptions
from afresh.cli.render.widgets import quote_text, wrap_line
from afresh.cli.tasks import find_task_spending
from afresh.core.progress_event import WorkNotice
from afresh.core.state import State
from afresh.core.task import TaskStatus
from afresh.views.progress import RunProgress, list_past_lines, progress_line_to_json, update_run_progress
from afresh.views.task_facts import describe_outcome, describe_question, list_next_commands


def watch_task(reader: TaskReader, task: str | None, verbose: bool, quiet: bool) -> int:
    """Show its last steps, then each step as it ends; return the exit code of a run."""
    name = find_watched_task(reader, task)
    try:
        state = watch_as_json(reader, name) if wants_json() else watch_lines(reader, name, verbose, quiet)
    except KeyboardInterrupt:
        click.echo(f"stopped watching; {name} goes on. `afresh show --follow {name[-8:]}` looks again.", err=True)
        return ExitCode.INTERRUPTED
    return ExitCode.NEEDS_ANSWER if state.dialogue.question else choose_status_code([state.status])


def watch_lines(reader: TaskReader, task: str, verbose: bool, quiet: bool) -> State:
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


def show_activity(progress: LiveProgress, state: State) -> None:
    """Describe what the task does now, as the journal shows it: streamed words are not in the journal."""
    if state.status is TaskStatus.READY:
        what = "waiting for a worker; `afresh work` is one"
    elif state.work.pending:
        what = f"carrying out step {state.work.step + 1}"
    else:
        what = f"waiting for the reply for step {state.work.step + 1}"
    progress.follow(WorkNotice(what))


def print_end(state: State, is_old: bool) -> None:
    """Describe the state of the task, unless its lines have done so, and name the next command."""
    text = describe_outcome(state) if is_old and state.work.outcome else ""
    if state.status is TaskStatus.RUNNING and not state.dialogue.question:
        text = "interrupted: no process works on it"
    elif is_old and state.dialogue.question:
        text = f"asks: {describe_question(state)}"
    lines = [quote_text(f"  • {text}", limit=600)] if text else []
    lines.append([("  next: ", "dim"), *quote_text(list_next_commands(state)[0], "cyan")])
    width = measure_width() if sys.stdout.isatty() else 10_000
    print_lines(row for line in lines for row in wrap_line(line, width))


def watch_as_json(reader: TaskReader, task: str) -> State:
    """Print an object a line: the last steps, each new line, and at the end how the task stands."""
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
