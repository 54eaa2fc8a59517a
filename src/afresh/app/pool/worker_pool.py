"""Runs several tasks of a repository at once, in a few processes with a thread for each task."""

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from types import FrameType

from afresh.app.compose import RunTerms
from afresh.app.orders.tasks import block_task
from afresh.app.pool.pool_messages import ReportKind, WorkerReport, WorkOrder
from afresh.app.pool.pool_process import OpenOrder, PoolProcess, fork_processes
from afresh.app.pool.pool_worker import PATIENCE_SECONDS
from afresh.app.project import Project
from afresh.app.service.stop_signal import ALL_SIGNALS, PASSED_ON, handle_signals
from afresh.core.event import QuestionAsked
from afresh.core.state import State
from afresh.core.task import TaskStatus, TicketOrder, TicketQuery

LOOK_SECONDS = 0.5
"""How often the pool looks at its time and its signals."""
POLL_SECONDS = 3.0
"""How often the queue is asked again when no task was ready."""
MAX_TASKS_PER_PROCESS = 8
MIN_TASKS_PER_PROCESS = 3
"""Even if there are more cores: a process takes some 40 MB, a task in it 2 or 3."""
MIN_PROCESSES = 2
"""With two, a killed process does not stop all tasks."""
MAX_CLAIMING = 2
"""Workers that have been started and have not claimed yet: claims are made one after another anyway."""
MAX_PREPARING_PER_CORE = 2
PREPARING_SECONDS = 5.0
"""So long a task keeps others from being begun while it is prepared: if all were prepared at once, no model would be called until
they are all ready."""
MAX_DEATHS = 3
"""Of workers of one task that were alone in their process, before a person is asked."""
MAX_TICKETS_READ = 300
"""Of each status: more than there are tasks at work."""


