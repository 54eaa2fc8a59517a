"""`afresh memory`: what the project remembers, to look at and to put right."""

import click

from afresh.cli.common import json_option

KINDS = ("note", "rule", "decision", "error", "failed_approach", "verified", "observed")
why_option = click.option("--why", default="", metavar="TEXT", help="Kept with it in the history.")


@click.group()
def command() -> None:
    """Find, show, add, correct and forget what later windows may hold."""


@command.command()
@click.argument("words", nargs=-1)
@click.option("--kind", type=click.Choice(KINDS), default=None, help="Only facts of this kind.")
@click.option("--task", "-t", default="", metavar="TASK", help="Only what this task has found out.")
@click.option("--limit", "-n", default=20, type=click.IntRange(1, 1_000), show_default=True)
@json_option
def search(words: tuple[str, ...], kind: str | None, task: str, limit: int, as_json: bool) -> None:
    """Find facts that hold, by words; without words the newest."""
    from afresh.app import memory
    from afresh.cli.common import desk, print_json
    from afresh.cli.common import show as render
    from afresh.cli.views.memory import found, plain

    facts = memory.search(desk(), " ".join(words), kind or "", task, limit)
    if as_json:
        return print_json([plain(fact) for fact in facts])
    return render(found(facts))


@command.command()
@click.argument("id")
@json_option
def show(id: str, as_json: bool) -> None:
    """Show one fact: who says so, the lines it comes from, and all that was known about the same."""
    from afresh.app import memory
    from afresh.cli.common import desk, print_json
    from afresh.cli.common import show as render
    from afresh.cli.views.memory import one, plain

    shown = memory.show(desk(), id)
    if as_json:
        history = [plain(fact) for fact in shown.history]
        return print_json({**plain(shown.known), "evidence": list(shown.evidence), "history": history})
    return render(one(shown.known, shown.evidence, shown.history))


@command.command()
@click.argument("text")
@click.option("--about", default="", metavar="SUBJECT", help="A newer rule about the same takes its place.")
@click.option("--everywhere", is_flag=True, help="For all your projects, not only this one.")
def add(text: str, about: str, everywhere: bool) -> None:
    """Add a rule of yours: it stands, word for word, in every window from now on."""
    from afresh.app import memory
    from afresh.cli.common import desk

    known = memory.add(desk(), text, about, everywhere)
    click.echo(f"{known.id} stands in every window of {'all your projects' if everywhere else 'this project'} from now on")


@command.command()
@click.argument("id")
@click.argument("text")
@why_option
def correct(id: str, text: str, why: str) -> None:
    """Put other words in the place of a fact; the old ones stay in its history."""
    from afresh.app import memory
    from afresh.cli.common import desk

    click.echo(f"{id} is now {memory.correct(desk(), id, text, why).id}: later windows have your words")


@command.command()
@click.argument("id")
@why_option
def forget(id: str, why: str) -> None:
    """Keep a fact, and lines that repeat it, out of every later window. The history says that it was there."""
    from afresh.app import memory
    from afresh.cli.common import desk

    known = memory.forget(desk(), id, why)
    click.echo(f"{known.id} is {known.end}; no later window shows it. Files of the repository are as they were")
