"""`afresh evolve`: what prompts were used for, better policies with their proof, and the way back."""

import click

from afresh.cli.options import json_option, open_current_project
from afresh.cli.output import print_json, print_rendered


@click.group()
def command() -> None:
    """Learn a better context policy from recorded work."""


@command.command("report")
@json_option
def report_command(as_json: bool) -> None:
    """Show what prompts were used for, and policies with their proofs."""
    from afresh.app.evolve.evolve_policy import report_use
    from afresh.app.evolve.task_policy import load_policy_history
    from afresh.cli.render.evolve import render_history, render_use_report, report_to_json

    project = open_current_project()
    report, history = report_use(project), load_policy_history(project)
    if as_json:
        return print_json(report_to_json(report, history))
    print_rendered(render_use_report(report))
    return print_rendered(render_history(history))


@command.command("try")
@click.argument("proposals", nargs=-1)
@json_option
def try_command(proposals: tuple[str, ...], as_json: bool) -> None:
    """Look for better policies, and prove them on newer work.

    With six tasks and more it also searches for a policy that needs fewer tokens. PROPOSALS are tried again.
    """
    from afresh.app.evolve.evolve_policy import try_proposals
    from afresh.cli.render.evolve import render_tried, tried_to_json

    found = try_proposals(open_current_project(), proposals)
    return print_json([tried_to_json(one) for one in found]) if as_json else print_rendered(render_tried(found))


@command.command("adopt")
@click.argument("proposal")
@click.option("--share", default=0.0, metavar="PART", help="Share of tasks that use it, such as 0.5 (default: your settings).")
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
