"""`afresh memory`: searches and edits the project's facts."""

import click

from afresh.app.memory.edit_facts import add_rule, correct_fact, forget_fact, load_fact_details, search_project_facts
from afresh.app.project import Project
from afresh.cli.options import WholeNumber, with_project
from afresh.cli.render.facts import build_fact, build_fact_list
from afresh.views.page import Page
from afresh.views.project_memory_file import fact_to_json

FACT_KINDS = ("note", "rule", "answer", "decision", "failed_approach", "check", "observed", "checkpoint")
why_option = click.option("--why", default="", metavar="TEXT", help="The reason, kept in the history.")


@click.group()
def command() -> None:
    """Search, add, correct and forget facts for later prompts."""


@command.command("list")
@click.argument("words", nargs=-1)
@click.option("--kind", "-k", type=click.Choice(FACT_KINDS), default=None, help="Only facts of this kind.")
@click.option("--task", "-t", default="", metavar="TASK", help="Only facts found by this task.")
@click.option("--limit", "-n", default=20, type=WholeNumber(1, 1_000), show_default=True)
@with_project
def list_facts(project: Project, words: tuple[str, ...], kind: str | None, task: str, limit: int) -> Page:
    """List current facts that fit WORDS (default: the newest)."""
    return build_fact_list(search_project_facts(project, " ".join(words), kind or "", task, limit))


@command.command()
@click.argument("id")
@with_project
def show(project: Project, id: str) -> Page:
    """Show one fact: source, evidence and history."""
    return build_fact(load_fact_details(project, id))


@command.command()
@click.argument("text")
@click.option("--about", default="", metavar="SUBJECT", help="The subject; a newer rule about it replaces this one.")
@click.option("--everywhere", is_flag=True, help="For all your projects, not only this one.")
@with_project
def add(project: Project, text: str, about: str, everywhere: bool) -> Page:
    """Add a rule: every prompt from now on contains it."""
    known = add_rule(project, text, about, everywhere)
    where = "all your projects" if everywhere else "this project"
    return Page(fact_to_json(known), f"added {known.id}: every prompt in {where} contains it from now on")


@command.command()
@click.argument("id")
@click.argument("text")
@why_option
@with_project
def correct(project: Project, id: str, text: str, why: str) -> Page:
    """Replace the text of a fact. The old text stays in its history."""
    known = correct_fact(project, id, text, why)
    return Page(fact_to_json(known), f"{id} is now {known.id}; later prompts use your text")


@command.command()
@click.argument("id")
@why_option
@with_project
def forget(project: Project, id: str, why: str) -> Page:
    """Keep a fact, and lines that repeat it, out of later prompts."""
    known = forget_fact(project, id, why)
    return Page(fact_to_json(known), f"{known.id} is {known.end} and not in later prompts; no file was changed")
