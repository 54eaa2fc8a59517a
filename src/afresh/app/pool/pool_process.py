"""The pool's side of its processes: they are forked from it, which has everything imported, given orders, read and ended.

A connection to SQLite must not cross a fork, and no thread may run meanwhile: the pool has no threads, and closes its connections
before each fork.
"""

import gc
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from selectors import EVENT_READ, DefaultSelector
from typing import NoReturn

from afresh.app.compose import RunTerms
from afresh.app.pool.pool_messages import WorkerReport, WorkOrder, decode_report, encode_message, read_channel
from afresh.app.pool.pool_worker import PoolWorker
from afresh.app.project import Project
from afresh.app.service.stop_signal import ALL_SIGNALS
from afresh.core.task import TaskStatus, TicketOrder, TicketQuery

MAX_ORDERS = 64
"""Of one process in its life: then it ends with its last task, and gives back what Python's caches and heap have gathered."""
CRASHED_CODE = 70
"""What a process exits with after an error that is nobody's to act on: a bug."""


@dataclass(slots=True)
class OpenOrder:
    """An order to this process that is not finished."""

    order: WorkOrder
    since: float
    after: int
    """How many tasks and merges had ended when it was given."""
    task: str = ""
    calls: bool = False
    """The run of the order is prepared and has called the model."""


@dataclass(slots=True)
class PoolProcess:
    number: int
    channel: socket.socket
    room: int
    """For so many orders at a time; 1: what it does is alone in its process."""
    orders: dict[int, OpenOrder] = field(default_factory=dict[int, OpenOrder])
    given: int = 0
    """Orders, in its life."""
    rest: bytes = b""
    """The beginning of a line of which the end has not come."""

    @property
    def is_old(self) -> bool:
        return self.given >= MAX_ORDERS


class PoolProcesses:
    def __init__(self, serve: Callable[[socket.socket], None], before_fork: Callable[[], None]) -> None:
        self._serve, self._before_fork = serve, before_fork
        self._open = dict[socket.socket, PoolProcess]()
        self._channels = DefaultSelector()
        self._woken, self.wake = socket.socketpair()
        """A byte ends `wait`: of a signal, so that it is followed at once."""
        self.wake.setblocking(False)
        self._channels.register(self._woken, EVENT_READ)

    def __iter__(self) -> Iterator[PoolProcess]:
        return iter(list(self._open.values()))

    def __bool__(self) -> bool:
        return bool(self._open)

    def list_orders(self) -> list[OpenOrder]:
        return [order for process in self for order in process.orders.values()]

    def fork(self, room: int) -> PoolProcess:
        self._before_fork()
        sys.stdout.flush()
        sys.stderr.flush()
        channel, theirs = socket.socketpair()
        signal.pthread_sigmask(signal.SIG_BLOCK, ALL_SIGNALS)
        number = os.fork()
        if number == 0:
            self._live(channel, theirs)
        theirs.close()
        process = self._open[channel] = PoolProcess(number, channel, room)
        self._channels.register(channel, EVENT_READ)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ALL_SIGNALS)
        return process

    def _live(self, channel: socket.socket, theirs: socket.socket) -> NoReturn:
        """What the new process does. The pool's ends are closed in it: if the pool dies, its other processes must notice."""
        code = CRASHED_CODE
        try:
            self._channels.close()
            for connection in (channel, self._woken, self.wake, *self._open):
                connection.close()
            self._serve(theirs)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def give(self, process: PoolProcess, order: OpenOrder) -> None:
        process.orders[order.order.number] = order
        process.given += 1
        with suppress(BrokenPipeError, ConnectionResetError):  # it has died, which is read next
            process.channel.sendall(encode_message(order.order))

    def dismiss(self, process: PoolProcess) -> None:
        """Let a process without orders end."""
        process.room = 0
        with suppress(OSError):  # it has died, which is read next
            process.channel.shutdown(socket.SHUT_WR)

    def wait(self, seconds: float) -> Sequence[PoolProcess]:
        """Return the processes that have said something, or ended, within this time or until a signal comes."""
        ready = [key.fileobj for key, _ in self._channels.select(seconds)]
        if self._woken in ready:
            read_channel(self._woken)
        return [self._open[one] for one in ready if one is not self._woken]  # type: ignore[index]

    def read(self, process: PoolProcess) -> tuple[list[WorkerReport], int | None]:
        """Return what a process has reported, and its exit status if it has ended."""
        read = read_channel(process.channel)
        *lines, process.rest = (process.rest + read).split(b"\n")
        return list(map(decode_report, lines)), None if read else self._bury(process)

    def _bury(self, process: PoolProcess) -> int:
        self._channels.unregister(process.channel)
        process.channel.close()
        del self._open[process.channel]
        return os.waitpid(process.number, 0)[1]

    def send(self, number: int) -> None:
        for process in self:
            os.kill(process.number, number)  # not reaped yet, so that the number is still its own


def fork_processes(project: Project, terms: RunTerms, verbose: bool) -> PoolProcesses:
    """Return processes for the project; the first is forked when it is needed."""
    warm_up(project, terms)

    def serve(channel: socket.socket) -> None:
        PoolWorker(project, terms, verbose, channel).serve(ALL_SIGNALS)

    return PoolProcesses(serve, project.storage.close)


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
