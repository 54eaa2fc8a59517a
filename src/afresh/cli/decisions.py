"""`afresh decisions`: who decided what in a task, when, how sure, and what came of it."""

import click

from afresh.cli.common import json_option


@click.command()
@click.argument("task", required=False)
@json_option
def command(task: str | None, as_json: bool) -> None:
    """Show the decisions of TASK (the one touched last, if none is named) as a tree."""
    from afresh.app.tasks import find
    from afresh.cli.common import desk, print_json, show
    from afresh.cli.views.decisions import decisions, decisions_json
    from afresh.projections.decision_tree import tree
    from afresh.projections.decisions import told

    here = desk()
    state = here.store.load(find(here, task))
    grown = tree(told(here.store.journal(state.task.id)))
    if as_json:
        return print_json(decisions_json(state, grown))
    return show(decisions(state, grown))
