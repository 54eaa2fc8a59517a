"""Spend: money and tokens by day, task, kind and section, against the limits."""

import time
from dataclasses import dataclass

from starlette.responses import Response

from afresh.app.spending.read_spending import describe_money, measure_limit_use
from afresh.app.spending.spending_ledger import open_ledger_of_project
from afresh.app.spending.spending_report import SpendingGroup, parse_since, report_spending, reset_limit
from afresh.core.spending import LimitScope, LimitUnit, SpendingAccount
from afresh.errors import BadInput
from afresh.web.visit import PageRoute, Visit

DAYS_SHOWN = 14
SECONDS_PER_DAY = 86_400
PERIODS = ("today", "7d", "30d", "all")
GROUPS = (SpendingGroup.TASK, SpendingGroup.DAY, SpendingGroup.KIND, SpendingGroup.SECTION, SpendingGroup.MODEL)
MAX_LINES_SHOWN = 100


@dataclass(frozen=True, slots=True)
class DaySpending:
    day: str
    money: int
    tokens: int


def show_spend(visit: Visit) -> Response:
    """What counts against limits is added up as it is spent, so that this takes the same however much that is."""
    own = open_ledger_of_project(visit.project)
    days = [read_day(visit, own.now - back * SECONDS_PER_DAY) for back in range(DAYS_SHOWN)]
    return visit.show(
        "spend.html",
        used=measure_limit_use(own.ledger, own.account, own.limits),
        narrow=[limit for limit in own.limits if limit.scope in (LimitScope.CALL, LimitScope.TASK)],
        tripped=own.ledger.tripped(),
        alerts=own.ledger.alerts(DAYS_SHOWN),
        days=days,
        most=max(max(day.money for day in days), 1) if any(day.money for day in days) else 0,
        most_tokens=max(max(day.tokens for day in days), 1),
        groups=GROUPS,
        periods=PERIODS,
        by=choose_group(visit),
        since=choose_period(visit),
    )


def read_day(visit: Visit, at: float) -> DaySpending:
    """Read what all projects have spent on the day of this moment."""
    account = SpendingAccount("", "", at)
    money, tokens = (
        visit.project.ledger.tally(account, LimitScope.DAY, one).total for one in (LimitUnit.MONEY, LimitUnit.TOKENS)
    )
    return DaySpending(time.strftime("%Y-%m-%d", time.localtime(at)), money, tokens)


def choose_group(visit: Visit) -> SpendingGroup:
    text = visit.get_query("by", GROUPS[0])
    if text not in GROUPS:
        raise BadInput(f"can't group by {text!r}", next="choose one of the list")
    return SpendingGroup(text)


def choose_period(visit: Visit) -> str:
    text = visit.get_query("since", PERIODS[1])
    if text not in PERIODS:
        raise BadInput(f"no such period: {text!r}", next="choose one of the list")
    return text


def show_breakdown(visit: Visit) -> Response:
    """The calls of the period, one by one: it comes after the rest of the page."""
    own, by = open_ledger_of_project(visit.project), choose_group(visit)
    report = report_spending(own, by, parse_since(choose_period(visit), own.now), everywhere=False, with_history=False)
    lines, whole = report.lines[:MAX_LINES_SHOWN], report.whole
    return visit.show(
        "breakdown.html",
        report=report,
        lines=lines,
        money=describe_money,
        by=by,
        goals=visit.read_goals(line.name for line in lines) if by is SpendingGroup.TASK else {},
        with_paid=bool(whole.money or whole.unpriced.calls) and any(line.paid for line in lines),
    )


def reset_one_limit(visit: Visit) -> Response:
    text = visit.form.get("scope", "")
    if text not in [scope.value for scope in LimitScope]:  # Python 3.11 does not ask an enum for a value
        raise BadInput(f"no such limit: {text!r}", next="use the buttons of the page", safe="nothing was reset")
    with visit.open_to_change() as project:
        ended = reset_limit(open_ledger_of_project(project), LimitScope(text), visit.form.get("task") or None)
    lines = [f"The {text} limit counts from now on."] + [f"Calls are possible again: {limit.words}" for limit in ended]
    return visit.go(visit.link("spend"), "\n".join(lines))


ROUTES = [
    PageRoute("/spend", show_spend),
    PageRoute("/spend/breakdown", show_breakdown),
    PageRoute("/spend", reset_one_limit, "POST"),
]
