"""`afresh evolve`: what prompts were used for, better policies with their proof, and the way back."""

from pathlib import Path

import click

from afresh.cli.options import WholeNumber, json_option, open_current_project
from afresh.cli.output import print_json, print_rendered


@click.group()
def command() -> None:
    """Learn a better context policy from recorded work."""


@command.command("report")
@click.option("--tasks", default=60, show_default=True, metavar="N", type=WholeNumber(1), help="Read the newest N tasks.")
@json_option
def report_command(tasks: int, as_json: bool) -> None:
    """Show what prompts were used for, and what was missing."""
    from afresh.app.evolve.evolve_report import report_use
    from afresh.cli.render.evolve import render_use_report, use_report_to_json

    found = report_use(open_current_project(), tasks)
    return print_json(use_report_to_json(found)) if as_json else print_rendered(render_use_report(found))


runs_option = click.option(
    "--runs",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Recorded sessions of other agents too, oldest first. Repeatable.",
)
seed_option = click.option("--seed", default=1, show_default=True, metavar="N", help="The same seed gives the same result.")


@command.command("propose")
@runs_option
@seed_option
@json_option
def propose_command(runs: tuple[Path, ...], seed: int, as_json: bool) -> None:
    """Look for changes that older work suggests.

    With six tasks and more it also searches for a policy that needs fewer tokens for the older half of them, and with --runs for
    one that does so on the older half of these sessions.
    """
    from afresh.app.evolve.evolve_policy import SearchTerms, propose_changes, read_recorded_runs
    from afresh.cli.render.evolve_policy import proposal_to_json, render_proposals

    terms = SearchTerms(read_recorded_runs(runs), seed)
    found = propose_changes(open_current_project(), terms)
    return print_json([proposal_to_json(one) for one in found]) if as_json else print_rendered(render_proposals(found))


@command.command("try")
@click.argument("proposals", nargs=-1)
@runs_option
@seed_option
@json_option
def try_command(proposals: tuple[str, ...], runs: tuple[Path, ...], seed: int, as_json: bool) -> None:
    """Replay newer work under PROPOSALS (default: all)."""
    from afresh.app.evolve.evolve_policy import SearchTerms, read_recorded_runs, try_proposal
    from afresh.app.evolve.task_policy import load_policy_history
    from afresh.cli.render.evolve_policy import render_tried, tried_to_json

    project, terms = open_current_project(), SearchTerms(read_recorded_runs(runs), seed)
    names = proposals or tuple(one.proposal for _, one in load_policy_history(project).proposed)
    found = [try_proposal(project, name, terms) for name in names]
    return print_json([tried_to_json(one) for one in found]) if as_json else print_rendered(render_tried(found))


@command.command("adopt")
@click.argument("proposal")
@click.option("--share", default=0.0, metavar="PART", help="Of the tasks, such as 0.5 (default: as in your settings).")
@json_option
def adopt_command(proposal: str, share: float, as_json: bool) -> None:
    """Use PROPOSAL for a share of the tasks; it must be proven."""
    from afresh.app.evolve.watch_policy import adopt_as_canary
    from afresh.core.policy_history import BY_PERSON

    said = adopt_as_canary(open_current_project(), proposal, BY_PERSON, share)
    return print_json({"said": said}) if as_json else click.echo(said)


@command.command("rollback")
@click.option("--why", default="", metavar="TEXT", help="Your reason, for the history.")
@json_option
def rollback_command(why: str, as_json: bool) -> None:
    """Take back the latest policy."""
    from afresh.app.evolve.evolve_policy import roll_back

    gone = roll_back(open_current_project(), why)
    return print_json({"rolled_back": gone.id}) if as_json else click.echo(f"policy {gone.id} is rolled back")


@command.command("history")
@json_option
def history_command(as_json: bool) -> None:
    """Show policies with their proofs, and what became of them."""
    from afresh.app.evolve.task_policy import load_policy_history
    from afresh.cli.render.evolve_policy import history_to_json, render_history

    found = load_policy_history(open_current_project())
    return print_json(history_to_json(found)) if as_json else print_rendered(render_history(found))


@command.command("code")
@click.option("--profile", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A file that cProfile wrote.")
@click.option("--bench", "benchmark", default="", metavar="COMMAND", help="Exits with an error when the code got slower.")
@click.option("--most", default=5, show_default=True, metavar="N", type=WholeNumber(1), help="File at most N tasks.")
@click.option("--dry-run", is_flag=True, help="Only show them.")
@json_option
def code_command(profile: Path | None, benchmark: str, most: int, dry_run: bool, as_json: bool) -> None:
    """File tasks that simplify or speed up this project's code.

    It reads ruff's violations, a profile and which files tasks changed. It runs and merges nothing.
    """
    from afresh.app.evolve.evolve_code import file_code_tasks, find_code_tasks

    project = open_current_project()
    found = find_code_tasks(project, profile, benchmark, most)
    names = [""] * len(found) if dry_run else file_code_tasks(project, found)
    if as_json:
        rows = [(name, one) for name, one in zip(names, found, strict=True)]
        return print_json([{"task": name, "goal": one.goal, "why": one.why, "checks": list(one.checks)} for name, one in rows])
    for name, one in zip(names, found, strict=True):
        click.echo(f"{name or 'would file'}: {one.goal} ({one.why})")
    return None if found else click.echo("nothing to file")


@command.command("export")
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
def export_learnt_command(file: Path | None) -> None:
    """Write what was learnt as numbers, without project data."""
    from afresh.app.evolve.evolve_share import render_export, write_export

    project = open_current_project()
    if file is None:
        return click.echo(render_export(project), nl=False)
    write_export(project, file)
    return click.echo(f"written to {file}")


@command.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@json_option
def import_learnt_command(file: Path, as_json: bool) -> None:
    """Read what another project has learnt, as suggestions."""
    from afresh.app.evolve.evolve_share import import_suggestions
    from afresh.cli.render.evolve_policy import proposal_to_json, render_proposals

    found = import_suggestions(open_current_project(), file)
    return print_json([proposal_to_json(one) for one in found]) if as_json else print_rendered(render_proposals(found))
