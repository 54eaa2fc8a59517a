"""The workers of a machine are kept running until each has ended by itself, and signals reach them."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from afresh.fleet import clone_cache, worker_group
from afresh.fleet.clone_cache import take_clone_folder
from afresh.fleet.worker import LOST_LOCK_CODE, FleetTerms
from afresh.fleet.worker_group import WorkerGroup, describe_end

LONGEST = 900.0


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_group, "FIRST_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(worker_group, "MAX_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(worker_group, "LOOK_SECONDS", 0.02)


def start_codes(codes: list[int]):
    """Workers that end with these codes, one after another."""

    def start(terms: FleetTerms) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-S", "-c", f"raise SystemExit({codes.pop(0)})"])

    return start


def test_a_worker_that_lost_its_lock_or_crashed_is_replaced() -> None:
    codes, said = [LOST_LOCK_CODE, 1, 0], list[str]()
    assert WorkerGroup(FleetTerms("postgresql://x"), said.append, start_codes(codes)).run() == 0
    assert not codes and "lost its lock" in said[0] and "ended with exit code 1" in said[1]


def test_each_of_several_workers_ends_by_itself() -> None:
    codes = [0, 0, 0]
    assert WorkerGroup(FleetTerms("postgresql://x", workers=3), print, start_codes(codes)).run() == 0 and not codes


def test_a_signal_is_passed_on_and_nobody_is_started_again() -> None:
    started = list[subprocess.Popen[bytes]]()

    def start(terms: FleetTerms) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"]))
        return started[-1]

    group = WorkerGroup(FleetTerms("postgresql://x", workers=2), print, start)

    def tell() -> None:
        until = time.monotonic() + LONGEST
        while len(started) < 2 and time.monotonic() < until:
            time.sleep(0.02)
        signal.raise_signal(signal.SIGTERM) if threading.current_thread() is threading.main_thread() else group.receive(15)

    teller = threading.Thread(target=tell)
    teller.start()
    assert group.run() == 130
    teller.join()
    assert [one.returncode for one in started] == [-signal.SIGTERM] * 2


def test_no_worker_is_begun_after_the_time_is_over() -> None:
    codes = [LOST_LOCK_CODE, 0]
    group = WorkerGroup(FleetTerms("postgresql://x", seconds=0.001), print, start_codes(codes))
    group.began -= 1
    assert group.run() == 0 and len(codes) == 2


def test_an_end_is_described() -> None:
    assert describe_end(-9) == "was ended by SIGKILL" and describe_end(3) == "ended with exit code 3"


def test_two_workers_have_clones_of_their_own_and_a_free_folder_is_used_again(tmp_path) -> None:
    with take_clone_folder(tmp_path) as first, take_clone_folder(tmp_path) as second:
        assert first != second
    with take_clone_folder(tmp_path) as again:
        assert again == first


def test_the_name_of_a_project_leads_to_no_other_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clone_cache, "clone_or_update", lambda *_: None)
    places = {clone_cache.bring_clone(tmp_path, "key", name, "remote") for name in ("..", ".", "", "../../x", "/etc", "a\nb")}
    assert all(len(place.resolve().relative_to(tmp_path).parts) == 2 for place in places)
