"""`afresh evolve`: what prompts were used for, better policies with their proof, and the way back."""

import click

from afresh.app.evolve.evolve_policy import report_use, roll_back, try_proposals
from afresh.app.evolve.task_policy import load_policy_history
from afresh.app.evolve.watch_policy import adopt_as_canary
from afresh.app.project import Project
from afresh.cli.options import with_project
from afresh.cli.render.evolve import build_report, build_tried
from afresh.core.policy_history import BY_PERSON
from afresh.views.page import Page


@click.group()
def command() -> None:
    """Learn a better context policy from recorded work."""


@command.command("report")
@with_project
def report_command(project: Project) -> Page:
    """Show what prompts were used for, and policies with their proofs."""
    return build_report(report_use(project), load_policy_history(project))


@command.command("try")
@click.argument("proposals", nargs=-1)
@with_project
def try_command(project: Project, proposals: tuple[str, ...]) -> Page:
    """Look for better policies, and prove them on newer work.

    With six tasks and more it also searches for a policy that needs fewer tokens. PROPOSALS are tried again.
    """
    return build_tried(try_proposals(project, proposals))


@command.command("adopt")
@click.argument("proposal")
@click.option("--share", default=0.0, metavar="PART", help="Share of tasks that use it, such as 0.5 (default: your settings).")
@with_project
def adopt_command(project: Project, proposal: str, share: float) -> Page:
    """Use PROPOSAL for a share of the tasks; it must be proven."""
    done = adopt_as_canary(project, proposal, BY_PERSON, share)
    return Page({"said": done}, done)


@command.command("rollback")
@click.option("--why", default="", metavar="TEXT", help="Your reason, for the history.")
@with_project
def rollback_command(project: Project, why: str) -> Page:
    """Take back the latest policy."""
    policy = roll_back(project, why).id
    return Page({"rolled_back": policy}, f"policy {policy} is rolled back")
