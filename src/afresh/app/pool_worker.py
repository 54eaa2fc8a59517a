"""What a process of the pool does: claim one task, advance it, and report each event to the pool as a line of JSON."""

import gc
import json
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from afresh.app.compose import RunTerms, run_task
from afresh.app.project import Project
from afresh.app.stop_signal import STOP_SIGNALS, StopSignal
from afresh.core.event import JournalEntry
from afresh.core.progress_event import CallDelayed, ProgressEvent
from afresh.core.state import State
from afresh.core.task import TaskStatus, TicketOrder, TicketQuery
from afresh.errors import AfreshError, Cancelled
from afresh.storage.renew_lease import identify_worker
from afresh.views.progress import RunProgress, update_run_progress


class ReportKind(StrEnum):
    CLAIMED = "claimed"
    EMPTY = "empty"
    """No task is ready."""
    LINE = "line"
    """Something that happened in the run."""
    ENDED = "ended"
    """The task has come to rest."""
    STOPPED = "stopped"
    """The worker was asked to stop, and has released the task."""
    FAULT = "fault"
    """A person must act before the task can go on."""


@dataclass(frozen=True, slots=True)
class WorkerReport:
    kind: ReportKind
    task: str = ""
    text: str = ""
    error: str = ""
    """The class of the error; empty for a passing one, after which the task is tried again later."""


Report = Callable[[WorkerReport], None]


def encode_report(report: WorkerReport) -> bytes:
    return json.dumps(asdict(report)).encode() + b"\n"


def decode_report(line: bytes) -> WorkerReport:
    read = json.loads(line)
    return WorkerReport(ReportKind(read.pop("kind")), **read)


class ReportedProgress:
    """A Watcher that reports one line for each event of a run."""

    def __init__(self, task: str, report: Report, verbose: bool) -> None:
        self._task, self._report, self._verbose = task, report, verbose
        self._glance = RunProgress(since=0.0)

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        self._glance, new = update_run_progress(self._glance, state, entries)
        for line in new:
            if self._verbose or not line.detail:
                number = f"{line.step} " if line.step else ""
                result = f" → {line.result}" if line.result else ""
                self.say(f"{number}{line.mark} {line.text}{result}")

    def follow(self, event: ProgressEvent) -> None:
        if isinstance(event, CallDelayed):
            self.say(f"… {event.why}")

    def say(self, text: str) -> None:
        self._report(WorkerReport(ReportKind.LINE, self._task, " ".join(text.split())))


Serve = Callable[[Project, RunTerms, Report, StopSignal], None]


def serve_pool(project: Project, terms: RunTerms, channel: int, pool: int, serve: Serve) -> None:
    """Do one thing in this process, which the process `pool` has just forked with its stop signals blocked."""
    os.setsid()  # Ctrl-C at the terminal reaches the pool alone, not the git of a worker
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for one in STOP_SIGNALS:
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, signal.SIG_DFL)
    with StopSignal(pool) as stop:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (*STOP_SIGNALS, signal.SIGINT))
        serve(project, terms, lambda report: write_report(channel, report), stop)
    project.storage.close()


def write_report(channel: int, report: WorkerReport) -> None:
    """If the pool has died nobody reads it: the step is ended all the same, and StopSignal ends the run after it."""
    line = encode_report(report)
    with suppress(BrokenPipeError):
        while line:
            line = line[os.write(channel, line) :]


def merge_finished_tasks(project: Project, terms: RunTerms, report: Report, stop: StopSignal) -> None:
    """Merge verified results, and report each."""
    from afresh.app.auto_merge import merge_results

    try:
        say = lambda task, text: report(WorkerReport(ReportKind.LINE, task, text))  # noqa: E731
        merge_results(project, terms.no_sandbox, say, stop.check)
    except (Cancelled, KeyboardInterrupt):
        return
    except (AfreshError, OSError) as fault:
        report(describe_fault("", fault))


def run_next_task(project: Project, terms: RunTerms, report: Report, stop: StopSignal, verbose: bool = False) -> None:
    """Claim the next ready task and advance it until it rests; whatever happens is reported."""
    terms, task = replace(terms, watchers=(*terms.watchers, stop), cancellations=(*terms.cancellations, stop)), ""
    try:
        task = project.queue.claim(identify_worker()) or ""
        report(WorkerReport(ReportKind.CLAIMED if task else ReportKind.EMPTY, task))
        if not task:
            return
        progress = ReportedProgress(task, report, verbose)
        alert = lambda text: progress.say(f"ALERT: {text}")  # noqa: E731
        state = run_task(project, task, replace(terms, watchers=(*terms.watchers, progress), alert=alert))
        assert state, "a named task is claimed or refused"
        report(WorkerReport(ReportKind.ENDED, task, state.status.value))
    except (Cancelled, KeyboardInterrupt) as why:
        if task:
            project.queue.release(identify_worker(), task)
        report(WorkerReport(ReportKind.STOPPED, task, str(why) or "stopped at once", type(why).__name__))
    except (AfreshError, OSError) as fault:
        report(describe_fault(task, fault))


def describe_fault(task: str, fault: AfreshError | OSError) -> WorkerReport:
    advice = "; ".join(part for part in (getattr(fault, "safe", ""), getattr(fault, "next", "")) if part)
    error = "" if getattr(fault, "retry_at", 0) else type(fault).__name__
    return WorkerReport(ReportKind.FAULT, task, f"{fault} ({advice})" if advice else str(fault), error)


MAX_TASKS_READ = 8
"""Of those that come next, to see which models they use."""


def warm_up(project: Project, terms: RunTerms) -> None:
    """Import what every run needs, so that workers share it, and keep the collector from touching shared pages."""
    import yaml  # noqa: F401

    from afresh.models.choose_model import import_provider

    for spec in find_models(project, terms):
        import_provider(spec, project.settings.models)
    gc.collect()
    gc.freeze()


def find_models(project: Project, terms: RunTerms) -> set[str]:
    """Return the models of this run and of the tasks that come next."""
    if terms.model:
        return {terms.model}
    coming = TicketQuery((TaskStatus.RUNNING, TaskStatus.READY), parents=(), order=TicketOrder.TURN, most=MAX_TASKS_READ)
    tasks = [ticket.task for ticket in project.queue.tickets(coming)]
    return {project.settings.model, *(project.store.load(task).task.model for task in tasks)} - {""}
