"""`afresh schedule`: tasks that are added at an interval or at the times of a cron line."""

from typing import Any

import click

from afresh.cli.options import WholeNumber, default_to_zero, json_option, model_option, open_current_project
from afresh.cli.output import print_json


@click.group()
def command() -> None:
    """Add tasks again and again; `afresh heartbeat run --loop` adds those that are due."""


@command.command("add")
@click.argument("goal")
@click.option("--every", default="", metavar="INTERVAL", help="Such as 6h, 1d or 2w.")
@click.option("--cron", default="", metavar="LINE", help="Such as '0 3 * * 1': Mondays at three, by this machine's clock.")
@click.option("--type", default="", metavar="TYPE", help="Type of the task.")
@click.option("--check", "checks", multiple=True, metavar="COMMAND", help="Must exit 0; can be repeated.")
@click.option("--budget", callback=default_to_zero, type=WholeNumber(min=1), metavar="N", help="Maximum tokens per call.")
@model_option
@json_option
def add_one(goal: str, every: str, cron: str, as_json: bool, **order: Any) -> None:
    """Add GOAL as a task each time that it is due."""
    from afresh.app.heartbeat.schedules import add_schedule
    from afresh.app.orders.tasks import TaskOrder

    schedule = add_schedule(open_current_project(), TaskOrder(goal, **order), every, cron)
    return print_json({"id": schedule.id}) if as_json else click.echo(f"{schedule.id}: {schedule.words}")


@command.command("report")
@click.option("--every", default="", metavar="INTERVAL", help="Such as 1w.")
@click.option("--cron", default="", metavar="LINE", help="Such as '0 9 * * 1': Mondays at nine.")
@json_option
def add_report(every: str, cron: str, as_json: bool) -> None:
    """Announce the report of the last week each time that it is due."""
    from afresh.app.heartbeat.schedules import add_report_schedule

    schedule = add_report_schedule(open_current_project(), every, cron)
    return print_json({"id": schedule.id}) if as_json else click.echo(f"{schedule.id}: {schedule.words}")


@command.command("list")
@json_option
def list_all(as_json: bool) -> None:
    """List the schedules with their next time and last task."""
    from afresh.app.heartbeat.schedules import list_schedules
    from afresh.cli.heartbeat import format_moment
    from afresh.core.schedule import find_next_due

    listed = [(one, find_next_due(one.schedule, one.after)) for one in list_schedules(open_current_project())]
    if as_json:
        return print_json(
            [
                {"id": one.schedule.id, "goal": one.schedule.goal, "when": one.schedule.words, "next": due, "task": one.task,
                 "note": one.note}
                for one, due in listed
            ]
        )  # fmt: skip
    for one, due in listed:
        last = f" · last task {one.task}" if one.task else ""
        click.echo(f"{one.schedule.id}: {one.schedule.words} · next {format_moment(due) if due else 'never'}{last}")
        if one.note:
            click.echo(f"  {one.note}")
    if not listed:
        click.echo("no schedules")
    return None


@command.command("remove")
@click.argument("name", metavar="ID")
@json_option
def remove_one(name: str, as_json: bool) -> None:
    """Remove a schedule; tasks that it has added stay."""
    from afresh.app.heartbeat.schedules import remove_schedule

    removed = remove_schedule(open_current_project(), name).id
    print_json({"removed": removed}) if as_json else click.echo(f"removed {removed}")
