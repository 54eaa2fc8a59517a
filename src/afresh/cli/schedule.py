"""`afresh schedule`: what is done again and again: tasks that are added, and the checklist .afresh/HEARTBEAT.md."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import click

from afresh.app.heartbeat.announce import Announcer
from afresh.app.heartbeat.heartbeat import (
    HeartbeatResult,
    HeartbeatTerms,
    list_heartbeat_items,
    pause_heartbeat,
    run_heartbeat,
)
from afresh.app.heartbeat.heartbeat_state import load_heartbeat_state
from afresh.app.heartbeat.run_due import run_what_is_due
from afresh.app.heartbeat.schedules import add_report_schedule, add_schedule, list_schedules, remove_schedule
from afresh.app.orders.tasks import TaskOrder
from afresh.app.project import Project
from afresh.app.service.stop_signal import StopSignal
from afresh.cli.exit_codes import ExitCode
from afresh.cli.options import make_knob_option, model_option, with_project
from afresh.cli.output import print_page, wants_json
from afresh.core.codec import to_plain_value
from afresh.core.heartbeat import HeartbeatItem, ItemState, ScheduleState
from afresh.core.schedule import find_next_due
from afresh.core.text import format_count
from afresh.core.usage import format_dollars
from afresh.errors import AfreshError
from afresh.views.page import Page

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
@with_project
def list_all(project: Project) -> Page:
    """Show schedules and items of the checklist, with times and costs."""
    listed, state = list_heartbeat_items(project), load_heartbeat_state(project)
    schedules = [(one, find_next_due(one.schedule, one.after)) for one in list_schedules(project)]
    lines = ["the checklist is paused; `afresh schedule pause --off` goes on"] if state.paused else []
    lines += [describe_item(item, known) for item, known in listed]
    for schedule, due in schedules:
        last = f" · last task {schedule.task}" if schedule.task else ""
        lines.append(f"{schedule.schedule.id}: {schedule.schedule.words} · next {format_moment(due) if due else 'never'}{last}")
        lines += [f"  {schedule.note}"] if schedule.note else []
    items, rows = [item_to_json(*one) for one in listed], [schedule_to_json(*one) for one in schedules]
    data = {"paused": state.paused, "ran": state.ran, "items": items, "schedules": rows}
    return Page(data, "\n".join(lines if schedules else [*lines, "no schedules"]))


def schedule_to_json(schedule: ScheduleState, due: float | None) -> dict[str, Any]:
    said = schedule.schedule
    return {"id": said.id, "goal": said.goal, "when": said.words, "next": due, "task": schedule.task, "note": schedule.note}


@command.command("add")
@click.argument("goal", required=False)
@click.option("--report", is_flag=True, help="Announce the report of the last week instead of adding a task.")
@click.option("--every", default="", metavar="INTERVAL", help="Such as 6h, 1d or 2w.")
@click.option("--cron", default="", metavar="LINE", help="Such as '0 3 * * 1': Mondays at three, by this machine's clock.")
@click.option("--type", default="", metavar="TYPE", help="Type of the task.")
@click.option("--check", "checks", multiple=True, metavar="COMMAND", help="Command that must exit 0 when done. Repeatable.")
@model_option
@make_knob_option("budget")
@with_project
def add_one(
    project: Project, goal: str | None, report: bool, every: str, cron: str, knobs: Mapping[str, Any], **order: Any
) -> Page:
    """Add GOAL as a task each time that it is due."""
    if report == bool(goal):
        raise click.UsageError("give either a GOAL or --report")
    if goal:
        schedule = add_schedule(project, TaskOrder(goal, **order, **knobs), every, cron)
    else:
        schedule = add_report_schedule(project, every, cron)
    return Page({"id": schedule.id}, f"{schedule.id}: {schedule.words}")


@command.command("remove")
@click.argument("name", metavar="ID")
@with_project
def remove_one(project: Project, name: str) -> Page:
    """Remove a schedule; tasks that it has added stay."""
    removed = remove_schedule(project, name).id
    return Page({"removed": removed}, f"removed {removed}")


@command.command("run")
@click.option("--loop", is_flag=True, help="Go on until Ctrl-C or SIGTERM; also adds scheduled tasks.")
@click.option("--notify", metavar="COMMAND", default="", help="Run this with each announcement; 'desktop': a notification.")
@click.option("--add-tasks", is_flag=True, help="Also add a task for each announcement.")
@with_project
def run_once_or_loop(project: Project, loop: bool, notify: str, add_tasks: bool) -> Page | None:
    """Check all items once, or each time that they are due."""
    as_json = wants_json()
    announcer = Announcer(project, lambda text: click.echo(text, err=as_json), notify, add_tasks)
    terms = HeartbeatTerms(announce=announcer.announce, alert=lambda text: click.echo(text, err=True), only_when_due=loop)
    if loop:
        return run_until_stopped(lambda: run_due(project, terms, announcer))
    return make_result_output(run_heartbeat(project, terms))


def run_until_stopped(look: Callable[[], None]) -> None:
    """Look again and again. SIGTERM or SIGHUP ends it after a look, a second one or Ctrl-C at once."""
    with suppress(KeyboardInterrupt), StopSignal() as stop:
        while not stop.received:
            look()
            until = time.monotonic() + LOOP_SECONDS
            while not stop.received and time.monotonic() < until:
                time.sleep(STOP_SECONDS)


def run_due(project: Project, terms: HeartbeatTerms, announcer: Announcer) -> None:
    """Run what is due. Print an error and continue the loop."""
    try:
        result = run_what_is_due(project, announcer, terms)
        if not result.skipped:
            print_page(make_result_output(result))
    except AfreshError as fault:
        click.echo(f"afresh: {fault}", err=True)


def make_result_output(result: HeartbeatResult) -> Page:
    lines = [f"{check.text}: {check.note}" for check in result.checks if check.note]
    lines.append(f"{sum(check.was_checked for check in result.checks)} checked, {len(result.changed)} changed")
    data = {"skipped": result.skipped, "checks": [*map(to_plain_value, result.checks)]}
    text = f"nothing was run: {result.skipped}" if result.skipped else "\n".join(lines)
    return Page(data, text, ExitCode.SETUP if any(check.waits_for_model for check in result.checks) else 0)


def item_to_json(item: HeartbeatItem, known: ItemState) -> dict[str, Any]:
    return {
        "text": item.text, "command": item.command, "checked": known.checked, "changed": known.changed, "calls": known.calls,
        "tokens": known.tokens, "cost": known.cost, "announcement": known.announcement, "note": known.note,
    }  # fmt: skip


def describe_item(item: HeartbeatItem, known: ItemState) -> str:
    checked = f"checked {format_moment(known.checked)}" if known.checked else "not checked yet"
    changed = f"changed {format_moment(known.changed)}" if known.changed else "no change"
    cost = f"{format_count(known.calls, 'call')}, {known.tokens:,} tokens, {format_dollars(known.cost)}"
    lines = [item.text, *([f"  `{item.command}`"] if item.command else []), f"  {checked} · {changed} · {cost}"]
    lines += [f"  announced: {known.announcement}"] if known.announcement else []
    return "\n".join([*lines, *([f"  {known.note}"] if known.note else [])])


def format_moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


@command.command("pause")
@click.option("--off", is_flag=True, help="Watch the checklist again.")
@with_project
def pause_runs(project: Project, off: bool) -> Page:
    """Leave the checklist alone until `afresh schedule pause --off`."""
    pause_heartbeat(project, not off)
    return Page({"paused": not off}, "the checklist is checked again" if off else "paused")
