"""`afresh diff`: what a task has changed."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from afresh.cli.options import read_current_tasks
from afresh.cli.output import choose_colour, wants_json
from afresh.views.page import Page

if TYPE_CHECKING:
    from afresh.core.change import Change
    from afresh.core.state import State


@click.command("diff")
@click.argument("task", required=False)
@click.option("--stat", is_flag=True, help="Only the files, with lines added and removed.")
@click.option("--name-only", is_flag=True, help="Only the names of the files.")
def command(task: str | None, stat: bool, name_only: bool) -> Page | None:
    """Show what TASK (default: the latest) has changed since its base, up to its last finished step.

    Also works while it runs, and after it was applied. At a terminal it is shown with $GIT_PAGER, $PAGER or less; in a
    pipe it is a plain patch for `git apply`.
    """
    from afresh.app.queue.read_tasks import find_task_id
    from afresh.app.results.read_task_diff import list_diff_changes
    from afresh.views.tasks import changes_to_json

    project = read_current_tasks()
    state = project.load(find_task_id(project.queue, project.export_folder, task))
    if not wants_json():
        warn_of_steering(state)
        if not (stat or name_only):
            return print_task_diff(project.root, state)
    changes = list_diff_changes(project.root, state)
    if not (changes or wants_json()):
        return print_nothing_changed(state)
    data = {"task": state.task.id, "base": state.workspace.base, "changes": changes_to_json(changes)}
    return Page(
        data, "\n".join([change.path for change in changes] if name_only or not changes else describe_change_sizes(changes))
    )


def print_task_diff(root: Path, state: "State") -> None:
    from afresh.app.results.read_task_diff import list_diff_changes, read_diff_patch

    if not sys.stdout.isatty():
        patch = read_diff_patch(root, state)
        return write_bytes(patch) if patch else print_nothing_changed(state)
    changes = list_diff_changes(root, state)
    return show_with_pager(draw_diff(changes)) if changes else print_nothing_changed(state)


def warn_of_steering(state: "State") -> None:
    """Name on its own, beside the patch, what acts without being asked."""
    from afresh.core.steering_files import describe_steering_files

    if acts := describe_steering_files(state.workspace.changed, state.workspace.obeyed):
        click.secho(f"It changes what {acts}.", fg="yellow", err=True)


def print_nothing_changed(state: "State") -> None:
    click.echo(f"{state.task.id} has changed nothing", err=True)


def draw_diff(changes: "Sequence[Change]") -> str:
    """Return the patches for a terminal: coloured, and with control characters made visible."""
    from afresh.cli.render.widgets import TAB, choose_diff_style, draw_lines
    from afresh.core.text import escape_hidden

    lines = [line for change in changes for line in (change.patch or _describe_binary(change)).rstrip("\n").split("\n")]
    return draw_lines(([(escape_hidden(line).replace("\t", TAB), choose_diff_style(line))] for line in lines), choose_colour())


def _describe_binary(change: "Change") -> str:
    return f"diff --git a/{change.path} b/{change.path}\n(no lines to show: a binary or empty file, or a change of its mode)"


def describe_change_sizes(changes: "Sequence[Change]") -> list[str]:
    from afresh.core.text import format_count

    widest = max(len(change.path) for change in changes)
    rows = [f"{change.path:{widest}}  +{change.added} -{change.removed}  {change.kind}" for change in changes]
    added, removed = sum(change.added for change in changes), sum(change.removed for change in changes)
    return [*rows, f"{format_count(len(changes), 'file')} changed, +{added} -{removed}"]


def write_bytes(data: bytes) -> None:
    """Write to standard output, unchanged."""
    if (stream := getattr(sys.stdout, "buffer", None)) is not None:
        stream.write(data)
        stream.flush()
    else:
        sys.stdout.write(data.decode(errors="replace"))


def choose_pager() -> str:
    """Return the user's own pager; empty for none. What the repository configures is not asked."""
    from shutil import which

    wanted = next((os.environ[name] for name in ("GIT_PAGER", "PAGER") if name in os.environ), "less" if which("less") else "")
    return "" if wanted.strip() == "cat" or os.environ.get("TERM") == "dumb" else wanted.strip()


def show_with_pager(text: str) -> None:
    import signal
    import subprocess

    if not (pager := choose_pager()):
        return click.echo(text, nl=False)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the pager
    try:
        environment = {"LESS": "FRX", "LV": "-c", **os.environ}
        subprocess.run(pager, shell=True, input=text.encode(errors="replace"), env=environment, check=False)
    except BrokenPipeError:
        pass  # it was left before the end
    finally:
        signal.signal(signal.SIGINT, before)
    return None
