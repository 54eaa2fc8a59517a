"""Reports spending by day, task, purpose, section, model and project, against the limits."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from afresh.app.inspect.measure_calls import compare_with_history
from afresh.app.orders.tasks import find_task
from afresh.app.project import Project
from afresh.app.queue.read_tasks import find_ticket
from afresh.app.spending.read_spending import LimitUse, find_cache_rates, hash_project_root, measure_limit_use, sum_task_calls
from afresh.app.spending.spending_ledger import OpenLedger
from afresh.core.context_alert import ContextAlert, find_context_alerts
from afresh.core.ledger import SpendingFilter
from afresh.core.spending import Charge, LimitAlert, LimitScope, LimitUnit, SpendingAccount, TrippedLimit
from afresh.core.task import TaskStatus
from afresh.errors import AfreshError, BadInput
from afresh.spending.reports import (
    SpendingGroup,
    SpendingLine,
    list_call_sizes,
    list_model_calls,
    list_prompt_sizes,
    sum_calls,
    sum_calls_by_group,
    weigh_calls,
)
from afresh.views.model_calls import HistoryComparison, TokenGrowth, measure_token_growth

MAX_TASKS_COMPARED = 20
"""How many journals are read to compare with a growing history."""
MAX_ALERTS = 5


@dataclass(frozen=True, slots=True)
class TaskCost:
    """Steps and tokens of a task of this project."""

    steps: int
    allowed: int
    """Maximum number of steps."""
    tokens: HistoryComparison
    status: TaskStatus


@dataclass(frozen=True, slots=True)
class SpendingReport:
    by: SpendingGroup
    which: SpendingFilter
    lines: Sequence[SpendingLine]
    whole: SpendingLine
    used: Sequence[LimitUse]
    breakers: Sequence[TrippedLimit]
    alerts: Sequence[tuple[LimitAlert, float]]
    context_alerts: Sequence[ContextAlert]
    kinds: dict[str, TokenGrowth]
    tasks: dict[str, TaskCost]


def report_spending(
    own: OpenLedger, by: SpendingGroup, start: float, everywhere: bool, with_history: bool = True
) -> SpendingReport:
    """Report the spending of the current project, or of all projects. `with_history`: compare tasks with a growing history, for
    which their journals are read."""
    which = SpendingFilter(start, "" if everywhere else own.account.project)
    calls = list_model_calls(own.ledger.calls(which))
    weighed = weigh_calls(calls, find_cache_rates)
    lines = sum_calls_by_group(calls, by, weighed)
    return SpendingReport(
        by=by,
        which=which,
        lines=lines,
        whole=sum_calls(calls, weighed=weighed),
        used=measure_limit_use(own.ledger, own.account, own.limits),
        breakers=own.ledger.tripped(),
        alerts=own.ledger.alerts(MAX_ALERTS),
        context_alerts=find_context_alerts(list_call_sizes(calls), own.thresholds)[-MAX_ALERTS:],
        kinds={kind: measure_token_growth(sizes) for kind, sizes in sorted(list_prompt_sizes(calls).items())},
        tasks=_collect_task_costs(own.project, lines) if with_history and by is SpendingGroup.TASK and own.project else {},
    )


def sum_task_spending(project: Project, task: str) -> SpendingLine | None:
    return sum_task_calls(project.ledger, project.paths.root, task)


def sum_task_charge(project: Project, task: str) -> Charge:
    """Return what a task has taken; nothing if the ledger cannot be read. Called at every step."""
    account = SpendingAccount(hash_project_root(project.paths.root), task, 0.0)
    try:
        return Charge(*(project.ledger.tally(account, LimitScope.TASK, unit).total for unit in LimitUnit))
    except AfreshError:
        return Charge()


def reset_limit(own: OpenLedger, scope: LimitScope, task: str | None) -> Sequence[TrippedLimit]:
    """Start counting again for a limit; return the tripped limits that this resets."""
    one = scope in (LimitScope.TASK, LimitScope.CALL)
    if task and not one:
        raise BadInput(
            f"the {scope} limit does not belong to a task", next=f"afresh spend --reset {scope}", safe="nothing was reset"
        )
    if not own.project and not scope.everybody:
        raise BadInput(
            f"not in a project, so there is no {scope} limit to reset",
            next="run this in the project's repository",
            safe="nothing was reset",
        )
    if not own.ledger.tally(own.account, LimitScope.TOTAL, LimitUnit.TOKENS).total and not own.ledger.tripped():
        raise BadInput("nothing has been spent yet", next="there is nothing to do", safe="nothing was reset")
    named = find_task(own.project, task) if own.project and one else ""
    return own.ledger.reset(SpendingAccount(own.account.project, named, own.now), scope)


def parse_since(text: str, now: float) -> float:
    """Parse `7d`, `24h`, `2w`, `today`, `all` or a date."""
    if match := re.fullmatch(r"(\d{1,5})([hdw])", text):
        return now - int(match[1]) * {"h": 3_600, "d": 86_400, "w": 604_800}[match[2]]
    if text == "all":
        return 0.0
    try:
        day = date.fromtimestamp(now) if text == "today" else date.fromisoformat(text)
    except ValueError:
        raise BadInput(
            f"invalid --since value {text!r}", next="use 24h, 7d, 2w, today, all or a date such as 2026-03-01"
        ) from None
    return time.mktime(datetime(day.year, day.month, day.day).timetuple())


def _collect_task_costs(project: Project, lines: Sequence[SpendingLine]) -> dict[str, TaskCost]:
    known = [line.name for line in lines[:MAX_TASKS_COMPARED] if find_ticket(project.queue, line.name)]
    return {task: _read_task_cost(project, task) for task in known}


def _read_task_cost(project: Project, task: str) -> TaskCost:
    state = project.store.load(task)
    return TaskCost(state.work.step, state.work.limit, compare_with_history(project, task), state.status)
