"""What was spent: by day, task, kind of call, section, model and project, against the limits."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from afresh.adapters.store.spending import REPLY, By, Line, Which, alerts, contexts, grouped, whole
from afresh.app.calls import accumulating, audits
from afresh.app.purse import Purse, project_id
from afresh.app.tasks import Desk, find
from afresh.domain.growth import Growth, growth
from afresh.domain.limits import Account, Alert, Breaker, Limit, Scope
from afresh.domain.task import Status
from afresh.errors import AfreshError, BadInput

__all__ = ["REPLY", "By", "Line", "Report", "TaskCost", "Used", "report", "reset", "since", "task_line", "task_money", "told"]
TASKS = 20
"""Whose journals are read to tell what an accumulating history would have sent."""
ALERTS = 5


@dataclass(frozen=True, slots=True)
class Used:
    """A limit, and what counts against it."""

    limit: Limit
    spent: int
    tripped: bool


@dataclass(frozen=True, slots=True)
class TaskCost:
    """What else is known of a task of this project."""

    steps: int
    allowed: int
    """Steps: its budget."""
    contexts: int
    sent: int
    accumulating: int
    status: Status


@dataclass(frozen=True, slots=True)
class Report:
    by: By
    which: Which
    lines: Sequence[Line]
    whole: Line
    used: Sequence[Used]
    breakers: Sequence[Breaker]
    alerts: Sequence[tuple[Alert, float]]
    kinds: dict[str, Growth]
    tasks: dict[str, TaskCost]


def report(own: Purse, by: By, start: float, everywhere: bool) -> Report:
    """Of the project that one stands in, unless all are asked for."""
    which = Which(start, "" if everywhere else own.account.project)
    if not own.ledger.kept():
        return Report(by, which, (), Line(""), used(own), (), (), {}, {})
    lines = grouped(own.ledger, by, which)
    return Report(
        by=by,
        which=which,
        lines=lines,
        whole=whole(own.ledger, which),
        used=used(own),
        breakers=own.ledger.breakers(),
        alerts=alerts(own.ledger, ALERTS),
        kinds={kind: growth(calls) for kind, calls in sorted(contexts(own.ledger, which).items())},
        tasks=_costs(own.desk, lines) if by is By.TASK and own.desk else {},
    )


def used(own: Purse) -> list[Used]:
    """Of limits that count for more than one task."""
    wide = [limit for limit in own.limits if limit.scope not in (Scope.CALL, Scope.TASK)]
    wide = [limit for limit in wide if own.desk or limit.scope is not Scope.PROJECT]
    if not own.ledger.kept():
        return [Used(limit, 0, False) for limit in wide]
    stopped = {(one.limit.scope, one.limit.unit) for one in own.ledger.stopping(own.account)}
    return [Used(limit, own.ledger.spent(own.account, limit), (limit.scope, limit.unit) in stopped) for limit in wide]


def told(own: Purse) -> list[str]:
    """What a person should know before anything else: limits that stop the work here, and those that are nearly used up."""
    try:
        return _told(own) if own.ledger.kept() else []
    except AfreshError as fault:
        return [f"the books of what is spent can't be read: {fault}"]


def _told(own: Purse) -> list[str]:
    stopped = [f"{one.words}. Nothing calls a model until `afresh spend reset {one.limit.scope}`, or a higher limit" for one in
               own.ledger.stopping(own.account) if one.limit.scope not in (Scope.CALL, Scope.TASK)]  # fmt: skip
    near = [one for one in used(own) if not one.tripped and one.spent * 10 >= one.limit.most * 8]
    return stopped + [f"{one.limit.unit.words(one.spent)} of the limit of {one.limit.words} used" for one in near]


def task_line(desk: Desk, task: str) -> Line | None:
    """What one task has cost, with what it has handed out; nothing if the books can't be read, which is no reason to fail."""
    try:
        return whole(desk.ledger, Which(project=project_id(desk.project.root)), task) if desk.ledger.kept() else Line(task)
    except AfreshError:
        return None


def task_money(desk: Desk, task: str) -> int:
    """The same in nano-dollars, to be asked at every step; 0 if the books can't be read."""
    try:
        return desk.ledger.task_money(Account(project_id(desk.project.root), task, 0.0)) if desk.ledger.kept() else 0
    except AfreshError:
        return 0


def reset(own: Purse, scope: Scope, task: str | None) -> list[Breaker]:
    """What was spent no longer counts against this limit; the breakers that this ended."""
    one = scope in (Scope.TASK, Scope.CALL)
    if task and not one:
        raise BadInput(f"the limit of a {scope} is no task's", next=f"afresh spend reset {scope}", safe="nothing was reset")
    if not own.desk and not scope.everybody:
        raise BadInput(f"here is no project whose {scope} could be meant", next="go to its repository", safe="nothing was reset")
    if not own.ledger.kept():
        raise BadInput("nothing was ever spent", next="nothing has to be reset", safe="nothing was reset")
    named = find(own.desk, task) if own.desk and one else ""
    return own.ledger.reset(Account(own.account.project, named, own.now), scope)


def since(text: str, now: float) -> float:
    """`7d`, `24h`, `2w`, `today`, `all` or a date."""
    if found := re.fullmatch(r"(\d{1,5})([hdw])", text):
        return now - int(found[1]) * {"h": 3_600, "d": 86_400, "w": 604_800}[found[2]]
    if text == "all":
        return 0.0
    try:
        day = date.fromtimestamp(now) if text == "today" else date.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{text!r} is no time", next="give 7d, 24h, 2w, today, all or a date such as 2026-03-01") from None
    return time.mktime(datetime(day.year, day.month, day.day).timetuple())


def _costs(desk: Desk, lines: Sequence[Line]) -> dict[str, TaskCost]:
    known = {ticket.task for ticket in desk.queue.tickets()}
    return {line.name: _cost(desk, line.name) for line in lines[:TASKS] if line.name in known}


def _cost(desk: Desk, task: str) -> TaskCost:
    state, sent = desk.store.load(task), [audit.tokens for _, audit in audits(desk, task)]
    return TaskCost(state.step, state.limit, len(sent), sum(sent), accumulating(desk, task), state.status)
