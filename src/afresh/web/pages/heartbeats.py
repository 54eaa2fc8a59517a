"""Heartbeats: what is watched, when it last changed and what it has cost; and tasks that are added at set times."""

from starlette.responses import Response

from afresh.app.heartbeat.heartbeat import (
    HeartbeatPlan,
    is_run_dead,
    load_heartbeat_plan,
    load_heartbeat_state,
    pause_heartbeat,
    require_heartbeat_plan,
)
from afresh.app.heartbeat.schedules import add_schedule, find_next_due, remove_schedule
from afresh.app.inspect.inspect_templates import list_template_rows
from afresh.app.orders.tasks import TaskOrder
from afresh.app.service.start_worker import read_heartbeat_log, start_heartbeat
from afresh.core.heartbeat import ItemState
from afresh.core.schedule import format_interval
from afresh.errors import BadInput
from afresh.web.visit import PageRoute, Visit

NEVER_CHECKED = ItemState()


def show_heartbeats(visit: Visit) -> Response:
    project, state = visit.project, load_heartbeat_state(visit.project)
    plan, fault = read_plan_or_fault(visit)
    return visit.show(
        "heartbeats.html",
        plan=plan,
        every=format_interval(plan.every) if plan else "",
        fault=fault,
        state=state,
        running=bool(state.worker) and not is_run_dead(state, project.clock.now()),
        items=[(item, state.items.get(item.key, NEVER_CHECKED)) for item in (plan.items if plan else ())],
        schedules=[(schedule, find_next_due(schedule.schedule, schedule.after)) for schedule in state.schedules.values()],
        types=[row for row in list_template_rows(project.templates) if row.kind == "work" and not row.fault],
        log=read_heartbeat_log(project),
    )


def read_plan_or_fault(visit: Visit) -> tuple[HeartbeatPlan | None, str]:
    try:
        return load_heartbeat_plan(visit.project.paths.folder), ""
    except BadInput as fault:
        return None, f"{fault.what}; {fault.next}"


def steer_heartbeat(visit: Visit) -> Response:
    how = visit.get_part("how")
    with visit.open_to_change() as project:
        if how == "check":
            require_heartbeat_plan(project)
            start_heartbeat(project)
            said = "A check has been started. What it finds appears here."
        elif how in ("pause", "resume"):
            pause_heartbeat(project, how == "pause")
            said = "Paused: nothing is checked until you resume." if how == "pause" else "Items are checked again."
        else:
            raise BadInput("no such action", next="use the buttons of the page", safe="nothing was changed")
    return visit.go(visit.link("heartbeats"), said)


def add_new_schedule(visit: Visit) -> Response:
    form = visit.form
    order = TaskOrder(form.get("goal", ""), form.get("type", ""), tuple(filter(None, [form.get("check", "").strip()])))
    with visit.open_to_change() as project:
        schedule = add_schedule(project, order, form.get("every", "").strip(), form.get("cron", "").strip())
    return visit.go(visit.link("heartbeats"), f"Scheduled: {schedule.words}.")


def remove_one_schedule(visit: Visit) -> Response:
    with visit.open_to_change() as project:
        removed = remove_schedule(project, visit.get_part("schedule"))
    return visit.go(visit.link("heartbeats"), f"“{removed.goal}” is no longer scheduled. Tasks that it has added stay.")


ROUTES = [
    PageRoute("/heartbeats", show_heartbeats),
    PageRoute("/heartbeats/schedules", add_new_schedule, "POST"),
    PageRoute("/heartbeats/schedules/{schedule}/remove", remove_one_schedule, "POST"),
    PageRoute("/heartbeats/{how}", steer_heartbeat, "POST"),
]
