"""`afresh serve` as a person runs it: tasks from another terminal are done, dead processes replaced, and a stop is graceful."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import pytest
from person import COMPLETE, MEND, Person, Step

LONGEST = 300
"""Seconds: for a machine that does much else meanwhile."""


@dataclass
class Service:
    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.reader = Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line)

    def find(self, pattern: str) -> str:
        """Wait for a line, and return its first group."""
        late = time.monotonic() + LONGEST
        while time.monotonic() < late:
            for line in list(self.lines):
                if found := re.search(pattern, line):
                    return found[1] if found.groups() else found[0]
            if self.process.poll() is not None and not self.reader.is_alive():
                break
            time.sleep(0.05)
        raise AssertionError(f"it did not say {pattern!r}: {''.join(self.lines)} {self.process.poll()}")

    def get(self, address: str) -> tuple[int, str]:
        host, _, path = address.removeprefix("http://").partition("/")
        connection = http.client.HTTPConnection(host, timeout=60)
        connection.request("GET", f"/{path}")
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    @property
    def health(self) -> tuple[int, dict]:
        status, text = self.get(self.find(r'health at (http://[^\s"]+)'))
        return status, json.loads(text)


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


def find_request(box: Path) -> Path | None:
    return next(
        (one for one in box.rglob("*.request.md") if not one.with_name(one.name.replace(".request.md", ".reply.json")).exists()),
        None,
    )


def reply(asked: Path, *actions: Step) -> None:
    answer = {"thought": "", "actions": [{"tool": tool, "args": args} for tool, args in actions]}
    part = asked.with_name(f"part-{asked.name}")
    part.write_text(json.dumps(answer))
    part.rename(asked.with_name(asked.name.replace(".request.md", ".reply.json")))


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


def test_a_stop_lets_the_step_end_and_the_dashboard_says_so(person: Person, serve: Callable[..., Service], requires_sandbox):
    requires_sandbox()
    box = person.folder / "box"
    task = person.adds("double is wrong", "--model", f"mailbox:{box}")
    service = serve("--workers", "1", "--json", "--no-schedules")
    wait_until(lambda: find_request(box) is not None)
    address = person.repo / ".afresh/state/serve.address"
    assert address.stat().st_mode & 0o777 == 0o600
    key = re.search(r"token=(\S+)", address.read_text())
    assert key and not any(key[1] in line for line in service.lines), "the key is in no log"
    service.process.send_signal(signal.SIGTERM)
    service.find("each worker ends after its step")
    assert service.health[1]["status"] == "stopping"
    asked = find_request(box)
    assert asked
    reply(asked, MEND)
    assert service.process.wait(LONGEST) == 0
    service.reader.join(LONGEST)
    assert all(json.loads(line).keys() == {"at", "source", "text"} for line in service.lines)
    assert not address.exists()
    shown = person.shown(task)
    assert shown["step"] == 1 and shown["status"] != "done", "its step was finished, and no other begun"


def test_processes_of_a_killed_service_end_and_another_can_be_started(person: Person, serve: Callable[..., Service]):
    service = serve("--workers", "1")
    children = [int(service.find(rf"{name} started \(process (\d+)\)")) for name in ("workers", "schedules")]
    time.sleep(1.0)  # they ask to end with it as their first act
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
