"""Home: what runs, what waits for a person, what today has cost, and what has finished since the last look."""

from dataclasses import dataclass
from functools import partial

from starlette.responses import Response

from afresh.app.service.start_worker import explain_worker_stop
from afresh.app.spending.read_spending import measure_limit_use
from afresh.app.spending.spending_ledger import open_ledger_of_project
from afresh.app.spending.spending_report import sum_task_charge
from afresh.core.spending import Charge, LimitScope
from afresh.core.task import QueueTicket, TaskStatus, TicketOrder, TicketQuery
from afresh.views.step_line import StepSummary, make_step_line
from afresh.views.task_list import SETTLED_STATUSES, WAITING_STATUSES, survey_queue
from afresh.web.visit import PageRoute, Visit

MAX_RUNNING_LOADED = 6
MAX_FINISHED = 8
SECONDS_PER_DAY = 86_400
MS_PER_SECOND = 1_000
LOOKED_COOKIE = "afresh-looked"
FINISHED_STATUSES = tuple({*SETTLED_STATUSES, *WAITING_STATUSES} - {TaskStatus.BLOCKED})


@dataclass(frozen=True, slots=True)
class RunningTask:
    ticket: QueueTicket
    charge: Charge
    last: StepSummary | None


def show_home(visit: Visit) -> Response:
    project = visit.project
    overview = survey_queue(project.queue)
    groups = {group.title: group for group in overview.groups}
    own = open_ledger_of_project(project)
    used = measure_limit_use(own.ledger, own.account, own.limits)
    running = groups["Running"].tickets if "Running" in groups else ()
    needing = {ticket.task for ticket in groups["Needs you"].tickets} if "Needs you" in groups else set[str]()
    return visit.show(
        "home.html",
        running=[read_running_task(visit, ticket) for ticket in running[-MAX_RUNNING_LOADED:]],
        waiting=groups.get("Needs you"),
        coming=groups.get("Waiting"),
        today=[limit_use for limit_use in used if limit_use.limit.scope is LimitScope.DAY],
        limits=[limit_use for limit_use in used if limit_use.limit.scope is not LimitScope.DAY],
        tripped=own.ledger.tripped(own.account),
        finished=[ticket for ticket in list_finished_since(visit) if ticket.task not in needing],
        since=read_last_look(visit),
        counts=overview.counts,
        explain_stop=partial(explain_worker_stop, project),
    )


def read_running_task(visit: Visit, ticket: QueueTicket) -> RunningTask:
    recent = visit.project.store.load(ticket.task).memory.recent
    return RunningTask(ticket, sum_task_charge(visit.project, ticket.task), make_step_line(recent[-1]) if recent else None)


def read_last_look(visit: Visit) -> float:
    """Return when the person last said that all was seen, in this browser; at first a day ago."""
    text = visit.request.cookies.get(LOOKED_COOKIE, "")
    known = int(text) / MS_PER_SECOND if text.isascii() and text.isdigit() and len(text) < 15 else 0.0
    return known or visit.project.clock.now() - SECONDS_PER_DAY


def list_finished_since(visit: Visit) -> list[QueueTicket]:
    """Return the tasks that came to an end since the last look, the latest first."""
    query = TicketQuery(FINISHED_STATUSES, parents=(), order=TicketOrder.TOUCHED, most=MAX_FINISHED)
    since = read_last_look(visit)
    return [ticket for ticket in visit.project.queue.tickets(query) if ticket.detail and ticket.detail.updated > since]


def mark_all_seen(visit: Visit) -> Response:
    answer = visit.go(visit.link())
    looked = str(round(visit.project.clock.now() * MS_PER_SECOND))
    answer.set_cookie(LOOKED_COOKIE, looked, max_age=365 * SECONDS_PER_DAY, path="/", httponly=True, samesite="strict")
    return answer


ROUTES = [PageRoute("/", show_home), PageRoute("/seen", mark_all_seen, "POST")]
