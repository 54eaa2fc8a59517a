"""`afresh work`: take tasks from the queue, one after another or several at once."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from afresh.cli.options import WholeNumber, add_run_options, model_option, open_current_project
from afresh.cli.output import echo_wrapped, print_page, wants_json
from afresh.cli.run import NoSandboxAlarm, RunFlags, apply_and_report, run_with_progress
from afresh.views.page import Page
from afresh.views.task_facts import describe_outcome, list_next_commands

if TYPE_CHECKING:
    from afresh.app.pool.worker_pool import PoolResult, PoolTerms
    from afresh.app.project import Project
    from afresh.core.state import State
    from afresh.errors import AfreshError
    from afresh.fleet.worker import FleetTerms

SECONDS_BY_UNIT = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
MAX_WORKERS = 256


def parse_duration(context: click.Context, parameter: click.Parameter, value: str | None) -> float:
    """Return the seconds of `90s`, `30m`, `8h` or `2d`; 0 if the option was not given."""
    if not value:
        return 0.0
    match = re.fullmatch(r"(\d{1,5})([smhd])", value)
    if not match or not int(match[1]):
        raise click.BadParameter(f"{value!r} is not a duration (use 90s, 30m, 8h or 2d)", context, parameter)
    return float(int(match[1]) * SECONDS_BY_UNIT[match[2]])


@click.command("work")
@click.option("--until-empty", is_flag=True, help="Continue until no task is ready.")
@click.option("--workers", type=WholeNumber(1, MAX_WORKERS), metavar="N", help="Run N tasks at once.")
@click.option(
    "--for",
    "seconds",
    callback=parse_duration,
    metavar="TIME",
    help="Take tasks for 90s, 30m, 8h or 2d, then end.",
)
@click.option("--auto-merge", is_flag=True, help="Merge verified results into your branch, in order.")
@click.option("--no-schedules", is_flag=True, help="With a PostgreSQL store: leave schedules and heartbeats to others.")
@model_option
@add_run_options
def command(
    until_empty: bool, workers: int | None, seconds: float, auto_merge: bool, no_schedules: bool, **way: Any
) -> int | Page:
    """Run the next ready task; interrupted ones come first. With a PostgreSQL store: tasks of all its projects, until stopped."""
    from afresh.fleet.stored_projects import find_fleet_address

    if address := find_fleet_address():
        from afresh.fleet.worker import FleetTerms

        flags = RunFlags(unattended=True, **way)
        refuse_in_fleet(flags, auto_merge)
        terms = FleetTerms(
            address, workers or 1, until_empty, seconds, flags.model, flags.no_sandbox, flags.mode, flags.quiet,
            schedules=not no_schedules,
        )  # fmt: skip
        return work_for_fleet(terms)
    if no_schedules:
        what = "schedules are run by `afresh serve` or `afresh schedule run --loop`; without PostgreSQL no worker runs them"
        raise click.BadParameter(what, param_hint="--no-schedules")
    project = open_current_project()
    if workers is None and not seconds and not auto_merge:
        return work_alone(project, RunFlags(unattended=until_empty, **way), until_empty)
    from afresh.app.pool.worker_pool import PoolTerms

    flags = RunFlags(unattended=True, **way)
    return work_together(project, flags, PoolTerms(workers or 1, until_empty, seconds, flags.verbose, auto_merge))


def refuse_in_fleet(flags: RunFlags, auto_merge: bool) -> None:
    """Raise BadParameter for what needs a person, a checkout or one answer."""
    if flags.mode == "interactive":
        raise click.BadParameter("workers of a fleet can't be interactive; use --mode supervised", param_hint="--mode")
    if wants_json():
        what = "workers of a fleet report in lines; `afresh status --json` shows the tasks"
        raise click.BadParameter(what, param_hint="--json")
    if auto_merge:
        what = "workers of a fleet have no branch of yours; `afresh apply` merges a result"
        raise click.BadParameter(what, param_hint="--auto-merge")


def work_for_fleet(terms: "FleetTerms") -> int:
    """Be one of the machines that work on the tasks of a store. Returns the exit code; raises if the server is not there."""
    from afresh.fleet.executor_lock import open_connection
    from afresh.fleet.worker_group import WorkerGroup, start_worker_process

    open_connection(terms.address).close()
    return WorkerGroup(terms, lambda text: echo_line("", text), start_worker_process).run()


def work_alone(project: "Project", flags: RunFlags, until_empty: bool) -> Page:
    """Work in this process, with progress on the screen and questions to the person there."""
    from afresh.core.task import TaskStatus
    from afresh.core.text import format_count
    from afresh.errors import AfreshError

    done, delayed = list["State"](), list[AfreshError]()
    try:
        while state := run_or_delay(project, flags, delayed, until_empty):
            done.append(state)
            report_end(project, state)
            if not wants_json():
                echo_wrapped(f"  next: {list_next_commands(project.store.load(state.task.id))[0]}")
            if not until_empty:
                break
    except AfreshError:
        # for example a spending limit, which would stop the next task, too
        if wants_json() and done:
            print_page(make_outcomes_output(done))
        raise
    if delayed:
        print_page(make_outcomes_output(done))
        raise delayed[0]
    if done and not until_empty and not wants_json():
        counts = project.queue.counts()
        more = counts.by_status.get(TaskStatus.READY, 0) - counts.waiting
        if more > 0:
            click.echo(f"{format_count(more, 'more task')} can run now: afresh work --until-empty")
    return make_outcomes_output(done)


def run_or_delay(project: "Project", flags: RunFlags, delayed: "list[AfreshError]", until_empty: bool) -> "State | None":
    """Run the next task. One whose own model can't be used is passed over; with `until_empty` one with any fault of its own."""
    from afresh.errors import AfreshError, NeedsPerson

    while True:
        try:
            return run_with_progress(project, None, flags)
        except AfreshError as fault:
            if not fault.of_one_task or not (until_empty or isinstance(fault, NeedsPerson)):
                raise
            delayed.append(fault)
            if not wants_json():
                echo_wrapped(f"{fault}; the task {'is tried again later' if fault.retry_at else 'has failed'}", err=True)


