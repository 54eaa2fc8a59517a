"""Runs several tasks of a repository at once, each in a process forked from this one, which has everything imported.

A connection to SQLite must not cross a fork, and no thread may run meanwhile: this process has no threads, and closes its
connections before each fork.
"""

import os
import selectors
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import FrameType
from typing import NoReturn

from afresh.app.compose import RunTerms
from afresh.app.pool_worker import (
    ReportKind,
    Serve,
    WorkerReport,
    decode_report,
    merge_finished_tasks,
    run_next_task,
    serve_pool,
    warm_up,
)
from afresh.app.project import Project
from afresh.app.stop_signal import STOP_SIGNALS
from afresh.app.tasks import block_task
from afresh.core.event import QuestionAsked
from afresh.core.state import State
from afresh.core.task import TaskStatus, TicketOrder, TicketQuery

POOL_SIGNALS = (*STOP_SIGNALS, signal.SIGINT)
LOOK_SECONDS = 0.5
"""How often the pool looks at its time and its signals."""
POLL_SECONDS = 3.0
"""How often the queue is asked again when no task was ready."""
PATIENCE_SECONDS = 5.0
"""How long a worker that was told to stop at once may clean up before it is killed."""
MAX_CLAIMING = 2
"""Workers that have been started and have not claimed yet: claims are made one after another anyway."""
MAX_DEATHS = 3
"""Of workers of one task, before a person is asked."""
CRASHED_CODE = 70
"""What a worker exits with after an error that is nobody's to act on: a bug."""
READ_BYTES = 65_536
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


@dataclass(slots=True)
class PoolResult:
    """What a pool has done."""

    ended: list[State] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    """Classes of errors that a person must act on."""
    stopped_by: str = ""
    """The signal; empty if it ended by itself."""


