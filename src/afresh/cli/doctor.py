"""`afresh doctor`: checks this machine and all that is stored for a project, and repairs it."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from afresh.cli.exit_codes import ExitCode
from afresh.cli.options import json_option, open_current_project
from afresh.cli.output import print_json, print_rendered

if TYPE_CHECKING:
    from afresh.app.stored_state.check_state import StateReport

MAX_PROBLEMS_SHOWN = 8
"""Of an area; --json has all."""


@click.command("doctor")
@click.option("--deep", is_flag=True, help="Check all that is stored instead: every journal, text, snapshot, view and fact.")
@click.option("--repair", is_flag=True, help="Bring back of it what can be; the old database is kept.")
@click.option("--rebuild", is_flag=True, help="Write session files and other views again from the journal instead.")
@json_option
def command(deep: bool, repair: bool, rebuild: bool, as_json: bool) -> None:
    """Check the sandbox, git, models and every journal. Changes nothing without --repair or --rebuild."""
    if rebuild:
        return rebuild_project(as_json)
    if deep or repair:
        return check_stored_state(repair, as_json)
    from afresh.app.doctor import examine_everything
    from afresh.cli.render.activity import show_activity_line
    from afresh.cli.render.project import findings_to_json, render_findings

    with show_activity_line("trying to get out of the sandbox, checking git, models and journals"):
        findings = examine_everything(Path.cwd())
    if as_json:
        print_json(findings_to_json(findings))
    else:
        print_rendered(render_findings(findings))
    if any(finding.level == "fail" for finding in findings):
        raise SystemExit(ExitCode.SETUP)
    return None


def rebuild_project(as_json: bool) -> None:
    """Write the views again; calls missing from the spending ledger are restored, too."""
    from afresh.app.project import rebuild_views
    from afresh.app.spending.spending_ledger import restore_missing_calls
    from afresh.cli.render.activity import show_activity_line
    from afresh.core.text import format_count

    project = open_current_project()
    with show_activity_line("writing the files again from the journal"):
        tasks, calls = rebuild_views(project), restore_missing_calls(project)
    if as_json:
        return print_json({"tasks": tasks, "calls": calls})
    click.echo(f"rewrote the files of {format_count(tasks, 'task')}")
    return click.echo(f"restored {format_count(calls, 'call')} in the spending ledger") if calls else None


def check_stored_state(repair: bool, as_json: bool) -> None:
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
        echo_wrapped(f"{found}; `afresh doctor --repair` repairs {report.repairable}.")
    else:
        echo_wrapped(f"{found} that only you can repair.")
