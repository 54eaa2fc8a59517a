"""`afresh init`, `doctor`, `rebuild`, `instructions` and `fingerprint`: this machine and this project."""

from pathlib import Path

import click

from afresh.cli.options import TypeOption, json_option, open_current_project
from afresh.cli.output import print_json, print_rendered


@click.command("init")
def init_command() -> None:
    """Set up this repository: create .afresh and find the checks."""
    from afresh.app.project import init_project

    made = init_project(open_current_project())
    for line in made:
        click.echo(line)


@click.command("doctor")
@json_option
def doctor_command(as_json: bool) -> None:
    """Check the sandbox, git, models and every journal."""
    from pathlib import Path

    from afresh.app.doctor import examine_everything
    from afresh.cli.render.project import findings_to_json, render_findings

    findings = examine_everything(Path.cwd())
    if as_json:
        print_json(findings_to_json(findings))
    else:
        print_rendered(render_findings(findings))
    if any(finding.level == "fail" for finding in findings):
        raise SystemExit(1)


@click.command("rebuild")
def rebuild_command() -> None:
    """Delete session files, decision logs and other views, and write them again from the journal.

    Calls missing from the spending ledger are restored, too.
    """
    from afresh.app.project import rebuild_views
    from afresh.app.spending_ledger import restore_missing_calls
    from afresh.views.task_status import format_count

    project = open_current_project()
    count = rebuild_views(project)
    click.echo(f"rewrote the files of {format_count(count, 'task')}")
    if calls := restore_missing_calls(project):
        click.echo(f"restored {format_count(calls, 'call')} in the spending ledger")


@click.command("instructions")
@click.argument("path", default="", metavar="[PATH]")
@click.option("--type", "-t", "type_", cls=TypeOption, default="", metavar="T")
@json_option
def instructions_command(path: str, type_: str, as_json: bool) -> None:
    """Show the instructions (AGENT.md, CLAUDE.md …) for work on PATH, with their sources."""
    from afresh.app.inspect_instructions import preview_instructions
    from afresh.cli.render.project import instructions_to_json, render_instructions_preview

    one = preview_instructions(Path.cwd(), path, type_)
    if as_json:
        print_json(instructions_to_json(one))
    else:
        print_rendered(render_instructions_preview(one))
    if one.faults:
        raise SystemExit(1)


PROFILE_LEVELS = ("user", "project", "type", "task")


@click.command("fingerprint")
@click.option("--level", "-l", type=click.Choice(PROFILE_LEVELS), default=None, help="Show only this level.")
@click.option("--for", "goal", default="", metavar="TEXT", help="A goal; adds what is specific to it.")
@click.option("--type", "-t", "type_", cls=TypeOption, default="", metavar="T")
@click.option("--write", is_flag=True, help="Write the project level into .afresh/AGENT.md, as a section of its own.")
@click.option("--try", "run", is_flag=True, help="Run the tests now, in the sandbox, and store the result.")
@json_option
def fingerprint_command(level: str | None, goal: str, type_: str, write: bool, run: bool, as_json: bool) -> None:
    """Show what afresh knows about this project: layout, tests, style, hot spots."""
    import sys

    from afresh.app.project_profile import ProfileRequest, profile_checkout, write_profile_section
    from afresh.cli.render.project import format_plain_profile, profile_to_json, render_profile

    project = open_current_project()
    one = profile_checkout(project, ProfileRequest(type_, goal, run))
    if write:
        return click.echo(f"wrote {write_profile_section(project, one.fingerprint).relative_to(project.paths.root)}")
    levels = (level,) if level else PROFILE_LEVELS
    if as_json:
        return print_json(profile_to_json(one, levels))
    if sys.stdout.isatty():
        return print_rendered(render_profile(one, levels))
    return click.echo(format_plain_profile(one, levels))