@dataclass(frozen=True, slots=True)
class PoolWorker:
    process: int
    channel: int
    after: int
    """How many tasks and merges had ended when it was begun."""
    merges: bool = False
    """It merges results, and claims no task."""
    task: str = ""
    rest: bytes = b""
    """The beginning of a line of which the end has not come."""


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
        self.project, self.terms, self.run_terms, self.say, self.finish = project, terms, run, say, finish
        self.result = PoolResult()
        self._workers = dict[int, PoolWorker]()
        self._channels = selectors.DefaultSelector()
        self._deaths = Counter[str]()
        self._begun, self._ended, self._signals, self._told, self._ask_again, self._kill_at = 0, 0, 0, 0, 0.0, 0.0
        self._is_merged = False

    def run(self) -> PoolResult:
        """Work until there is nothing more to begin and every worker has ended."""
        warm_up(self.project, self.run_terms)
        until = self.now() + self.terms.seconds
        with self._heed_signals():
            while True:
                if self.terms.seconds and self.now() >= until and not self._told:
                    self._tell_workers("the time is over")
                if self._can_merge():
                    self._is_merged = True
                    self._begin_worker(merge_finished_tasks, merges=True)
                while self._can_begin():
                    self._begin_worker(partial(run_next_task, verbose=self.terms.verbose))
                if not self._workers and self._is_over():
                    return self.result
                for key, _ in self._channels.select(LOOK_SECONDS):
                    self._read_reports(self._workers[key.fd])
                self._follow_signals()

    def _can_begin(self) -> bool:
        claiming = sum(not worker.task for worker in self._workers.values())
        return (
            not (self._told or self._signals or self.result.errors or self._is_merging)
            and not (self.terms.most and self._begun + claiming >= self.terms.most)
            and len(self._workers) < self.terms.workers
            and claiming < MAX_CLAIMING
            and self.now() >= self._ask_again
            and (not self._ask_again or self._has_ready_task())
        )

    def _has_ready_task(self) -> bool:
        """Ask the queue from here: a pool that waits for tasks starts no process every few seconds."""
        coming = TicketQuery((TaskStatus.RUNNING, TaskStatus.READY), parents=(), order=TicketOrder.TURN, most=MAX_TICKETS_READ)
        found = any(ticket.ready for ticket in self.project.queue.tickets(coming))
        self._ask_again = 0.0 if found else self.now() + POLL_SECONDS
        return found

    @property
    def _is_merging(self) -> bool:
        return any(worker.merges for worker in self._workers.values())

    def _can_merge(self) -> bool:
        is_wanted = self.terms.auto_merge and not self._is_merged and not self._is_merging
        return is_wanted and not (self._told or self._signals or self.result.errors)

    def _is_over(self) -> bool:
        waiting = self.terms.seconds and not self.terms.until_empty
        begun_all = self.terms.most and self._begun >= self.terms.most
        return bool(self._told or self._signals or self.result.errors or begun_all or (self._ask_again and not waiting))

    def _begin_worker(self, serve: Serve, merges: bool = False) -> None:
        self.project.storage.close()
        sys.stdout.flush()
        sys.stderr.flush()
        pool, (channel, theirs) = os.getpid(), os.pipe()
        signal.pthread_sigmask(signal.SIG_BLOCK, POOL_SIGNALS)
        process = os.fork()
        if process == 0:
            self._serve(channel, theirs, pool, serve)
        os.close(theirs)
        self._workers[channel] = PoolWorker(process, channel, self._ended, merges)
        self._channels.register(channel, selectors.EVENT_READ)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, POOL_SIGNALS)

    def _serve(self, channel: int, theirs: int, pool: int, serve: Serve) -> NoReturn:
        """What the worker does. Ends of pipes that belong to the pool are closed: if it dies, nobody must seem to read."""
        code = CRASHED_CODE
        try:
            self._channels.close()
            for one in (channel, *self._workers):
                os.close(one)
            serve_pool(self.project, self.run_terms, theirs, pool, serve)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def _read_reports(self, worker: PoolWorker) -> None:
        read = os.read(worker.channel, READ_BYTES)
        *lines, rest = (worker.rest + read).split(b"\n")
        self._workers[worker.channel] = replace(worker, rest=rest)
        for line in lines:
            self._take_report(worker.channel, decode_report(line))
        if not read:
            self._end_worker(self._workers[worker.channel])

    def _take_report(self, channel: int, report: WorkerReport) -> None:
        match report.kind:
            case ReportKind.CLAIMED:
                self._workers[channel] = replace(self._workers[channel], task=report.task)
                self._begun += 1
                self._ask_again = 0.0
                self.say(report.task, f"claimed by process {self._workers[channel].process}")
            case ReportKind.EMPTY:
                # one that ended meanwhile may have made others ready
                is_news = self._workers[channel].after < self._ended
                self._ask_again = 0.0 if is_news else self.now() + POLL_SECONDS
            case ReportKind.LINE:
                self.say(report.task, report.text)
            case ReportKind.ENDED:
                self._ask_again = 0.0
                self._take_result(report.task)
            case ReportKind.STOPPED:
                self.say(report.task, f"{report.text}; its steps are kept, `afresh resume {report.task}` continues")
            case ReportKind.FAULT:
                self.result.errors += [report.error] if report.error else []
                self.say(report.task, f"{report.text}; no more tasks are begun" if report.error else report.text)

    def _take_result(self, task: str) -> None:
        state = self.project.store.load(task)
        self._ended, self._is_merged = self._ended + 1, False
        self.result.ended.append(state)
        self.finish(state)

    def _end_worker(self, worker: PoolWorker) -> None:
        self._channels.unregister(worker.channel)
        os.close(worker.channel)
        del self._workers[worker.channel]
        _, status = os.waitpid(worker.process, 0)
        if worker.merges:
            self._ended, self._ask_again = self._ended + 1, 0.0
        if os.WIFSIGNALED(status):
            self._mourn_worker(worker, signal.Signals(os.WTERMSIG(status)).name)
        elif status:
            self._mourn_worker(worker, "an error in afresh")

    def _mourn_worker(self, worker: PoolWorker, why: str) -> None:
        """Its task is free at once, because its process is dead; a worker that is begun next takes it."""
        task = worker.task
        self._ask_again = 0.0
        self._begun -= bool(task)
        if worker.merges and not (self._told or self._signals):
            self.result.errors.append("Broken")
        if not task or self._told or self._signals:
            self.say(task, f"process {worker.process} was ended by {why}; what it had committed is kept")
            return
        self._deaths[task] += 1
        if self._deaths[task] < MAX_DEATHS:
            self.say(task, f"process {worker.process} was ended by {why}; another takes the task over")
            return
        what = f"{MAX_DEATHS} workers have died at this task, the last by {why}"
        block_task(self.project, task, what, QuestionAsked(f"{what}. Shall it be tried again?", ("go on", "stop"), "harness"))
        self.say(task, f"{what}; `afresh answer {task}` tries it again")
        self._take_result(task)

    def _tell_workers(self, why: str) -> None:
        """Let every worker end after its step."""
        self._told += 1
        if self._workers:
            self.say("", f"{why}: {len(self._workers)} workers end after their step")
        self._send_workers(signal.SIGTERM)

    def _send_workers(self, number: int) -> None:
        for worker in list(self._workers.values()):
            os.kill(worker.process, number)  # not reaped yet, so that the number is still its own

    def _follow_signals(self) -> None:
        """Do what the signals ask for that have come since."""
        if self._signals and not self._kill_at and self._told < 1 + (self._signals > 1):
            self._tell_workers(
                f"{self.result.stopped_by}; once more ends them at once" if self._signals == 1 else "stopped at once"
            )
        if self._signals > 1 and not self._kill_at:
            self._kill_at = self.now() + PATIENCE_SECONDS
        if self._kill_at and self.now() >= self._kill_at:
            self._send_workers(signal.SIGKILL)

    @contextmanager
    def _heed_signals(self) -> Generator[None]:
        def receive(number: int, frame: FrameType | None) -> None:
            self._signals += 1
            self.result.stopped_by = signal.Signals(number).name

        heard = [one for one in POOL_SIGNALS if signal.getsignal(one) is not signal.SIG_IGN]
        before = [(one, signal.signal(one, receive)) for one in heard]
        try:
            yield
        finally:
            for one, handler in before:
                signal.signal(one, handler)