@dataclass(frozen=True, slots=True)
class PoolTerms:
    """The user's choices for a pool."""

    workers: int
    until_empty: bool = False
    seconds: float = 0.0
    """After this time no task is begun, and each worker ends after its step. 0: no limit."""
    verbose: bool = False
    auto_merge: bool = False
    """Verified results are merged into the user's branch, in the order of the queue; meanwhile no task is begun."""

    @property
    def most(self) -> int:
        """How many tasks are begun. 0: any number."""
        return 0 if self.until_empty or self.seconds else self.workers

    @property
    def processes(self) -> int:
        by_cores = min(os.cpu_count() or 1, self.workers // MIN_TASKS_PER_PROCESS)
        return max(min(self.workers, MIN_PROCESSES), by_cores, -(-self.workers // MAX_TASKS_PER_PROCESS))


@dataclass(slots=True)
class PoolResult:
    """The results of a pool."""

    ended: list[State] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    """Classes of errors that a person must act on."""
    stopped_by: str = ""
    """The signal; empty if it ended by itself."""


class WorkerPool:
    """`say` is called with a task and a line; `finish` with the state of each task that has come to rest, one at a time."""

    now: Callable[[], float] = staticmethod(time.monotonic)

    def __init__(
        self,
        project: Project,
        terms: PoolTerms,
        run: RunTerms,
        say: Callable[[str, str], None],
        finish: Callable[[State], None],
    ) -> None:
        self.project, self.terms, self.say, self.finish = project, terms, say, finish
        self.result = PoolResult()
        self._processes = fork_processes(project, run, terms.verbose)
        self._numbers, self._deaths = count(1), Counter[str]()
        self._suspects = list[str]()
        """Tasks of a process that has died: each goes on in one of its own, so that the next death shows whose fault it was."""
        self._begun, self._ended, self._signals, self._followed, self._ask_again, self._kill_at = 0, 0, 0, 0, 0.0, 0.0
        self._is_merged, self._is_time_over = False, False

    def run(self) -> PoolResult:
        """Work until there is nothing more to begin and every worker has ended."""
        until = self.now() + self.terms.seconds
        with self._handle_signals():
            while True:
                if self.terms.seconds and self.now() >= until and not self._is_time_over:
                    self._is_time_over = True
                    self._tell_workers("the time is over")
                if self.terms.auto_merge and not (self._is_merged or self._is_merging or self._is_stopping):
                    self._is_merged = True
                    self._begin(WorkOrder(next(self._numbers), merges=True), self._processes.fork(1))
                while self._can_begin():
                    self._begin_task()
                if not self._processes and self._is_over():
                    return self.result
                for process in self._processes.wait(LOOK_SECONDS):
                    self._read_reports(process)
                self._follow_signals()

    @property
    def _is_stopping(self) -> bool:
        return bool(self._is_time_over or self._signals or self.result.errors)

    def _can_begin(self) -> bool:
        at_work, earlier = self._processes.list_orders(), self.now() - PREPARING_SECONDS
        claiming = sum(not order.task for order in at_work)
        preparing = sum(not order.calls and order.since > earlier for order in at_work)
        return (
            not (self._is_stopping or self._is_merging)
            and not (self.terms.most and self._begun + claiming >= self.terms.most)
            and len(at_work) < self.terms.workers
            and claiming < MAX_CLAIMING
            and preparing < MAX_PREPARING_PER_CORE * (os.cpu_count() or 1)
            and (bool(self._suspects) or self.now() >= self._ask_again)
            and (bool(self._suspects) or not self._ask_again or self._has_ready_task())
        )

    def _has_ready_task(self) -> bool:
        """Ask the queue from here: a pool that waits for tasks starts no process every few seconds."""
        coming = TicketQuery((TaskStatus.RUNNING, TaskStatus.READY), parents=(), order=TicketOrder.TURN, most=MAX_TICKETS_READ)
        found = any(ticket.ready for ticket in self.project.queue.tickets(coming))
        self._ask_again = 0.0 if found else self.now() + POLL_SECONDS
        return found

    @property
    def _is_merging(self) -> bool:
        return any(order.order.merges for order in self._processes.list_orders())

    def _is_over(self) -> bool:
        waiting = self.terms.seconds and not self.terms.until_empty
        begun_all = self.terms.most and self._begun >= self.terms.most
        return bool(self._is_stopping or begun_all or (self._ask_again and not waiting))

    def _begin_task(self) -> None:
        if self._suspects:
            return self._begin(WorkOrder(next(self._numbers), self._suspects.pop(0)), self._processes.fork(1))
        room = -(-self.terms.workers // self.terms.processes)
        shared = [process for process in self._processes if process.room == room and not process.is_old]
        least = min(shared, key=lambda process: len(process.orders), default=None)
        if least is None or len(shared) < self.terms.processes or len(least.orders) >= room:
            least = self._processes.fork(room)
        self._begin(WorkOrder(next(self._numbers)), least)

    def _begin(self, order: WorkOrder, process: PoolProcess) -> None:
        self._processes.give(process, OpenOrder(order, self.now(), self._ended))

    def _read_reports(self, process: PoolProcess) -> None:
        reports, status = self._processes.read(process)
        for report in reports:
            self._take_report(process, process.orders[report.order], report)
        if status is not None:
            self._end_process(process, status)

    def _take_report(self, process: PoolProcess, order: OpenOrder, report: WorkerReport) -> None:
        match report.kind:
            case ReportKind.CLAIMED:
                self._take_claim(process, order, report.task)
            case ReportKind.EMPTY:
                # one that ended meanwhile may have made others ready; of a named one it says nothing about others
                is_news = order.after < self._ended or bool(order.order.task)
                self._ask_again = 0.0 if is_news else self.now() + POLL_SECONDS
            case ReportKind.CALLING:
                order.calls = True
            case ReportKind.LINE:
                self.say(report.task, report.text)
            case ReportKind.RESTED:
                self._ask_again = 0.0
                self._take_result(report.task)
            case ReportKind.STOPPED:
                what = f"; its steps are kept, `afresh resume {report.task}` continues" if report.task else ""
                self.say(report.task, report.text + what)
            case ReportKind.FAULT:
                self.result.errors += [report.error] if report.error else []
                self.say(report.task, f"{report.text}; no more tasks are begun" if report.error else report.text)
            case ReportKind.CRASHED:
                self.result.errors += [] if report.task else ["Broken"]
                self._begun -= bool(report.task)
                self._count_death(report.task, f"process {process.number} met an error in afresh")
            case ReportKind.OVER:
                self._end_order(process, order)

    def _take_claim(self, process: PoolProcess, order: OpenOrder, task: str) -> None:
        order.task = task
        self._suspects = [suspect for suspect in self._suspects if suspect != task]
        self._begun += 1
        self._ask_again = 0.0
        self.say(task, f"claimed by process {process.number}")

    def _take_result(self, task: str) -> None:
        state = self.project.store.load(task)
        self._ended, self._is_merged = self._ended + 1, False
        self.result.ended.append(state)
        self.finish(state)

    def _end_order(self, process: PoolProcess, order: OpenOrder) -> None:
        del process.orders[order.order.number]
        if order.order.merges:
            self._ended, self._ask_again = self._ended + 1, 0.0
        if not process.orders:
            self._processes.dismiss(process)

    def _end_process(self, process: PoolProcess, status: int) -> None:
        """Its tasks are free at once, because it is dead. If it had several, nobody knows whose fault it was."""
        signalled = os.WIFSIGNALED(status)
        what = f"process {process.number} was ended by "
        what += signal.Signals(os.WTERMSIG(status)).name if signalled else "an error in afresh"
        orders, process.orders = list(process.orders.values()), {}
        self._ask_again = 0.0 if orders else self._ask_again
        for order in orders:
            self._begun -= bool(order.task)
            if order.order.merges:
                self._ended += 1
                self.result.errors += [] if self._is_time_over or self._signals else ["Broken"]
            if order.task and not self._is_stopping:
                self._suspects.append(order.task)
            if order.task and len(orders) > 1 and not self._is_stopping:
                self.say(order.task, f"{what}, with {len(orders)} tasks; it goes on in a process of its own")
            else:
                self._count_death(order.task, what)

    def _count_death(self, task: str, what: str) -> None:
        """Count a worker that has died alone, or by an error of its own."""
        if not task or self._is_stopping:
            self.say(task, f"{what}; what it had committed is kept")
            return
        self._deaths[task] += 1
        if self._deaths[task] < MAX_DEATHS:
            self.say(task, f"{what}; another takes the task over")
            return
        self._suspects = [suspect for suspect in self._suspects if suspect != task]
        del self._deaths[task]
        what = f"{MAX_DEATHS} workers have died at this task, the last: {what}"
        block_task(self.project, task, QuestionAsked(f"{what}. Shall it be tried again?", ("go on", "stop"), "harness"), what)
        self.say(task, f"{what}; `afresh answer {task}` tries it again")
        self._take_result(task)

    def _tell_workers(self, why: str) -> None:
        """Let every worker end after its step."""
        self._processes.send(signal.SIGTERM)
        if count := len(self._processes.list_orders()):
            what = f"{count} workers end after their step" if count > 1 else "the worker ends after its step"
            self.say("", f"{why}: {what}")

    def _follow_signals(self) -> None:
        """Do what the signals ask for that have come since."""
        for number in PASSED_ON[self._followed : self._signals]:
            self._followed += 1
            if number == signal.SIGTERM:
                self._tell_workers(f"{self.result.stopped_by}; once more ends them at once")
            else:
                self._processes.send(number)
                self._kill_at = self.now() + PATIENCE_SECONDS
                self.say("", "stopped at once")
        if self._kill_at and self.now() >= self._kill_at:
            self._processes.send(signal.SIGKILL)

    @contextmanager
    def _handle_signals(self) -> Generator[None]:
        def receive(number: int, frame: FrameType | None) -> None:
            self._signals += 1
            self.result.stopped_by = signal.Signals(number).name

        woken = signal.set_wakeup_fd(self._processes.wake.fileno(), warn_on_full_buffer=False)
        try:
            with handle_signals(ALL_SIGNALS, receive):
                yield
        finally:
            signal.set_wakeup_fd(woken)
