"""`afresh run` and `resume`: work on a task, with progress on the screen."""

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import click

from afresh.cli.options import (
    KNOBS,
    OrderCommand,
    WholeNumber,
    add_order_options,
    add_run_options,
    is_attended,
    make_knob_option,
    make_order_terms,
    model_option,
    open_current_project,
    read_order,
    select_limits,
)
from afresh.cli.output import echo_wrapped, print_page, wants_json

if TYPE_CHECKING:
    from afresh.app.project import Project
    from afresh.cli.render.progress import LiveProgress
    from afresh.core.event import JournalEntry
    from afresh.core.progress_event import ProgressEvent
    from afresh.core.state import State


@click.command("run", cls=OrderCommand)
@add_order_options
@click.option("--on", default="", metavar="TASK", help="Go on from the result of TASK, applied or not.")
@click.option("--with-changes", is_flag=True, help="Include the uncommitted changes of your checkout.")
@make_knob_option(*KNOBS)
@add_run_options
def run_command(goal: str | None, type_: str, checks: tuple[str, ...], **more) -> int:
    """Work on GOAL until the checks verify it. Exits 0 only if they do."""
    from afresh.app.inspect.inspect_instructions import describe_task_instructions
    from afresh.app.orders.order_task import order_task
    from afresh.app.orders.tasks import TaskOrder

    project = open_current_project()
    flags = RunFlags(**{name: more[name] for name in RunFlags.__dataclass_fields__ if name in more})
    flags = replace(flags, baseline=more["knobs"].get("baseline", ""))
    flags.refuse_alone()
    terms = make_order_terms(more["no_check"], more["force"], is_attended(), silent=flags.is_silent)
    goal, events = read_order(goal, more)
    order = TaskOrder(goal, type_, checks, model=flags.model, **select_limits(more))
    state = order_task(project, order, terms, more["on"], more["with_changes"], events)
    for line in describe_task_instructions(project, state) if not flags.is_silent else ():
        echo_wrapped(line, err=True, dim=True)
    return run_and_report(project, state.task.id, flags)


@click.command("resume")
@click.argument("task", required=False)
@click.option(
    "--from",
    "step",
    type=WholeNumber(min=0),
    metavar="STEP",
    help="Go back to the checkpoint after STEP (see `afresh show --checkpoints`).",
)
@click.option("--hint", default="", metavar="WORDS", help="What the model should know this time, after a failure.")
@model_option
@add_run_options
def resume_command(task: str | None, step: int | None, hint: str, **way) -> int:
    """Continue TASK (default: the latest that is not over).

    A failed TASK is tried again, with all that it knows. A discarded one starts again from scratch, as a new task.
    """
    from afresh.app.orders.tasks import find_task
    from afresh.app.queue.hold_task import end_pause
    from afresh.app.queue.retry_task import retry_task

    project, flags = open_current_project(), RunFlags(**way)
    name = find_task(project, task, lambda ticket: ticket.status.retried if hint else not ticket.status.over)
    flags.refuse_alone()
    if step is not None:
        from afresh.app.results.recover_task import recover_task

        recover_task(project, name, step)
    if hint or (task and project.store.load(name).status.retried):
        name = retry_task(project, name, hint).task.id
    end_pause(project, name)
    return run_and_report(project, name, flags)


class NoSandboxAlarm:
    """A Watcher that warns on stderr, even with --quiet, that commands run without a sandbox."""

    def saw(self, state: "State", entries: "Sequence[JournalEntry]") -> None:
        from afresh.core.decision import UNSANDBOXED_DECISION
        from afresh.core.event import DecisionMade

        if any(isinstance(entry.event, DecisionMade) and entry.event.decision.waives_sandbox for entry in entries):
            click.secho(f"NO SANDBOX: {UNSANDBOXED_DECISION}", fg="red", bold=True, err=True)

    def follow(self, event: "ProgressEvent") -> None:
        """Do nothing: only committed events matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFlags:
    """The user's choices for a run, as typed."""

    model: str = ""
    mode: str = ""
    no_sandbox: bool = False
    quiet: bool = False
    verbose: bool = False
    notify: str = ""
    baseline: str = ""
    unattended: bool = False
    """Questions wait in the inbox, so that other tasks can go on."""

    @property
    def is_silent(self) -> bool:
        return self.quiet or wants_json()

    def refuse_alone(self) -> None:
        from afresh.errors import BadInput

        if self.mode == "interactive" and not is_attended():
            raise BadInput(
                "--mode interactive needs a terminal",
                next="use --mode supervised: it pauses before each phase and waits for `afresh answer`",
                safe="no task was created",
            )


