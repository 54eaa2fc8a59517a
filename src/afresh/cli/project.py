"""`afresh init`, `doctor`, `rebuild`, `instructions` and `fingerprint`: this machine and this project."""

from dataclasses import asdict, dataclass
from pathlib import Path

import click

from afresh.cli.exit_codes import ExitCode
from afresh.cli.options import TypeOption, json_option, open_current_project, silent_option
from afresh.cli.output import print_json, print_rendered


@click.command("init")
@silent_option
@json_option
def init_command(as_json: bool) -> None:
    """Set up this repository: create .afresh and find the checks."""
    from afresh.app.project import init_project
    from afresh.cli.render.activity import show_activity_line

    with show_activity_line("looking for the test command and trying it"):
        made = init_project(open_current_project())
    if as_json:
        return print_json({"done": list(made)})
    return click.echo("\n".join(made))


@click.command("doctor")
@click.option("--rebuild", is_flag=True, help="Write session files and other views again from the journal, then check.")
@silent_option
@json_option
def doctor_command(rebuild: bool, as_json: bool) -> None:
    """Check the sandbox, git, models and every journal."""
    from pathlib import Path

    rebuilt = rebuild_project() if rebuild else None
    if rebuilt and not as_json:
        print_rebuilt(rebuilt)
    from afresh.app.doctor import examine_everything
    from afresh.cli.render.activity import show_activity_line
    from afresh.cli.render.project import findings_to_json, render_findings

    with show_activity_line("trying to get out of the sandbox, checking git, models and journals"):
        findings = examine_everything(Path.cwd())
    if as_json:
        print_json(findings_to_json(findings) | ({"rebuilt": asdict(rebuilt)} if rebuilt else {}))
    else:
        print_rendered(render_findings(findings))
    if any(finding.level == "fail" for finding in findings):
        raise SystemExit(ExitCode.SETUP)


@dataclass(frozen=True, slots=True)
class RebuildResult:
    tasks: int
    """Tasks whose files were written again."""
    calls: int
    """Calls that were missing in the spending ledger."""


def rebuild_project() -> RebuildResult:
    from afresh.app.project import rebuild_views
    from afresh.app.spending.spending_ledger import restore_missing_calls
    from afresh.cli.render.activity import show_activity_line

    project = open_current_project()
    with show_activity_line("writing the files again from the journal"):
        return RebuildResult(rebuild_views(project), restore_missing_calls(project))


def print_rebuilt(done: RebuildResult) -> None:
    from afresh.core.text import format_count

    click.echo(f"rewrote the files of {format_count(done.tasks, 'task')}")
    if done.calls:
        click.echo(f"restored {format_count(done.calls, 'call')} in the spending ledger")


@click.command("rebuild")
@silent_option
@json_option
def rebuild_command(as_json: bool) -> None:
    """Delete session files, decision logs and other views, and write them again from the journal.

    Calls missing from the spending ledger are restored, too. `afresh doctor --rebuild` does the same.
    """
    done = rebuild_project()
    return print_json(asdict(done)) if as_json else print_rebuilt(done)


@click.command("instructions")
@click.argument("path", default="", metavar="[PATH]")
@click.option("--type", "-t", "type_", cls=TypeOption, default="", metavar="T")
@json_option
def instructions_command(path: str, type_: str, as_json: bool) -> None:
    """Show the instructions (AGENT.md, CLAUDE.md …) for work on PATH, with their sources."""
    from afresh.app.inspect.inspect_instructions import preview_instructions
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
@click.option("--write", is_flag=True, help="Write the project level into your AGENT.md, AGENTS.md or CLAUDE.md, as a section.")
@click.option("--try", "run", is_flag=True, help="Run the tests now, in the sandbox, and store the result.")
@silent_option
@json_option
def fingerprint_command(level: str | None, goal: str, type_: str, write: bool, run: bool, as_json: bool) -> None:
    """Show what afresh knows about this project: versions, folders, tests, linters, hot spots."""
    import sys

    from afresh.app.code.project_profile import ProfileRequest, profile_checkout, write_profile_section
    from afresh.cli.render.activity import show_activity_line
    from afresh.cli.render.project import format_plain_profile, profile_to_json, render_profile

    project = open_current_project()
    with show_activity_line("running the tests" if run else "reading the project"):
        one = profile_checkout(project, ProfileRequest(type_, goal, run))
    if write:
        wrote = str(write_profile_section(project, one.fingerprint).relative_to(project.paths.root))
        return print_json({"wrote": wrote}) if as_json else click.echo(f"wrote {wrote}")
    levels = (level,) if level else PROFILE_LEVELS
    if as_json:
        return print_json(profile_to_json(one, levels))
    if sys.stdout.isatty():
        return print_rendered(render_profile(one, levels))
    return click.echo(format_plain_profile(one, levels))
