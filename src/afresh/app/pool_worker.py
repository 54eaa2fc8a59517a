"""What a process of the pool does: claim one task, advance it, and report each event to the pool as a line of JSON."""

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
from afresh.errors import AfreshError, Cancelled, NeedsPerson
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
    """The class of the error."""


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


def serve_pool(project: Project, terms: RunTerms, channel: int, pool: int, verbose: bool) -> None:
    """Run one task in this process, which the process `pool` has just forked with its stop signals blocked."""
    os.setsid()  # Ctrl-C at the terminal reaches the pool alone, not the git of a worker
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for one in STOP_SIGNALS:
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, signal.SIG_DFL)
    with StopSignal(pool) as stop:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (*STOP_SIGNALS, signal.SIGINT))
        terms = replace(terms, watchers=(*terms.watchers, stop), cancellations=(*terms.cancellations, stop))
        run_next_task(project, terms, lambda report: write_report(channel, report), verbose)
    project.storage.close()


def write_report(channel: int, report: WorkerReport) -> None:
    """If the pool has died nobody reads it: the step is ended all the same, and StopSignal ends the run after it."""
    line = encode_report(report)
    with suppress(BrokenPipeError):
        while line:
            line = line[os.write(channel, line) :]


def run_next_task(project: Project, terms: RunTerms, report: Report, verbose: bool) -> None:
    """Claim the next ready task and advance it until it rests; whatever happens is reported."""
    task = ""
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
        advice = "; ".join(part for part in (fault.safe, fault.next) if part) if isinstance(fault, NeedsPerson) else ""
        text = f"{fault} ({advice})" if advice else str(fault)
        report(WorkerReport(ReportKind.FAULT, task, text, type(fault).__name__))
