"""`afresh doctor`: checks this machine and all that is stored for a project, and repairs it."""

from dataclasses import asdict
from pathlib import Path

import click

from afresh.app.doctor import examine_everything
from afresh.app.project import Project, rebuild_views
from afresh.app.spending.spending_ledger import restore_missing_calls
from afresh.app.stored_state.check_state import StateReport, check_state
from afresh.app.stored_state.repair_state import list_exported_tasks, repair_state
from afresh.cli.exit_codes import ExitCode
from afresh.cli.options import open_current_project, with_project
from afresh.cli.output import echo_wrapped
from afresh.cli.render.activity import show_activity_line
from afresh.cli.render.project import build_findings
from afresh.core.text import format_count
from afresh.views.page import Page

MAX_PROBLEMS_SHOWN = 8
"""Most problems shown of one area; --json has all."""


@click.command("doctor")
@click.option("--deep", is_flag=True, help="Check all that is stored instead: every journal, text, snapshot, view and fact.")
@click.option("--repair", is_flag=True, help="Repair what can be repaired; keeps the old database.")
@click.option("--rebuild", is_flag=True, help="Write session files and other views again from the journal instead.")
def command(deep: bool, repair: bool, rebuild: bool) -> Page:
    """Check the sandbox, git, models and every journal. Changes nothing without --repair or --rebuild."""
    if rebuild:
        return rebuild_project()
    if deep or repair:
        return check_stored_state(repair=repair)
    with show_activity_line("trying to get out of the sandbox, checking git, models and journals"):
        return build_findings(examine_everything(Path.cwd()))


@with_project
def rebuild_project(project: Project) -> Page:
    """Write the views again; calls missing from the spending ledger are restored, too."""
    with show_activity_line("writing the files again from the journal"):
        tasks, calls = rebuild_views(project), restore_missing_calls(project)
    restored = f"\nrestored {format_count(calls, 'call')} in the spending ledger" if calls else ""
    return Page({"tasks": tasks, "calls": calls}, f"rewrote the files of {format_count(tasks, 'task')}{restored}")


@with_project
def check_stored_state(project: Project, repair: bool) -> Page:
    with show_activity_line("checking what is stored") as tell:
        report = check_state(project, list_exported_tasks(project), tell)
        done: list[str] = []
        if repair and report.repairable:
            done = repair_state(project, report, tell)
            project = open_current_project()
            report = check_state(project, list_exported_tasks(project), tell)
    data = {"areas": [*map(asdict, report.areas)], "problems": report.problems, "done": done}
    return Page(data, lambda: print_state_report(report, done), ExitCode.NOT_DONE if report.problems else 0)


def print_state_report(report: StateReport, done: list[str]) -> None:
    for line in done:
        echo_wrapped(f"repaired: {line}")
    for area in report.areas:
        ended = f"{len(area.problems)} damaged" if area.problems else "ok"
        echo_wrapped(f"{area.name:10} {ended:12} {area.checked:,} {area.unit}")
        for problem in area.problems[:MAX_PROBLEMS_SHOWN]:
            echo_wrapped(f"  {problem.what}")
            echo_wrapped(f"    {'--repair: ' if problem.repairable else ''}{problem.remedy}")
        if len(area.problems) > MAX_PROBLEMS_SHOWN:
            echo_wrapped(f"  and {len(area.problems) - MAX_PROBLEMS_SHOWN} more")
    if not report.problems:
        echo_wrapped("Everything that is stored is whole.")
    elif report.repairable:
        echo_wrapped(f"{format_count(report.problems, 'problem')}; `afresh doctor --repair` repairs {report.repairable}.")
    else:
        echo_wrapped(f"{format_count(report.problems, 'problem')} that only you can repair.")
