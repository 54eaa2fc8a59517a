"""`afresh decisions`: who decided what in a task, when, how sure, and what came of it."""

import click

from afresh.cli.options import json_option


@click.command()
@click.argument("task", required=False)
@json_option
def command(task: str | None, as_json: bool) -> None:
    """Show the decisions of TASK (default: the latest) as a tree."""
    from afresh.app.tasks import find_task
    from afresh.cli.options import open_current_project
    from afresh.cli.output import print_json, print_rendered
    from afresh.cli.render.decisions import render_decisions
    from afresh.views.decision_log import list_decisions
    from afresh.views.decision_tree import build_decision_tree, decisions_to_json

    here = open_current_project()
    state = here.store.load(find_task(here, task))
    grown = build_decision_tree(list_decisions(here.store.journal(state.task.id)))
    if as_json:
        return print_json(decisions_to_json(state, grown))
    return print_rendered(render_decisions(state, grown))