def work_together(project: "Project", flags: RunFlags, terms: "PoolTerms") -> Page:
    """Run several tasks at once, with one line for each event. Questions wait in the inbox."""
    from afresh.app.compose import RunTerms
    from afresh.app.pool.worker_pool import WorkerPool

    if flags.mode == "interactive":
        raise click.BadParameter("several tasks at once can't be interactive; use --mode supervised", param_hint="--mode")
    run = RunTerms(flags.model, flags.no_sandbox, (NoSandboxAlarm(),), mode=flags.mode, unattended=True)

    def say(task: str, text: str) -> None:
        if not flags.is_silent:
            echo_line(task, text)

    def finish(state: "State") -> None:
        report_end(project, state, apply=not terms.auto_merge)

    result = WorkerPool(project, terms, run, say, finish).run()
    return replace(make_outcomes_output(result.ended), code=choose_pool_code(result))


def echo_line(task: str, text: str) -> None:
    """Print one line about a task, whole, with nothing in it that a terminal obeys."""
    from afresh.cli.render.widgets import draw_lines, quote_text

    head = f"{task}: " if task else ""
    click.echo(draw_lines([quote_text(head + text)], colour=False), err=True, nl=False)


def choose_pool_code(result: "PoolResult") -> int:
    """An error outweighs a signal, and that the tasks."""
    from afresh import errors
    from afresh.cli.exit_codes import ExitCode, choose_error_class_code, choose_status_code

    codes = [choose_error_class_code(getattr(errors, name, OSError)) for name in result.errors]
    if codes:
        return codes[0]
    return ExitCode.INTERRUPTED if result.stopped_by else choose_status_code(state.status for state in result.ended)


def report_end(project: "Project", state: "State", apply: bool = True) -> None:
    if not wants_json():
        echo_wrapped(f"{state.task.id}: {describe_outcome(state)}")
    if apply:
        apply_and_report(project, state)


def make_outcomes_output(done: "Sequence[State]") -> Page:
    from afresh.cli.exit_codes import choose_status_code

    rows = [{"task": state.task.id, "status": state.status, "outcome": state.work.outcome} for state in done]
    return Page(rows, "" if done else "no tasks ready", choose_status_code(state.status for state in done))
