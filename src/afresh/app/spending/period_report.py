"""Collects the report of a week: from the ledger what calls took, from the journals how tasks went."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from afresh.app.project import Project
from afresh.app.spending.read_spending import hash_project_root
from afresh.core.context_alert import find_context_alerts
from afresh.core.ledger import LedgerCall, SpendingFilter
from afresh.core.task import TicketOrder, TicketQuery
from afresh.spending.reports import WORK_KINDS, list_call_sizes, list_model_calls, list_prompt_sizes, sum_calls
from afresh.views.file_io import make_folder, refuse_symlinks, replace_file
from afresh.views.model_calls import measure_token_growth
from afresh.views.period_report import PeriodFigures, PeriodReport, list_alert_lines, report_to_markdown
from afresh.views.run_figures import RunFigures, measure_run

DAYS_PER_WEEK = 7
REPORTS_FOLDER_NAME = "reports"
MAX_ALERTS_READ = 1_000


def find_week(now: float, whole: bool = False) -> tuple[float, float, float]:
    """When the week before, this week, and its end are: the last seven days; or the last whole week, Monday to Sunday."""
    local = datetime.fromtimestamp(now)
    end = datetime(local.year, local.month, local.day) - timedelta(days=local.weekday()) if whole else local
    weeks = [end - timedelta(days=DAYS_PER_WEEK * back) for back in (2, 1, 0)]
    before, since, until = (time.mktime(one.timetuple()) + one.microsecond / 1e6 for one in weeks)
    return before, since, until


def report_period(project: Project, whole_week: bool = False) -> PeriodReport:
    before, since, until = find_week(project.clock.now(), whole_week)
    root = hash_project_root(project.paths.root)
    calls = list_model_calls(project.ledger.calls(SpendingFilter(before, root)))
    sizes = [size for size in list_call_sizes(calls) if size.at < until]
    prompts = [(one.at, one.words) for one in find_context_alerts(sizes, project.settings.alerts)]
    limits = [(at, one.words) for one, at in project.ledger.alerts(MAX_ALERTS_READ)]
    return PeriodReport(
        project.paths.root.name,
        collect_figures(project, calls, since, until),
        collect_figures(project, calls, before, since),
        list_alert_lines([one for one in (*prompts, *limits) if since <= one[0] < until]),
    )


def collect_figures(project: Project, calls: Sequence[LedgerCall], since: float, until: float) -> PeriodFigures:
    within = [call for call in calls if since <= call.booking.account.at < until]
    sizes = list_prompt_sizes(within)
    whole = sum_calls(within)
    return PeriodFigures(
        since=since,
        until=until,
        work=measure_token_growth([size for kind in WORK_KINDS for size in sizes.get(kind.value, ())]),
        calls=whole.calls,
        sent=whole.input,
        received=whole.output,
        money=whole.money,
        unpriced=whole.unpriced.calls,
        runs=measure_runs(project, since, until),
    )


def measure_runs(project: Project, since: float, until: float) -> tuple[RunFigures, ...]:
    """Reads the journals of the tasks that something happened to since, and of no other."""
    touched = list[str]()
    for ticket in project.queue.tickets(TicketQuery(parents=(), order=TicketOrder.TOUCHED)):
        if ticket.detail and ticket.detail.updated < since:
            break
        touched.append(ticket.task)
    return tuple(measure_run(project.store.journal(task), since, until) for task in touched)


def write_period_report(project: Project, report: PeriodReport, path: Path | None = None) -> Path:
    """Write it as Markdown, by default to `.afresh/state/reports`, named by its last day."""
    folder = project.paths.make_state() / REPORTS_FOLDER_NAME
    name = time.strftime("%Y-%m-%d", time.localtime(report.now.until - 1))
    path = path or folder / f"{name}.md"
    refuse_symlinks(path.parent, path)
    make_folder(path.parent)
    replace_file(path, report_to_markdown(report))
    return path
