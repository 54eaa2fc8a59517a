"""A fleet of real workers, and faults that hit it: killed hosts, stopped hosts, cut networks, clocks that jump, a database that
is restarted. The same seed gives the same faults."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from fleets.judge import Judgement, judge_run
from fleets.network import Networks, can_make_networks
from fleets.server import PostgresServer, find_free_port

BENCH = Path(__file__).parents[1]
KINDS = ("kill", "stop", "cut", "clock", "restart")
PORT = 5432
"""In a network of its own."""
VICTIM_SECONDS = 20.0
"""After which a fault hits anybody."""
LAST_SECONDS = 600.0
"""That the tasks may take after the last fault."""


@dataclass(frozen=True, slots=True)
class CampaignTerms:
    folder: Path
    seed: int = 1
    faults: int = 50
    hosts: int = 3
    tasks: int = 6
    """That are open at a time."""
    steps: int = 4
    call_seconds: float = 0.5
    lease_seconds: float = 20.0
    kinds: tuple[str, ...] = KINDS
    broken: str = ""
    last_seconds: float = LAST_SECONDS
    networks: bool = True
    module: str = "fleets.host"
    """What runs a host."""


@dataclass(slots=True)
class Campaign:
    terms: CampaignTerms
    server: PostgresServer
    networks: Networks | None
    say: Callable[[str], None] = print
    running: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict[str, "subprocess.Popen[bytes]"])
    expected: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    hit: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(f"host{number}" for number in range(1, self.terms.hosts + 1))

    @property
    def remote(self) -> Path:
        return self.terms.folder / "remote.git"

    @property
    def checkout(self) -> Path:
        return self.terms.folder / "user" / "project"

    def run(self) -> Judgement:
        """Inject random faults, wait for the tasks, and judge."""
        random = Random(self.terms.seed)
        self.begin()
        while sum(self.hit.values()) < self.terms.faults:
            self.add_tasks()
            kinds = [kind for kind in self.terms.kinds if kind != "cut" or self.networks]
            self.inject(random.choice(kinds), self._wait_for_victim(random), random)
        return self.end()

    def _wait_for_victim(self, random: Random) -> str:
        """A host that has just begun a call, got a reply or begun with a task, some moments later: faults hit who works."""
        kind, later = random.choice(("call", "reply", "begin")), random.uniform(0.0, self.terms.call_seconds)
        try:
            host = self.wait_for_event(kind, VICTIM_SECONDS)["host"]
        except TimeoutError:
            host = random.choice(self.hosts)
        time.sleep(later)
        return host

    def begin(self) -> None:
        self._make_project()
        self.add_tasks()
        for host in self.hosts:
            self._start(host)

    def end(self) -> Judgement:
        self._wait_for_tasks()
        project = self._open_project()
        try:
            return judge_run(project.storage, self.remote, self.expected, self.read_log())
        finally:
            project.storage.close()

    def wait_for_event(self, kind: str, seconds: float = 120.0, after: int | None = None) -> Mapping[str, Any]:
        """The first event of this kind that comes from now on, or after so many."""
        known, until = len(self.read_log()) if after is None else after, time.monotonic() + seconds
        while time.monotonic() < until:
            for line in self.read_log()[known:]:
                if line["kind"] == kind:
                    return line
            time.sleep(0.05)
        raise TimeoutError(f"no {kind} for {seconds:.0f} s")

    def read_log(self) -> Sequence[Mapping[str, Any]]:
        path = self.terms.folder / "events.jsonl"
        text = path.read_text() if path.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def _make_project(self) -> None:
        git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        self.checkout.mkdir(parents=True)
        subprocess.run([*git, "init", "-q", "-b", "main"], cwd=self.checkout, check=True)
        (self.checkout / "README").write_text("a project\n")
        (self.checkout / ".gitignore").write_text(".afresh/state/\n")
        subprocess.run([*git, "add", "-A"], cwd=self.checkout, check=True)
        subprocess.run([*git, "commit", "-qm", "first"], cwd=self.checkout, check=True)
        subprocess.run([*git, "clone", "-q", "--bare", ".", str(self.remote)], cwd=self.checkout, check=True)
        subprocess.run([*git, "remote", "add", "origin", str(self.remote)], cwd=self.checkout, check=True)

    def _open_project(self) -> Any:
        from afresh.app.project import open_project

        os.environ |= self._variables("user", self.server.address)
        return open_project(self.checkout)

    def _variables(self, who: str, address: str) -> dict[str, str]:
        home = self.terms.folder / who
        home.mkdir(parents=True, exist_ok=True)
        return {
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "AFRESH_STORE": address,
        }

    def add_tasks(self) -> None:
        """Add tasks until enough are open."""
        from afresh.app.orders.tasks import TaskOrder, add_task
        from afresh.core.task import TaskStatus, TicketQuery

        try:
            project = self._open_project()
            open_tasks = project.queue.tickets(TicketQuery((TaskStatus.READY, TaskStatus.RUNNING)))
            for _ in range(self.terms.tasks - len(open_tasks)):
                name = f"notes-{len(self.expected)}.txt"
                order = TaskOrder(f"write {name}", "implement_feature", (f"test -f {name}",), model=self._write_script(name))
                state = add_task(project, order)
                lines = "".join(f"line {number}\n" for number in range(1, self.terms.steps + 1))
                self.expected[state.task.id] = {name: lines}
            project.storage.close()
        except Exception as fault:  # the server is being restarted
            self.say(f"no tasks added: {fault}")

    def _write_script(self, name: str) -> str:
        """One line a step: a step that is lost or taken twice shows in the result."""
        edits: list[dict[str, Any]] = [{"tool": "edit", "args": {"path": name, "old": "", "new": "line 1\n"}}]
        edits += [
            {"tool": "edit", "args": {"path": name, "old": f"line {at}\n", "new": f"line {at}\nline {at + 1}\n"}}
            for at in range(1, self.terms.steps)
        ]
        replies = [{"thought": "", "actions": [edit]} for edit in edits]
        replies.append({"thought": "", "actions": [{"tool": "complete", "args": {"summary": f"Write {name}"}}]})
        path = self.terms.folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        return f"scripted:{path}"

    def _start(self, host: str) -> None:
        if self.networks:
            address = f"postgresql://postgres@{self.networks.address_of_database(host)}:{self.server.port}/postgres"
            prefix = self.networks.enter(self.networks.space(host))
        else:
            address, prefix = f"postgresql://postgres@127.0.0.1:{self.server.port}/postgres", ()
        given = {"address": address, "workers": 1, "no_sandbox": True}
        variables = {
            **os.environ,
            **self._variables(host, address),
            "PYTHONPATH": os.pathsep.join((str(BENCH), str(BENCH.parent / "src"), str(BENCH.parent / "tests"))),
            "FLEET_BENCH_HOST": host,
            "FLEET_BENCH_FOLDER": str(self.terms.folder),
            "FLEET_BENCH_CALL_SECONDS": str(self.terms.call_seconds),
            "FLEET_BENCH_LEASE_SECONDS": str(self.terms.lease_seconds),
            "FLEET_BENCH_MODULE": self.terms.module,
            "FLEET_BENCH_BROKEN": self.terms.broken,
        }
        with (self.terms.folder / f"{host}.log").open("ab") as log:
            self.running[host] = subprocess.Popen(
                [*prefix, sys.executable, "-m", self.terms.module, "group", json.dumps(given)],
                env=variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def inject(self, kind: str, host: str, random: Random) -> None:
        """One fault; it is over when this returns."""
        hold = random.choice((random.uniform(0.2, 2.0), self.terms.lease_seconds + random.uniform(4.0, 10.0)))
        began = time.time()
        self.say(f"fault {sum(self.hit.values()) + 1}: {kind} {host if kind != 'restart' else ''}")
        self.hit[kind] = self.hit.get(kind, 0) + 1
        hosts = getattr(self, f"_{kind}")(host, hold, random)
        self.note_fault(kind, began, hosts)

    def note_fault(self, kind: str, began: float, hosts: Sequence[str]) -> None:
        line = {"at": began, "until": time.time(), "kind": "fault", "what": kind, "host": "harness", "hosts": hosts}
        with (self.terms.folder / "events.jsonl").open("a") as log:
            log.write(json.dumps(line) + "\n")

    def _kill(self, host: str, hold: float, random: Random) -> list[str]:
        self._end(host)
        time.sleep(random.uniform(0.5, 4.0))
        self._start(host)
        return [host]

    def _stop(self, host: str, hold: float, random: Random) -> list[str]:
        os.killpg(self.running[host].pid, signal.SIGSTOP)
        time.sleep(hold)
        os.killpg(self.running[host].pid, signal.SIGCONT)
        return [host]

    def take_from_two(self) -> None:
        """Kill the host that works, stop the one that takes over, and let it go on when a third has taken over from it."""
        first = self.wait_for_event("call", after=0)["host"]
        killed, known = time.time(), len(self.read_log())
        self._end(first)
        self.note_fault("kill", killed, [first])
        second = self.wait_for_event("call", after=known)["host"]
        stopped, known = time.time(), len(self.read_log())
        os.killpg(self.running[second].pid, signal.SIGSTOP)
        self._start(first)
        self.wait_for_event("call", after=known)
        os.killpg(self.running[second].pid, signal.SIGCONT)
        self.note_fault("stop", stopped, [second])

    def _cut(self, host: str, hold: float, random: Random) -> list[str]:
        assert self.networks
        self.networks.cut(host)
        time.sleep(hold)
        self.networks.mend(host)
        return [host]

    def _clock(self, host: str, hold: float, random: Random) -> list[str]:
        offset = random.choice((-86_400.0, -3_600.0, -30.0, 30.0, 3_600.0, 86_400.0))
        (self.terms.folder / f"{host}.clock").write_text(str(offset))
        return []  # it explains nothing: no call may be made twice for it

    def _restart(self, host: str, hold: float, random: Random) -> list[str]:
        self.server.stop(random.choice(("immediate", "fast")))
        time.sleep(random.uniform(0.1, 2.0))
        self.server.start()
        return [*self.hosts]

    def _wait_for_tasks(self) -> None:
        from afresh.core.task import TaskStatus, TicketQuery

        until = time.monotonic() + self.terms.last_seconds
        while time.monotonic() < until:
            project = self._open_project()
            left = project.queue.tickets(TicketQuery((TaskStatus.READY, TaskStatus.RUNNING, TaskStatus.BLOCKED)))
            project.storage.close()
            if not left:
                return
            time.sleep(1.0)

    def _end(self, host: str) -> None:
        process = self.running.pop(host)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        for host in list(self.running):
            self._end(host)
        self.server.stop()
        if self.networks:
            self.networks.remove()


def open_campaign(terms: CampaignTerms, say: Callable[[str], None] = print) -> Campaign:
    """Start the database, in networks of their own where that is possible."""
    terms.folder.mkdir(parents=True, exist_ok=True)
    hosts = tuple(f"host{number}" for number in range(1, terms.hosts + 1))
    networks = Networks(f"af{os.getpid()}", hosts) if terms.networks and can_make_networks() else None
    if networks:
        networks.make()
        server = PostgresServer(terms.folder / "postgres", PORT, networks.enter(networks.database), "*")
    else:
        server = PostgresServer(terms.folder / "postgres", find_free_port())
    server.make()
    server.start()
    return Campaign(terms, server, networks, say)