def run_with_progress(project: "Project", task: str | None, flags: RunFlags) -> "State | None":
    from afresh.app.compose import RunTerms, run_task
    from afresh.app.service.stop_signal import StopSignal
    from afresh.cli.interactive import PersonAtTerminal
    from afresh.cli.render.console import open_console
    from afresh.cli.render.progress import LiveProgress, ProgressOptions

    flags.refuse_alone()
    mode, quiet = flags.mode or choose_mode(project, task), flags.is_silent
    options = ProgressOptions(quiet, flags.verbose, partial(describe_money_so_far, project))
    showing = LiveProgress(project.clock, open_console(sys.stderr), options)
    call = make_call_for_user(project, flags, showing)
    with showing as progress, StopSignal() as stop, call_after_error(call):
        watchers = (NoSandboxAlarm(), progress, stop)
        terms = RunTerms(
            flags.model,
            flags.no_sandbox,
            watchers,
            progress.alert,
            flags.mode,
            flags.baseline,
            cancellations=(stop,),
            unattended=flags.unattended,
        )
        if is_attended():
            with PersonAtTerminal(project, progress, sys.stdin, mode == "interactive", call, flags.unattended) as person:
                state = run_task(project, task, replace(terms, person=person))
        else:
            state = run_task(project, task, terms)
        if state and not (is_attended() and state.dialogue.question):  # who was asked here knows it
            call(state)
        return state


def make_call_for_user(project: "Project", flags: RunFlags, progress: "LiveProgress") -> "Callable[[State | str], None]":
    """Return what rings the bell and notifies the user, about a task or about an error."""
    from afresh.app.heartbeat.notify_user import describe_notice, notify_user
    from afresh.core.state import State

    command = flags.notify or project.settings.hooks.notify

    def call_user(about: "State | str") -> None:
        progress.ring()
        if isinstance(about, State):
            notify_user(command, describe_notice(about), about)
        else:
            notify_user(command, about)

    return call_user


@contextmanager
def call_after_error(call: "Callable[[State | str], None]") -> "Generator[None]":
    """Call the user when a run stops with an error, too."""
    from afresh.errors import AfreshError, Cancelled

    try:
        yield
    except Cancelled:
        raise
    except AfreshError as fault:
        call(str(fault))
        raise


def describe_money_so_far(project: "Project", task: str) -> str:
    from afresh.app.spending.spending_report import sum_task_charge
    from afresh.core.usage import format_dollars

    charge = sum_task_charge(project, task)
    known = [format_dollars(charge.money)] if charge.money else []
    return " + ".join(known + ([f"{charge.unpriced:,} tokens of unknown price"] if charge.unpriced else []))


def choose_mode(project: "Project", task: str | None) -> str:
    """Return the supervision mode of the task, else of the user's settings."""
    return (project.store.load(task).dialogue.supervision.mode if task else "") or project.settings.mode


def run_and_report(project: "Project", task: str, flags: RunFlags) -> int:
    """Run the task and report. Exits 0 only if the harness verified the result."""
    from afresh.app.queue.hold_task import keep_from_workers
    from afresh.cli.exit_codes import choose_status_code
    from afresh.cli.report_error import name_interrupted_task

    try:
        with name_interrupted_task(task):
            state = run_with_progress(project, task, flags)
    except KeyboardInterrupt:
        keep_from_workers(project, task)
        raise
    assert state, "a named task is claimed or refused"
    report_outcome(project, state, flags.verbose)
    apply_and_report(project, state)
    return choose_status_code([state.status])


def apply_and_report(project: "Project", state: "State") -> None:
    """Apply the result if the user wants that of every verified task."""
    from afresh.app.results.task_result import apply_if_wanted

    if text := apply_if_wanted(project, state):
        click.echo(text, err=True)


def report_outcome(project: "Project", state: "State", verbose: bool = False, stays: bool = True) -> None:
    from afresh.app.inspect.inspect_calls import list_audits
    from afresh.app.inspect.measure_calls import compare_with_history
    from afresh.app.results.task_result import list_task_changes
    from afresh.app.spending.read_spending import cost_to_json, describe_cost
    from afresh.app.spending.spending_report import sum_task_spending
    from afresh.cli.render.run_summary import build_run_summary

    changes, calls = list_task_changes(project, state), [audit for _, audit in list_audits(project, state.task.id)]
    history = compare_with_history(project, state.task.id) if verbose or wants_json() else None
    spent = sum_task_spending(project, state.task.id)
    page = build_run_summary(state, changes, calls, history, cost=describe_cost(spent), stays=stays)
    print_page(replace(page, data=page.data | {"cost": cost_to_json(spent)}))
