"""What a process of the pool does: it carries out orders, each in a thread of its own, and reports every event to the pool.

Threads share the pages of imported code, which a process copies as soon as it uses them: Python counts references inside of
objects. Each thread has its own connections, and its own name as a worker: its lease is free when it or the process ends.
"""

import ctypes
import os
import signal
import socket
import threading
import traceback
import warnings
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from selectors import EVENT_READ, DefaultSelector
from types import FrameType

from afresh.app.compose import RunTerms, run_task
from afresh.app.pool.pool_messages import Report, ReportKind, WorkerReport, WorkOrder, decode_order, encode_message, read_channel
from afresh.app.project import Project, reopen_project
from afresh.app.service.stop_signal import STOP_SIGNALS, StopSignal
from afresh.core.event import JournalEntry, TaskEnded
from afresh.core.progress_event import CallBegan, CallDelayed, ProgressEvent
from afresh.core.state import State
from afresh.errors import AfreshError, BadInput, Cancelled
from afresh.storage.renew_lease import identify_thread
from afresh.views.progress import RunProgress, update_run_progress

PATIENCE_SECONDS = 5
"""How long a process that was told to stop at once may clean up before it is killed."""
STACK_BYTES = 8 << 20
"""Of a thread: as much as the first one has by default. What is not used takes no memory."""


class ReportedProgress:
    """A Watcher that reports one line for each event of a run."""

    def __init__(self, task: str, report: Report, verbose: bool) -> None:
        self._task, self._report, self._verbose = task, report, verbose
        self._glance, self._is_calling = RunProgress(since=0.0), False

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        news = [entry for entry in entries if not isinstance(entry.event, TaskEnded)]  # the pool says how a task has ended
        self._glance, new = update_run_progress(self._glance, state, news)
        for line in new:
            if self._verbose or not line.detail:
                number = f"{line.step} " if line.step else ""
                result = f" → {line.result}" if line.result else ""
                self.say(f"{number}{line.mark} {line.text.removeprefix(f'{self._task}: ')}{result}")

    def follow(self, event: ProgressEvent) -> None:
        if isinstance(event, CallBegan) and not self._is_calling:
            self._is_calling = True
            self._report(WorkerReport(ReportKind.CALLING, self._task))
        if isinstance(event, CallDelayed):
            self.say(f"… {event.why}")

    def say(self, text: str) -> None:
        self._report(WorkerReport(ReportKind.LINE, self._task, " ".join(text.split())))


class PoolWorker:
    """Lives in a process that the pool has just forked, with its signals blocked. `channel`: to the pool."""

    def __init__(self, project: Project, terms: RunTerms, verbose: bool, channel: socket.socket) -> None:
        self._project, self._terms, self._verbose, self._channel = project, terms, verbose, channel
        self._threads = dict[int, tuple[threading.Thread, StopSignal]]()
        self._writing, self._received = threading.Lock(), ""
        self._woken, self._wake = socket.socketpair()
        self._wake.setblocking(False)

    def serve(self, signals: Sequence[signal.Signals]) -> None:
        """Carry out orders until the pool gives no more and the last one is carried out."""
        os.setsid()  # Ctrl-C at the terminal reaches the pool alone, not the git of a worker
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        warnings.simplefilter("ignore")  # `catch_warnings` of one thread would change the filters of others
        threading.stack_size(STACK_BYTES)
        self._handle_signals()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        with DefaultSelector() as ready:
            ready.register(self._woken, EVENT_READ)
            ready.register(self._channel, EVENT_READ)
            rest, is_open = b"", True
            while is_open or self._threads:
                for key, _ in ready.select():
                    read = read_channel(key.fileobj)  # type: ignore[arg-type]
                    if key.fileobj is self._woken:
                        continue
                    *lines, rest = (rest + read).split(b"\n")
                    for line in lines:
                        self._begin(decode_order(line))
                    if not read:
                        is_open = False
                        ready.unregister(self._channel)
                        self._stop_after_step("the end of the process that started it")

    def _begin(self, order: WorkOrder) -> None:
        stop = StopSignal()
        thread = threading.Thread(target=self._carry_out, args=(order, stop), name=f"order {order.number}", daemon=True)
        self._threads[order.number] = thread, stop
        stop.received = self._received  # a signal that comes from here on finds it in the list
        thread.start()

    def _carry_out(self, order: WorkOrder, stop: StopSignal) -> None:
        report: Report = lambda message: self._write_report(replace(message, order=order.number))  # noqa: E731
        try:
            project = reopen_project(self._project)
            with closing(project.storage):
                if order.merges:
                    merge_finished_tasks(project, self._terms, report, stop)
                else:
                    run_next_task(project, self._terms, report, stop, order.task, self._verbose)
        except BaseException as fault:
            if not isinstance(fault, KeyboardInterrupt):
                traceback.print_exc()
                report(WorkerReport(ReportKind.CRASHED))
        finally:
            report(WorkerReport(ReportKind.OVER))
            del self._threads[order.number]
            with suppress(BlockingIOError):
                self._wake.send(b"\0")

    def _write_report(self, report: WorkerReport) -> None:
        """If the pool has died nobody reads it: the step is ended all the same, and then the run is stopped."""
        with suppress(BrokenPipeError, ConnectionResetError), self._writing:
            self._channel.sendall(encode_message(report))

    def _receive(self, number: int, frame: FrameType | None) -> None:
        """The pool sends SIGINT for at once. Of the others more than one may come: a service manager tells every process."""
        self._stop_after_step(signal.Signals(number).name)
        if number == signal.SIGINT:
            signal.alarm(PATIENCE_SECONDS)  # a thread may wait for a provider, where nothing can interrupt it
            for thread, _ in list(self._threads.values()):
                interrupt_thread(thread)

    def _stop_after_step(self, why: str) -> None:
        self._received = self._received or why
        for _, stop in list(self._threads.values()):
            stop.received = self._received

    def _handle_signals(self) -> None:
        """The kernel may give a signal to any thread: a byte wakes the first one, which handles it."""
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, self._receive)
        for one in STOP_SIGNALS:
            if signal.getsignal(one) is not signal.SIG_IGN:  # nohup wants SIGHUP ignored
                signal.signal(one, self._receive)


