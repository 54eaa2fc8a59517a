"""Tasks that are added again and again: kept in the notebook, and added once for each time that they are due."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.app.heartbeat.heartbeat_state import load_heartbeat_state
from afresh.app.orders.tasks import TaskOrder, add_task, make_task, make_task_id
from afresh.app.project import Project
from afresh.core.heartbeat import ScheduleAdded, ScheduleFired, ScheduleRemoved, ScheduleState
from afresh.core.redaction import redact_secrets
from afresh.core.schedule import Schedule, find_next_due, find_served_moment, parse_cron, parse_interval
from afresh.core.task import TaskStatus, TicketQuery
from afresh.core.truncate import to_one_line
from afresh.errors import AfreshError, BadInput

NOTHING_SCHEDULED = "nothing was scheduled"
REPORT_GOAL = "weekly report"
REPORT_NOTE = "the report of the last week is announced"
MAX_CLOCK_CORRECTION_SECONDS = 3_600.0
"""A clock that was further ahead when a schedule was last served was wrong; it must not be silent until then."""
STANDING_STATUSES = (TaskStatus.READY, TaskStatus.RUNNING, TaskStatus.BLOCKED)


def add_schedule(project: Project, order: TaskOrder, every: str = "", cron: str = "") -> Schedule:
    """Check the order as a task's is checked, and keep it. It is first due one interval from now, or at the cron line's time."""
    if not order.goal.strip():
        raise BadInput("the goal is empty", next='afresh schedule add "GOAL" --every 1d', safe=NOTHING_SCHEDULED)
    seconds, line = parse_times(every, cron)
    own = project.settings.schedules  # for what is not said with the schedule
    order = replace(order, type=order.type or own.type, budget=order.budget or own.budget, model=order.model or own.model)
    make_task(project, order)
    goal = redact_secrets(order.goal.strip())
    schedule = Schedule(make_task_id(goal), goal, seconds, line, order.type, order.checks, order.budget, order.model)
    return keep_schedule(project, schedule)


def add_report_schedule(project: Project, every: str = "", cron: str = "") -> Schedule:
    """Have the report of the last week announced, again and again."""
    seconds, line = parse_times(every, cron)
    return keep_schedule(project, Schedule(make_task_id(REPORT_GOAL), REPORT_GOAL, seconds, line, report=True))


TIMES_ADVICE = 'pass --every such as 30m, 12h or 7d, or --cron "0 7 * * 1-5": minute, hour, day, month and weekday'


def parse_times(every: str, cron: str) -> tuple[int, str]:
    """The seconds of the interval, or the cron line with single blanks."""
    if bool(every) == bool(cron):
        raise BadInput("a schedule needs either --every or --cron", next=TIMES_ADVICE, safe=NOTHING_SCHEDULED)
    try:
        if cron:
            parse_cron(cron)
        return parse_interval(every) if every else 0, " ".join(cron.split())
    except ValueError as fault:
        raise BadInput(str(fault), next=TIMES_ADVICE, safe=NOTHING_SCHEDULED) from None


def keep_schedule(project: Project, schedule: Schedule) -> Schedule:
    if find_next_due(schedule, project.clock.now()) is None:
        raise BadInput(f"{schedule.cron!r} never comes", next="name a day that exists", safe=NOTHING_SCHEDULED)
    project.notebook.append([ScheduleAdded(schedule, project.clock.now())])
    return schedule


def make_order(schedule: Schedule) -> TaskOrder:
    return TaskOrder(schedule.goal, schedule.type, schedule.checks, model=schedule.model, budget=schedule.budget)


def list_schedules(project: Project) -> Sequence[ScheduleState]:
    return list(load_heartbeat_state(project).schedules.values())


def remove_schedule(project: Project, name: str) -> Schedule:
    """Remove the schedule with this id, or the only one whose id begins so. Tasks that it has added stay."""
    schedules = [schedule.schedule for schedule in list_schedules(project) if name and schedule.schedule.id.startswith(name)]
    exact = [schedule for schedule in schedules if schedule.id == name] or schedules
    if len(exact) != 1:
        what = f"{'several schedules begin with' if exact else 'there is no schedule'} {name!r}"
        raise BadInput(what, next="`afresh schedule list` shows their ids", safe="nothing was removed")
    project.notebook.append([ScheduleRemoved(exact[0].id)])
    return exact[0]


def run_due_schedules(project: Project, now: float) -> Sequence[ScheduleFired]:
    """Add a task for each schedule that is due. Due times that were missed count as one; none is served twice, also by two
    processes, since a task and the record of it are one commit."""
    if not any(_find_served_moment(schedule, now) is not None for schedule in list_schedules(project)):
        return ()
    with project.storage.transaction():
        fired = [
            _fire_schedule(project, schedule, served)
            for schedule in list_schedules(project)
            if (served := _find_served_moment(schedule, now)) is not None
        ]
        project.notebook.append(fired)
    return fired


def _find_served_moment(schedule: ScheduleState, now: float) -> float | None:
    if schedule.after - now > MAX_CLOCK_CORRECTION_SECONDS:
        return now
    return find_served_moment(schedule.schedule, schedule.after, now)


def _fire_schedule(project: Project, one: ScheduleState, served: float) -> ScheduleFired:
    """A schedule whose last task is still to be done adds no other: without a worker tasks would pile up."""
    schedule = one.schedule
    if one.after > served:
        return ScheduleFired(schedule.id, served, one.task, "the clock was set back: the next time is counted from now")
    if schedule.report:
        return ScheduleFired(schedule.id, served, note=REPORT_NOTE)
    if one.task and _is_standing(project, one.task):
        return ScheduleFired(schedule.id, served, one.task, f"{one.task} is not done yet")
    try:
        added = add_task(project, make_order(schedule))
    except AfreshError as fault:
        return ScheduleFired(schedule.id, served, note=to_one_line(str(fault), 200))
    return ScheduleFired(schedule.id, served, added.task.id)


def _is_standing(project: Project, task: str) -> bool:
    tickets = project.queue.tickets(TicketQuery(prefix=task, statuses=STANDING_STATUSES))
    return any(ticket.task == task for ticket in tickets)
