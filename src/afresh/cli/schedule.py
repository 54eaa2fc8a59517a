"""`afresh schedule`: what is done again and again: tasks that are added, and the checklist .afresh/HEARTBEAT.md."""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from afresh.cli.exit_codes import ExitCode
from afresh.cli.options import json_option, make_knob_option, model_option, open_current_project
from afresh.cli.output import print_json
from afresh.core.text import format_count

if TYPE_CHECKING:
    from afresh.app.heartbeat.announce import Announcer
    from afresh.app.heartbeat.heartbeat import HeartbeatResult
    from afresh.app.project import Project
    from afresh.core.heartbeat import HeartbeatItem, ItemState, ScheduleState

LOOP_SECONDS = 30.0
"""Between two looks at what is due."""
STOP_SECONDS = 0.2
"""Between two looks whether it is to stop."""


@click.group()
def command() -> None:
    """Add tasks again and again, and watch the checklist .afresh/HEARTBEAT.md.

    A model is called only about what has changed on the checklist.
    """


@command.command("list")
@json_option
def list_all(as_json: bool) -> None:
    """Show schedules and items of the checklist, with times and costs."""
    from afresh.app.heartbeat.heartbeat import list_heartbeat_items
    from afresh.app.heartbeat.heartbeat_state import load_heartbeat_state
    from afresh.app.heartbeat.schedules import list_schedules
    from afresh.core.schedule import find_next_due

    project = open_current_project()
    listed, state = list_heartbeat_items(project), load_heartbeat_state(project)
    schedules = [(one, find_next_due(one.schedule, one.after)) for one in list_schedules(project)]
    if as_json:
        items, told = [item_to_json(*one) for one in listed], [schedule_to_json(*one) for one in schedules]
        return print_json({"paused": state.paused, "ran": state.ran, "items": items, "schedules": told})
    if state.paused:
        click.echo("the checklist is paused; `afresh schedule resume` goes on")
    for item, known in listed:
        click.echo(describe_item(item, known))
    for one, due in schedules:
        last = f" · last task {one.task}" if one.task else ""
        click.echo(f"{one.schedule.id}: {one.schedule.words} · next {format_moment(due) if due else 'never'}{last}")
        if one.note:
            click.echo(f"  {one.note}")
    if not schedules:
        click.echo("no schedules")
    return None


def schedule_to_json(one: "ScheduleState", due: float | None) -> dict[str, Any]:
    said = one.schedule
    return {"id": said.id, "goal": said.goal, "when": said.words, "next": due, "task": one.task, "note": one.note}


@command.command("add")
@click.argument("goal", required=False)
@click.option("--report", is_flag=True, help="Announce the report of the last week instead of adding a task.")
@click.option("--every", default="", metavar="INTERVAL", help="Such as 6h, 1d or 2w.")
@click.option("--cron", default="", metavar="LINE", help="Such as '0 3 * * 1': Mondays at three, by this machine's clock.")
@click.option("--type", default="", metavar="TYPE", help="Type of the task.")
@click.option("--check", "checks", multiple=True, metavar="COMMAND", help="Command that must exit 0 when done. Repeatable.")
@model_option
@make_knob_option("budget")
@json_option
def add_one(goal: str | None, report: bool, every: str, cron: str, knobs: Mapping[str, Any], as_json: bool, **order: Any) -> None:
    """Add GOAL as a task each time that it is due."""
    from afresh.app.heartbeat.schedules import add_report_schedule, add_schedule
    from afresh.app.orders.tasks import TaskOrder

    if report == bool(goal):
        raise click.UsageError("give either a GOAL or --report")
    project = open_current_project()
    made = (
        add_schedule(project, TaskOrder(goal, **order, **knobs), every, cron)
        if goal
        else add_report_schedule(project, every, cron)
    )
    return print_json({"id": made.id}) if as_json else click.echo(f"{made.id}: {made.words}")


@command.command("remove")
@click.argument("name", metavar="ID")
@json_option
def remove_one(name: str, as_json: bool) -> None:
    """Remove a schedule; tasks that it has added stay."""
    from afresh.app.heartbeat.schedules import remove_schedule

    removed = remove_schedule(open_current_project(), name).id
    print_json({"removed": removed}) if as_json else click.echo(f"removed {removed}")


