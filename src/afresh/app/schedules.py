"""Tasks that are added again and again: kept in the notebook, and added once for each time that they are due."""

from collections.abc import Sequence

from afresh.app.heartbeat_state import load_heartbeat_state
from afresh.app.project import Project
from afresh.app.tasks import TaskOrder, add_task, make_task, make_task_id
from afresh.core.heartbeat import ScheduleAdded, ScheduleFired, ScheduleRemoved, ScheduleState
from afresh.core.redaction import redact_secrets
from afresh.core.schedule import Schedule, find_next_due, find_served_moment, parse_cron, parse_interval
from afresh.core.task import TaskStatus, TicketQuery
from afresh.core.truncate import to_one_line
from afresh.errors import AfreshError, BadInput

NOTHING_SCHEDULED = "nothing was scheduled"
STANDING_STATUSES = (TaskStatus.READY, TaskStatus.RUNNING, TaskStatus.BLOCKED)


def add_schedule(project: Project, order: TaskOrder, every: str = "", cron: str = "") -> Schedule:
    """Check the order as a task's is checked, and keep it. It is first due one interval from now, or at the cron line's time."""
    if bool(every) == bool(cron):
        raise BadInput("a schedule needs either --every or --cron", next="see docs/heartbeat.md", safe=NOTHING_SCHEDULED)
    if not order.goal.strip():
        raise BadInput("the goal is empty", next='afresh schedule add "GOAL" --every 1d', safe=NOTHING_SCHEDULED)
    try:
        seconds = parse_interval(every) if every else 0
        if cron:
            parse_cron(cron)
    except ValueError as fault:
        raise BadInput(str(fault), next="see docs/heartbeat.md", safe=NOTHING_SCHEDULED) from None
    make_task(project, order)
    goal = redact_secrets(order.goal.strip())
    schedule = Schedule(make_task_id(goal), goal, seconds, " ".join(cron.split()), order.type, order.checks)
    if find_next_due(schedule, project.clock.now()) is None:
        raise BadInput(f"{cron!r} never comes", next="name a day that exists", safe=NOTHING_SCHEDULED)
    project.notebook.append([ScheduleAdded(schedule, project.clock.now())])
    return schedule


def list_schedules(project: Project) -> Sequence[ScheduleState]:
    return list(load_heartbeat_state(project).schedules.values())


def remove_schedule(project: Project, name: str) -> Schedule:
    """Remove the schedule with this id, or the only one whose id begins so. Tasks that it has added stay."""
    found = [one.schedule for one in list_schedules(project) if name and one.schedule.id.startswith(name)]
    exact = [one for one in found if one.id == name] or found
    if len(exact) != 1:
        what = f"{'several schedules begin with' if exact else 'there is no schedule'} {name!r}"
        raise BadInput(what, next="afresh schedule list", safe="nothing was removed")
    project.notebook.append([ScheduleRemoved(exact[0].id)])
    return exact[0]


def run_due_schedules(project: Project, now: float) -> Sequence[ScheduleFired]:
    """Add a task for each schedule that is due. Due times that were missed count as one; none is served twice, also by two
    processes, since a task and the record of it are one commit."""
    if not any(_find_served_moment(one, now) is not None for one in list_schedules(project)):
        return ()
    with project.storage.transaction():
        fired = [
            _fire_schedule(project, one, served)
            for one in list_schedules(project)
            if (served := _find_served_moment(one, now)) is not None
        ]
        project.notebook.append(fired)
    return fired


def _find_served_moment(one: ScheduleState, now: float) -> float | None:
    return find_served_moment(one.schedule, one.after, now)


def _fire_schedule(project: Project, one: ScheduleState, served: float) -> ScheduleFired:
    """A schedule whose last task is still to be done adds no other: without a worker tasks would pile up."""
    schedule = one.schedule
    if one.task and _is_standing(project, one.task):
        return ScheduleFired(schedule.id, served, one.task, f"{one.task} is not done yet")
    try:
        added = add_task(project, TaskOrder(schedule.goal, schedule.type, schedule.checks))
    except AfreshError as fault:
        return ScheduleFired(schedule.id, served, note=to_one_line(str(fault), 200))
    return ScheduleFired(schedule.id, served, added.task.id)


def _is_standing(project: Project, task: str) -> bool:
    found = project.queue.tickets(TicketQuery(prefix=task, statuses=STANDING_STATUSES))
    return any(ticket.task == task for ticket in found)
