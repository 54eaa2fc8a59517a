"""`afresh fsck`: checks everything that is stored for a project, and repairs it."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from afresh.cli.exit_codes import ExitCode
from afresh.cli.options import json_option, open_current_project, silent_option
from afresh.cli.output import print_json

if TYPE_CHECKING:
    from afresh.app.stored_state.check_state import StateReport

MAX_PROBLEMS_SHOWN = 8
"""Of an area; --json has all."""


@click.command("fsck")
@click.option("--repair", is_flag=True, help="Bring back what can be; the old database is kept.")
@silent_option
@json_option
def command(repair: bool, as_json: bool) -> None:
    """Check databases, journals, archived texts, tickets, snapshots, worktrees, views, facts, ledger and lessons.

    Changes nothing without --repair.
    """
    from afresh.app.stored_state.check_state import check_state
    from afresh.app.stored_state.repair_state import list_exported_tasks, repair_state
    from afresh.cli.render.activity import show_activity_line

    project = open_current_project()
    with show_activity_line("checking what is stored") as told:
        report = check_state(project, list_exported_tasks(project), told)
        done: list[str] = []
        if repair and report.repairable:
            done = repair_state(project, report, told)
            project = open_current_project()
            report = check_state(project, list_exported_tasks(project), told)
    if as_json:
        print_json({"areas": [asdict(area) for area in report.areas], "problems": report.problems, "done": done})
    else:
        print_state_report(report, done)
    if report.problems:
        raise SystemExit(ExitCode.NOT_DONE)


def print_state_report(report: "StateReport", done: list[str]) -> None:
    from afresh.cli.output import echo_wrapped

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
    found = "1 problem" if report.problems == 1 else f"{report.problems} problems"
    if not report.problems:
        echo_wrapped("Everything that is stored is whole.")
    elif report.repairable:
        echo_wrapped(f"{found}; `afresh fsck --repair` repairs {report.repairable}.")
    else:
        echo_wrapped(f"{found} that only you can repair.")
