"""The workers of one machine: starts a process for each, passes signals on, and replaces one that ended in a fault."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from types import FrameType

from afresh.app.service.end_with_parent import ask_to_end_with_parent
from afresh.app.service.stop_signal import ALL_SIGNALS, PASSED_ON, handle_signals
from afresh.fleet.worker import LOST_LOCK_CODE, FleetTerms, work_in_fleet
from afresh.storage.choose_storage import STORE_VARIABLE
from afresh.storage.postgres.errors import hide_password

LOOK_SECONDS = 0.2
FIRST_WAIT_SECONDS = 1.0
MAX_WAIT_SECONDS = 30.0
STEADY_SECONDS = 10.0
"""A worker that has lived so long before it lost its lock was well: the next wait is short again."""
CALM_SECONDS = 60.0
"""The same for one that ended otherwise: on a busy machine its start alone may take ten seconds."""
INTERRUPTED_CODE = 130


@dataclass(slots=True)
class WorkerSlot:
    process: "subprocess.Popen[bytes] | None" = None
    began: float = 0.0
    again_at: float = 0.0
    wait: float = FIRST_WAIT_SECONDS
    over: bool = False
    told: int = 0
    """How many of the signals that the group has received were passed on to the process."""


@dataclass(slots=True)
class WorkerGroup:
    terms: FleetTerms
    say: Callable[[str], None]
    start: Callable[[FleetTerms], "subprocess.Popen[bytes]"]
    slots: list[WorkerSlot] = field(default_factory=list[WorkerSlot])
    received: int = 0
    """How many signals have asked it to stop."""
    began: float = field(default_factory=time.monotonic)

    def run(self) -> int:
        """Keep so many workers running until each has ended by itself. Returns the exit code."""
        self.slots = [WorkerSlot() for _ in range(self.terms.workers)]
        with handle_signals(ALL_SIGNALS, self.receive):
            while not all(slot.over for slot in self.slots):
                for slot in self.slots:
                    self._look_after(slot)
                time.sleep(LOOK_SECONDS)
        return INTERRUPTED_CODE if self.received else 0

    def receive(self, number: int, frame: FrameType | None = None) -> None:
        self.received += 1

    def _look_after(self, slot: WorkerSlot) -> None:
        now = time.monotonic()
        if slot.over:
            return
        if slot.process is None:
            if self.received or self._is_time_over(now):
                slot.over = True
            elif now >= slot.again_at:
                slot.process, slot.began = self.start(self.terms), now
            return
        for stop in PASSED_ON[slot.told : self.received]:
            slot.told += 1
            slot.process.send_signal(stop)  # does nothing if it has been reaped
        code = slot.process.poll()
        if code is None:
            return
        if code == 0 or self.received:
            slot.over = True
            return
        steady = STEADY_SECONDS if code == LOST_LOCK_CODE else CALM_SECONDS
        slot.wait = FIRST_WAIT_SECONDS if now - slot.began > steady else min(2 * slot.wait, MAX_WAIT_SECONDS)
        why = "lost its lock" if code == LOST_LOCK_CODE else describe_end(code)
        self.say(f"worker {slot.process.pid} {why}; another one starts in {slot.wait:.0f} s")
        slot.process, slot.again_at = None, now + slot.wait

    def _is_time_over(self, now: float) -> bool:
        return bool(self.terms.seconds) and now - self.began >= self.terms.seconds


def describe_end(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def start_worker_process(terms: FleetTerms) -> "subprocess.Popen[bytes]":
    """The address has a password in it perhaps: it goes through the environment, not through the list of processes."""
    values = {name: value for name, value in asdict(terms).items() if name != "address"}
    return subprocess.Popen(
        [sys.executable, "-m", "afresh.fleet.worker_group", str(os.getpid()), json.dumps(values)],
        env={**os.environ, STORE_VARIABLE: terms.address},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )


def run_worker_process(arguments: list[str]) -> int:
    """Work until told to stop, or until the group that has started this process is gone."""
    ask_to_end_with_parent(int(arguments[0]))
    try:
        return work_in_fleet(FleetTerms(address=os.environ[STORE_VARIABLE], **json.loads(arguments[1])))
    except KeyboardInterrupt:  # the second signal: threads of DBOS would still wait for the step
        sys.stderr.flush()
        os._exit(INTERRUPTED_CODE)
    except Exception as fault:  # the server is not there yet, or not any more: the group tries again
        text = " ".join(str(fault).split()) or type(fault).__name__
        print(f"afresh: {hide_password(text, os.environ[STORE_VARIABLE])}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(run_worker_process(sys.argv[1:]))
