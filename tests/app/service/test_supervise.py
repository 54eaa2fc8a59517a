"""Processes of a service are started again with growing delays, and stopped with patience. Real processes, a clock of our own."""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from afresh.app.service.supervise import (
    KILL_SECONDS,
    MAX_DELAY_SECONDS,
    SETTLED_SECONDS,
    ChildPhase,
    ChildSpec,
    ChildStatus,
    ServiceSupervisor,
)

LONGEST = 900
"""Seconds: for a machine that does much else meanwhile."""
IGNORES_SIGNALS = (
    "import signal, time; [signal.signal(one, signal.SIG_IGN) for one in (signal.SIGTERM, signal.SIGINT)];"
    " print('deaf', flush=True); time.sleep(900)"
)
ENDS_AFTER_STEP = (
    "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(print('step done', flush=True)));"
    " print('up', flush=True); time.sleep(900)"
)


class Watched:
    """A supervisor of one process, its lines, and a clock that a test moves."""

    def __init__(self, *command: str) -> None:
        self.at, self.lines = 1_000.0, list[str]()
        spec = ChildSpec("workers", command)
        self.supervisor = ServiceSupervisor(
            [spec], Path.cwd(), lambda source, text: self.lines.append(f"{source}: {text}"), lambda: self.at
        )

    @property
    def status(self) -> ChildStatus:
        return self.supervisor.list_statuses()[0]

    def look_until(self, reached: Callable[[], bool]) -> None:
        late = time.monotonic() + LONGEST
        while not reached():
            assert time.monotonic() < late, self.lines
            self.supervisor.look()
            time.sleep(0.01)

    def said(self, words: str) -> bool:
        return any(words in line for line in self.lines)


@pytest.fixture
def deaf() -> Iterator[Watched]:
    watched = Watched(sys.executable, "-c", IGNORES_SIGNALS)
    yield watched
    for _ in range(2):
        watched.supervisor.request_stop()
        watched.supervisor.look()
    watched.at += KILL_SECONDS
    watched.look_until(lambda: not watched.supervisor.look())


def test_a_process_that_ends_is_started_again_after_delays_that_double_up_to_a_limit():
    watched, delays = Watched("sh", "-c", "exit 3"), list[float]()
    for number in range(11):
        watched.look_until(lambda number=number: watched.status.restarts == number + 1)
        assert watched.status.phase is ChildPhase.WAITING and watched.status.why == "a limit or a question needs a person"
        delays.append(watched.status.delay)
        watched.supervisor.look()
        assert watched.status.phase is ChildPhase.WAITING, "not before its time"
        watched.at = watched.status.since
    assert delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, MAX_DELAY_SECONDS, MAX_DELAY_SECONDS]


def test_a_process_that_ran_for_a_while_is_well_again(deaf: Watched):
    deaf.look_until(lambda: deaf.said("workers: deaf"))
    deaf.supervisor._set(ChildStatus("workers", ChildPhase.RUNNING, deaf.at, 3, 8.0, "it ended with an error"))
    deaf.at += SETTLED_SECONDS - 1
    deaf.supervisor.look()
    assert deaf.status.why
    deaf.at += 1
    deaf.supervisor.look()
    assert not deaf.status.why and deaf.status.delay == 0 and deaf.status.restarts == 3


def test_a_request_to_stop_lets_the_step_end_and_nothing_is_started_again():
    watched = Watched(sys.executable, "-c", ENDS_AFTER_STEP)
    watched.look_until(lambda: watched.said("workers: up"))
    watched.supervisor.request_stop()
    watched.look_until(lambda: not watched.supervisor.look())
    assert watched.status.phase is ChildPhase.ENDED and not watched.supervisor.killed
    assert [line for line in watched.lines if "started (" not in line] == [
        "workers: up",
        "service: stopping: each worker ends after its step; a second signal stops at once",
        "workers: step done",
        "service: workers ended",
    ]


def test_a_process_that_does_not_end_is_killed_only_after_the_second_request(deaf: Watched):
    deaf.look_until(lambda: deaf.said("workers: deaf"))
    deaf.supervisor.request_stop()
    deaf.supervisor.look()
    deaf.at += 3_600.0
    assert deaf.supervisor.look() and not deaf.supervisor.killed, "a step may take long"
    deaf.supervisor.request_stop()
    deaf.supervisor.look()
    deaf.at += KILL_SECONDS - 1
    assert deaf.supervisor.look() and not deaf.supervisor.killed
    deaf.at += 1
    deaf.look_until(lambda: not deaf.supervisor.look())
    assert deaf.supervisor.killed == 1


def test_a_process_that_can_not_be_started_is_tried_again():
    watched = Watched("/nowhere/afresh")
    watched.look_until(lambda: watched.status.restarts == 1)
    assert watched.status.phase is ChildPhase.WAITING and watched.status.why == "it can't be started: No such file or directory"
    watched.supervisor.request_stop()
    assert not watched.supervisor.look()