@command.command("run")
@click.option("--loop", is_flag=True, help="Go on until Ctrl-C or SIGTERM; also adds scheduled tasks.")
@click.option("--notify", metavar="COMMAND", default="", help="Run this with each announcement; 'desktop': a notification.")
@click.option("--add-tasks", is_flag=True, help="Also add a task for each announcement.")
@json_option
def run_once_or_loop(loop: bool, notify: str, add_tasks: bool, as_json: bool) -> ExitCode | None:
    """Check all items once, or each time that they are due."""
    from afresh.app.heartbeat.announce import Announcer
    from afresh.app.heartbeat.heartbeat import HeartbeatTerms, run_heartbeat

    project = open_current_project()
    announcer = Announcer(project, lambda text: click.echo(text, err=as_json), notify, add_tasks)
    terms = HeartbeatTerms(announce=announcer.announce, alert=lambda text: click.echo(text, err=True), only_when_due=loop)
    if not loop:
        result = run_heartbeat(project, terms)
        print_result(result, as_json)
        return ExitCode.SETUP if any(check.waits_for_model for check in result.checks) else None
    return run_until_stopped(lambda: run_due(project, terms, announcer, as_json))


def run_until_stopped(look: Callable[[], None]) -> None:
    """Look again and again. SIGTERM or SIGHUP ends it after a look, a second one or Ctrl-C at once."""
    from contextlib import suppress

    from afresh.app.service.stop_signal import StopSignal

    with suppress(KeyboardInterrupt), StopSignal() as stop:
        while not stop.received:
            look()
            until = time.monotonic() + LOOP_SECONDS
            while not stop.received and time.monotonic() < until:
                time.sleep(STOP_SECONDS)


def run_due(project: "Project", terms: Any, announcer: "Announcer", as_json: bool) -> None:
    """Run what is due. A fault is told, and does not end the loop."""
    from afresh.app.heartbeat.run_due import run_what_is_due
    from afresh.errors import AfreshError

    try:
        result = run_what_is_due(project, announcer, terms)
        if not result.skipped:
            print_result(result, as_json)
    except AfreshError as fault:
        click.echo(f"afresh: {fault}", err=True)


def print_result(result: "HeartbeatResult", as_json: bool) -> None:
    if as_json:
        from afresh.core.codec import to_plain_value

        return print_json({"skipped": result.skipped, "checks": [to_plain_value(check) for check in result.checks]})
    if result.skipped:
        return click.echo(f"nothing was run: {result.skipped}")
    for check in result.checks:
        if check.note:
            click.echo(f"{check.text}: {check.note}")
    checked = sum(check.was_checked for check in result.checks)
    return click.echo(f"{checked} checked, {len(result.changed)} changed")


def item_to_json(item: "HeartbeatItem", known: "ItemState") -> dict[str, Any]:
    return {
        "text": item.text, "command": item.command, "checked": known.checked, "changed": known.changed, "calls": known.calls,
        "tokens": known.tokens, "cost": known.cost, "announcement": known.announcement, "note": known.note,
    }  # fmt: skip


def describe_item(item: "HeartbeatItem", known: "ItemState") -> str:
    from afresh.core.usage import format_dollars

    checked = f"checked {format_moment(known.checked)}" if known.checked else "not checked yet"
    changed = f"changed {format_moment(known.changed)}" if known.changed else "no change"
    cost = f"{format_count(known.calls, 'call')}, {known.tokens:,} tokens, {format_dollars(known.cost)}"
    lines = [item.text, *([f"  `{item.command}`"] if item.command else []), f"  {checked} · {changed} · {cost}"]
    lines += [f"  announced: {known.announcement}"] if known.announcement else []
    return "\n".join([*lines, *([f"  {known.note}"] if known.note else [])])


def format_moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


@command.command("pause")
@json_option
def pause_runs(as_json: bool) -> None:
    """Leave the checklist alone until `afresh schedule resume`."""
    set_paused(True, as_json)


@command.command("resume")
@json_option
def resume_runs(as_json: bool) -> None:
    """Go on after `afresh schedule pause`."""
    set_paused(False, as_json)


def set_paused(paused: bool, as_json: bool) -> None:
    from afresh.app.heartbeat.heartbeat import pause_heartbeat

    pause_heartbeat(open_current_project(), paused)
    print_json({"paused": paused}) if as_json else click.echo("paused" if paused else "the checklist is checked again")