def interrupt_thread(thread: threading.Thread) -> None:
    """Raise KeyboardInterrupt in the thread as soon as it runs Python code, as Ctrl-C does in the first thread."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(KeyboardInterrupt))


def merge_finished_tasks(project: Project, terms: RunTerms, report: Report, stop: StopSignal) -> None:
    """Merge verified results, and report each."""
    from afresh.app.results.auto_merge import merge_results

    try:
        say = lambda task, text: report(WorkerReport(ReportKind.LINE, task, text))  # noqa: E731
        merge_results(project, terms.no_sandbox, say, stop.check)
    except (Cancelled, KeyboardInterrupt):
        return
    except (AfreshError, OSError) as fault:
        report(describe_fault("", fault))


def run_next_task(
    project: Project, terms: RunTerms, report: Report, stop: StopSignal, named: str = "", verbose: bool = False
) -> None:
    """Claim a task, by default the next ready one, and advance it until it rests; whatever happens is reported."""
    worker, task = identify_thread(), ""
    terms = replace(
        terms, watchers=(*terms.watchers, stop), cancellations=(*terms.cancellations, stop), thread=worker
    )  # fmt: skip
    try:
        stop.check()
        task = claim_task(project, worker, named)
        report(WorkerReport(ReportKind.CLAIMED if task else ReportKind.EMPTY, task))
        if not task:
            return
        progress = ReportedProgress(task, report, verbose)
        alert = lambda text: progress.say(f"ALERT: {text}")  # noqa: E731
        state = run_task(project, task, replace(terms, watchers=(*terms.watchers, progress), alert=alert))
        assert state, "a named task is claimed or refused"
        report(WorkerReport(ReportKind.RESTED, task, state.status.value))
    except (Cancelled, KeyboardInterrupt) as why:
        if task:
            project.queue.release(worker, task)
        report(WorkerReport(ReportKind.STOPPED, task, str(why) or "stopped at once", type(why).__name__))
    except (AfreshError, OSError) as fault:
        report(describe_fault(task, fault))
    except Exception:
        traceback.print_exc()
        report(WorkerReport(ReportKind.CRASHED, task))


def claim_task(project: Project, worker: str, named: str) -> str:
    """Return the task; empty if none is ready, or the named one is not."""
    try:
        return project.queue.claim(worker, named or None) or ""
    except BadInput:
        if named:
            return ""
        raise


def describe_fault(task: str, fault: AfreshError | OSError) -> WorkerReport:
    advice = "; ".join(part for part in (getattr(fault, "safe", ""), getattr(fault, "next", "")) if part)
    error = "" if getattr(fault, "of_one_task", False) else type(fault).__name__
    return WorkerReport(ReportKind.FAULT, task, f"{fault} ({advice})" if advice else str(fault), error)
