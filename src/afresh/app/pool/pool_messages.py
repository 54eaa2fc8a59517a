"""What the pool and its processes tell each other, as lines of JSON."""

import json
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum

READ_BYTES = 65_536


class ReportKind(StrEnum):
    CLAIMED = "claimed"
    EMPTY = "empty"
    """No task is ready."""
    CALLING = "calling"
    """The run has been prepared: the model is called for the first time."""
    LINE = "line"
    """Something that happened in the run."""
    RESTED = "rested"
    """The task has come to rest."""
    STOPPED = "stopped"
    """The worker was asked to stop, and has released the task."""
    FAULT = "fault"
    """A person must act before the task can go on."""
    CRASHED = "crashed"
    """A bug; the thread has ended, and others go on."""
    OVER = "over"
    """The order is carried out, whatever came of it."""


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """Run a task, by default the next one that is ready, or merge results. `number` is in each report about it."""

    number: int
    task: str = ""
    merges: bool = False


@dataclass(frozen=True, slots=True)
class WorkerReport:
    kind: ReportKind
    task: str = ""
    text: str = ""
    error: str = ""
    """The class of the error; empty for one that stops this task alone."""
    order: int = 0


Report = Callable[[WorkerReport], None]


def encode_message(message: WorkOrder | WorkerReport) -> bytes:
    return json.dumps(asdict(message)).encode() + b"\n"


def decode_order(line: bytes) -> WorkOrder:
    return WorkOrder(**json.loads(line))


def decode_report(line: bytes) -> WorkerReport:
    read = json.loads(line)
    return WorkerReport(ReportKind(read.pop("kind")), **read)


def read_channel(channel: socket.socket) -> bytes:
    """Return what has come; nothing when the other side has ended, also without reading what it was told last."""
    try:
        return channel.recv(READ_BYTES)
    except ConnectionResetError:
        return b""
