"""`afresh undo`: take back what a task did last."""

import click

from afresh.cli.options import json_option


@click.command()
@click.argument("task", required=False)
@click.option(
    "--steps", default=0, type=click.IntRange(min=0), metavar="N", help="So many steps; else back to before the last change."
)
@click.option("--why", default="", metavar="WORDS", help="Told to the model, so that it does not do it again.")
@json_option
def command(task: str | None, steps: int, why: str, as_json: bool) -> None:
    """Take back the last change of TASK (the one touched last, if none is named), in its own tree."""
    from afresh.app.task_result import undo_task_steps
    from afresh.app.tasks import find_task
    from afresh.cli.options import open_current_project
    from afresh.cli.output import print_json
    from afresh.views.task_status import format_count

    here = open_current_project()
    name = find_task(here, task)
    before, after = here.store.load(name), undo_task_steps(here, name, steps, why)
    gone = [path for path in before.workspace.changed if path not in after.workspace.changed]
    if as_json:
        return print_json(
            {
                "task": name,
                "changed": list(after.workspace.changed),
                "no_longer_changed": gone,
                "snapshot": after.workspace.snapshot,
            }
        )
    left = ", ".join(after.workspace.changed) or "no file"
    done = f"undone in {name}: {format_count(after.workspace.reverted - before.workspace.reverted, 'change')}"
    if after.head == before.head:
        done = f"the last undo in {name} had not come to its end: its tree is put back now, and no more was taken back"
    click.echo(f"{done}; changed now: {left}")
    return click.echo(f"`afresh resume {name}` goes on from there, and knows that you took it back")
