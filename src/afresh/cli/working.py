"""Work on a task with progress on the screen, and tell how it ended."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How the user wants a run to go, as typed."""

    model: str = ""
    mode: str = ""
    no_sandbox: bool = False
    quiet: bool = False
    as_json: bool = False

    @property
    def attended(self) -> bool:
        """Whether somebody is there to be asked."""
        return sys.stdin.isatty() and sys.stderr.isatty() and not self.as_json

    def refuse_alone(self) -> None:
        from afresh.errors import BadInput

        if self.mode == "interactive" and not self.attended:
            raise BadInput(
                "--mode interactive needs a terminal, and this is none",
                next="--mode supervised comes to rest at each change of phase, and waits for `afresh answer`",
                safe="no task was begun",
            )


def work_on_one(here: "Desk", task: str | None, way: Way) -> "State | None":
    from afresh.app.compose import Terms, work
    from afresh.cli.beside import Beside
    from afresh.cli.views.progress import LiveProgress
    from afresh.cli.views.terminal import terminal

    way.refuse_alone()
    mode, quiet = way.mode or followed(here, task), way.quiet or way.as_json
    spent = partial(money_so_far, here)
    with LiveProgress(here.clock, terminal(sys.stderr), quiet, plain=mode == "interactive", spent=spent) as progress:
        terms = Terms(way.model, way.no_sandbox, (Alarm(), progress), progress.alert, way.mode)
        if not way.attended:
            return work(here, task, terms)
        with Beside(here, progress, sys.stdin, heeds_interrupts=mode == "interactive") as person:
            return work(here, task, replace(terms, person=person))


def money_so_far(here: "Desk", task: str) -> str:
    from afresh.app.spend import task_money
    from afresh.domain.limits import dollars

    amount = task_money(here, task)
    return dollars(amount) if amount else ""


def cost_words(here: "Desk", task: str) -> str:
    """Money that a task has taken; empty where nobody pays."""
    from afresh.app.spend import task_line
    from afresh.cli.views.costs import cost

    return cost(task_line(here, task))


def followed(here: "Desk", task: str | None) -> str:
    """How closely, when this run does not say: as the task has it, else the user's settings."""
    return (here.store.load(task).attendance.mode if task else "") or here.settings.mode


def work_and_tell(here: "Desk", task: str, way: Way) -> None:
    """Exit code 0 only if the harness verified the result."""
    state = work_on_one(here, task, way)
    assert state, "a named task is claimed or refused"
    tell(here, state, way.as_json)
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
