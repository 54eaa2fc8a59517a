"""`afresh memory`: what the project remembers, to look at and to put right."""

import click

from afresh.cli.options import json_option

FACT_KINDS = ("note", "rule", "decision", "error", "failed_approach", "verified", "observed")
why_option = click.option("--why", default="", metavar="TEXT", help="Kept with it in the history.")


@click.group()
def command() -> None:
    """Find, show, add, correct and forget what later windows may hold."""


@command.command()
@click.argument("words", nargs=-1)
@click.option("--kind", type=click.Choice(FACT_KINDS), default=None, help="Only facts of this kind.")
@click.option("--task", "-t", default="", metavar="TASK", help="Only what this task has found out.")
@click.option("--limit", "-n", default=20, type=click.IntRange(1, 1_000), show_default=True)
@json_option
def search(words: tuple[str, ...], kind: str | None, task: str, limit: int, as_json: bool) -> None:
    """Find facts that hold, by words; without words the newest."""
    from afresh.app import edit_facts as memory
    from afresh.cli.options import open_current_project
    from afresh.cli.output import print_json
    from afresh.cli.output import print_rendered as render
    from afresh.cli.render.facts import render_facts
    from afresh.views.project_memory_file import fact_to_json

    facts = memory.search_project_facts(open_current_project(), " ".join(words), kind or "", task, limit)
    if as_json:
        return print_json([fact_to_json(fact) for fact in facts])
    return render(render_facts(facts))


@command.command()
@click.argument("id")
@json_option
def show(id: str, as_json: bool) -> None:
    """Show one fact: who says so, the lines it comes from, and all that was known about the same."""
    from afresh.app import edit_facts as memory
    from afresh.cli.options import open_current_project
    from afresh.cli.output import print_json
    from afresh.cli.output import print_rendered as render
    from afresh.cli.render.facts import render_fact
    from afresh.views.project_memory_file import fact_to_json

    shown = memory.load_fact_details(open_current_project(), id)
    if as_json:
        history = [fact_to_json(fact) for fact in shown.history]
        return print_json({**fact_to_json(shown.known), "evidence": list(shown.evidence), "history": history})
    return render(render_fact(shown.known, shown.evidence, shown.history))


@command.command()
@click.argument("text")
@click.option("--about", default="", metavar="SUBJECT", help="A newer rule about the same takes its place.")
@click.option("--everywhere", is_flag=True, help="For all your projects, not only this one.")
def add(text: str, about: str, everywhere: bool) -> None:
    """Add a rule of yours: it stands, word for word, in every window from now on."""
    from afresh.app import edit_facts as memory
    from afresh.cli.options import open_current_project

    known = memory.add_rule(open_current_project(), text, about, everywhere)
    click.echo(f"{known.id} stands in every window of {'all your projects' if everywhere else 'this project'} from now on")


@command.command()
@click.argument("id")
@click.argument("text")
@why_option
def correct(id: str, text: str, why: str) -> None:
    """Put other words in the place of a fact; the old ones stay in its history."""
    from afresh.app import edit_facts as memory
    from afresh.cli.options import open_current_project

    click.echo(f"{id} is now {memory.correct_fact(open_current_project(), id, text, why).id}: later windows have your words")


@command.command()
@click.argument("id")
@why_option
def forget(id: str, why: str) -> None:
    """Keep a fact, and lines that repeat it, out of every later window. The history says that it was there."""
    from afresh.app import edit_facts as memory
    from afresh.cli.options import open_current_project

    known = memory.forget_fact(open_current_project(), id, why)
    click.echo(f"{known.id} is {known.end}; no later window shows it. Files of the repository are as they were")
