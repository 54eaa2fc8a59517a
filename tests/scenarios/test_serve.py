"""`afresh serve` as a person runs it: tasks from another terminal are done, dead processes replaced, and a stop is graceful."""

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from at_work import HeldServer
from person import COMPLETE, MEND, Person
from running_service import LONGEST, Service

pytestmark = [pytest.mark.journey, pytest.mark.reported]


@pytest.fixture
def serve(person: Person) -> Iterator[Callable[..., Service]]:
    started = list[subprocess.Popen[str]]()

    def start(*options: str) -> Service:
        process = person.starts("serve", "--port", "0", *options)
        started.append(process)
        return Service(process)

    yield start
    for process in started:
        process.kill()
        process.wait()


def wait_until(reached: Callable[[], bool]) -> None:
    late = time.monotonic() + LONGEST
    while not reached():
        assert time.monotonic() < late
        time.sleep(0.05)


@pytest.mark.daily
def test_a_task_from_another_terminal_is_done_after_a_killed_process_was_replaced(
    person: Person, serve: Callable[..., Service], requires_sandbox
):
    requires_sandbox()
    service = serve("--workers", "1", "--model", person.script([MEND], [COMPLETE]))
    service.find("schedules started")
    assert service.health[0] == 200
    os.kill(int(service.find(r"workers started \(process (\d+)\)")), signal.SIGKILL)
    service.find("workers ended: it was ended by SIGKILL; started again in 1 s")
    status, told = service.health
    assert status == 503 and told["workers"]["why"] == "it was ended by SIGKILL"
    task = person.adds()
    service.find(rf"workers +{task}: done")
    second = person.types("serve", "--port", "0")
    assert second.code == 1 and f"already runs for this project (process {service.process.pid})" in second.err
    service.process.send_signal(signal.SIGTERM)
    assert service.process.wait(LONGEST) == 0
    service.find("service +stopped$")
    assert person.shown(task)["status"] == "done"


def test_a_stop_lets_the_step_end_and_the_dashboard_says_so(
    person: Person, serve: Callable[..., Service], requires_sandbox, held: HeldServer
):
    requires_sandbox()
    task = person.adds("double is wrong", "--model", "held")
    service = serve("--workers", "1", "--json", "--no-schedules")
    asked = held.next_call()
    address = person.repo / ".afresh/state/serve.address"
    assert address.stat().st_mode & 0o777 == 0o600
    key = re.search(r"token=(\S+)", address.read_text())
    assert key and not any(key[1] in line for line in service.lines), "the key is in no log"
    service.process.send_signal(signal.SIGTERM)
    service.find("SIGTERM; once more ends them at once: the worker ends after its step")  # said when it has been sent the signal
    assert service.health[1]["status"] == "stopping"
    asked.answer(MEND)
    assert service.process.wait(LONGEST) == 0
    service.reader.join(LONGEST)
    assert all(json.loads(line).keys() == {"at", "source", "text"} for line in service.lines)
    assert not address.exists()
    shown = person.shown(task)
    assert shown["step"] == 1 and shown["status"] != "done", "its step was finished, and no other begun"


def test_processes_of_a_killed_service_end_and_another_can_be_started(person: Person, serve: Callable[..., Service]):
    service = serve("--workers", "1")
    children = [int(service.find(rf"{name} started \(process (\d+)\)")) for name in ("workers", "schedules")]
    service.process.kill()
    wait_until(lambda: not any(Path(f"/proc/{child}/exe").exists() for child in children))
    again = serve("--workers", "1")
    again.find("workers started")
    again.process.send_signal(signal.SIGTERM)
    assert again.process.wait(LONGEST) == 0


def test_a_port_in_use_is_refused_before_anything_is_started(person: Person):

    with socket.create_server(("127.0.0.1", 0)) as taken:
        told = person.types("serve", "--port", str(taken.getsockname()[1]))
    assert told.code == 2 and "can't be used" in told.err and "started" not in told.out
