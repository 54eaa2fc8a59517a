"""Work on a task with progress on the screen, and tell how it ended."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from afresh.app.tasks import Desk
    from afresh.domain.event import Entry
    from afresh.domain.state import State


class Alarm:
    """A Watcher that says on stderr, whatever else is silent, that nothing confines the commands of this run."""

    def saw(self, state: "State", entries: "Sequence[Entry]") -> None:
        from afresh.domain.event import Decided
        from afresh.domain.fact import UNCONFINED

        if any(isinstance(entry.event, Decided) and entry.event.decision.text == UNCONFINED for entry in entries):
            click.secho(f"NO SANDBOX: {UNCONFINED}", fg="red", bold=True, err=True)

    def doing(self, what: str) -> None:
        """Only what was decided is told."""


def work_on_one(here: "Desk", task: str | None, *, model: str, no_sandbox: bool, quiet: bool) -> "State | None":
    from afresh.app.compose import Terms, work
    from afresh.app.spend import task_money
    from afresh.cli.views.progress import LiveProgress
    from afresh.cli.views.terminal import terminal
    from afresh.domain.limits import dollars

    def spent(task: str) -> str:
        amount = task_money(here, task)
        return dollars(amount) if amount else ""

    with LiveProgress(here.clock, terminal(sys.stderr), quiet, spent=spent) as progress:
        return work(here, task, Terms(model, no_sandbox, (Alarm(), progress), progress.alert))


def cost_words(here: "Desk", task: str) -> str:
    """Money that a task has taken; empty where nobody pays."""
    from afresh.app.spend import task_line
    from afresh.cli.views.costs import cost

    return cost(task_line(here, task))


def work_and_tell(here: "Desk", task: str, *, model: str, no_sandbox: bool, quiet: bool, as_json: bool) -> None:
    """Exit code 0 only if the harness verified the result."""
    state = work_on_one(here, task, model=model, no_sandbox=no_sandbox, quiet=quiet or as_json)
    assert state, "a named task is claimed or refused"
    tell(here, state, as_json)
    if state.status != "done":
        sys.exit(1)


def tell(here: "Desk", state: "State", as_json: bool) -> None:
    from afresh.app.calls import accumulating, audits
    from afresh.app.results import changes
    from afresh.app.spend import task_line
    from afresh.cli.common import print_json, show
    from afresh.cli.views.costs import cost_json
    from afresh.cli.views.summary import summary, summary_json

    made, calls = changes(here, state), [audit for _, audit in audits(here, state.task.id)]
    whole = accumulating(here, state.task.id)
    if as_json:
        print_json(summary_json(state, made, calls, whole) | {"cost": cost_json(task_line(here, state.task.id))})
    else:
        show(summary(state, made, calls, whole, cost=cost_words(here, state.task.id)))
