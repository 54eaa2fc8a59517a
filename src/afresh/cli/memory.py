"""`afresh memory`: searches and edits the project's facts."""

import click

from afresh.cli.options import WholeNumber, json_option, open_current_project
from afresh.cli.output import print_json, print_rendered

FACT_KINDS = ("note", "rule", "answer", "decision", "error", "failed_approach", "check", "observed", "checkpoint")
why_option = click.option("--why", default="", metavar="TEXT", help="The reason, kept in the history.")


@click.group()
def command() -> None:
    """Search, add, correct and forget facts for later prompts."""


@command.command("list")
@click.argument("words", nargs=-1)
@click.option("--kind", "-k", type=click.Choice(FACT_KINDS), default=None, help="Only facts of this kind.")
@click.option("--task", "-t", default="", metavar="TASK", help="Only facts found by this task.")
@click.option("--limit", "-n", default=20, type=WholeNumber(1, 1_000), show_default=True)
@json_option
def list_facts(words: tuple[str, ...], kind: str | None, task: str, limit: int, as_json: bool) -> None:
    """List current facts that fit WORDS (default: the newest)."""
    from afresh.app.memory import edit_facts as memory
    from afresh.cli.render.facts import render_facts
    from afresh.views.project_memory_file import fact_to_json

    facts = memory.search_project_facts(open_current_project(), " ".join(words), kind or "", task, limit)
    if as_json:
        return print_json([fact_to_json(fact) for fact in facts])
    return print_rendered(render_facts(facts))


@command.command()
@click.argument("id")
@json_option
def show(id: str, as_json: bool) -> None:
    """Show one fact: source, evidence and history."""
    from afresh.app.memory import edit_facts as memory
    from afresh.cli.render.facts import render_fact
    from afresh.views.project_memory_file import fact_to_json

    shown = memory.load_fact_details(open_current_project(), id)
    if as_json:
        history = [fact_to_json(fact) for fact in shown.history]
        return print_json({**fact_to_json(shown.known), "evidence": list(shown.evidence), "history": history})
    return print_rendered(render_fact(shown.known, shown.evidence, shown.history))


@command.command()
@click.argument("text")
@click.option("--about", default="", metavar="SUBJECT", help="The subject; a newer rule about it replaces this one.")
@click.option("--everywhere", is_flag=True, help="For all your projects, not only this one.")
@json_option
def add(text: str, about: str, everywhere: bool, as_json: bool) -> None:
    """Add a rule: every prompt from now on contains it."""
    from afresh.app.memory import edit_facts as memory
    from afresh.views.project_memory_file import fact_to_json

    known = memory.add_rule(open_current_project(), text, about, everywhere)
    if as_json:
        return print_json(fact_to_json(known))
    return click.echo(
        f"added {known.id}: every prompt in {'all your projects' if everywhere else 'this project'} contains it from now on"
    )


@command.command()
@click.argument("id")
@click.argument("text")
@why_option
@json_option
def correct(id: str, text: str, why: str, as_json: bool) -> None:
    """Replace the text of a fact. The old text stays in its history."""
    from afresh.app.memory import edit_facts as memory
    from afresh.views.project_memory_file import fact_to_json

    known = memory.correct_fact(open_current_project(), id, text, why)
    if as_json:
        return print_json(fact_to_json(known))
    return click.echo(f"{id} is now {known.id}; later prompts use your text")


@command.command()
@click.argument("id")
@why_option
@json_option
def forget(id: str, why: str, as_json: bool) -> None:
    """Keep a fact, and lines that repeat it, out of later prompts."""
    from afresh.app.memory import edit_facts as memory
    from afresh.views.project_memory_file import fact_to_json

    known = memory.forget_fact(open_current_project(), id, why)
    if as_json:
        return print_json(fact_to_json(known))
    return click.echo(f"{known.id} is {known.end} and not in later prompts; no file was changed")
