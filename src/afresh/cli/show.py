"""`afresh show`: one task in detail."""

import click

from afresh.cli.common import json_option


@click.command()
@click.argument("task", required=False)
@json_option
def command(task: str | None, as_json: bool) -> None:
    """Show TASK: goal, checks, changes, steps, what failed, what to do next."""
    from afresh.app.spend import task_line
    from afresh.app.tasks import find
    from afresh.cli.common import desk, print_json
    from afresh.cli.common import show as render
    from afresh.cli.views.costs import cost_json
    from afresh.cli.views.show import show, show_json
    from afresh.cli.working import cost_words

    here = desk()
    state = here.store.load(find(here, task))
    if as_json:
        return print_json(show_json(state) | {"cost": cost_json(task_line(here, state.task.id))})
    return render(show(state, cost_words(here, state.task.id)))
