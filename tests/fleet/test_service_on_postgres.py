"""`afresh serve` with a store on PostgreSQL, as a person runs it: also while the server is away, and before it is there."""

import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.error import HTTPError
from uuid import uuid4

import psycopg
import pytest
from person import CALC, COMPLETE, MEND, TEST, Person
from running_service import LONGEST, Service

from afresh.storage.choose_storage import identify_project
from fleets.server import PostgresServer, find_free_port


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """One that runs at the start of each test."""
    with tempfile.TemporaryDirectory(prefix="afresh-serve-") as made:
        Path(made).chmod(0o755)  # the server has a user of its own if the tests run as root
        one = PostgresServer(Path(made) / "postgres", find_free_port())
        one.make()
        one.start()
        yield one
        one.stop()


@pytest.fixture
def person(tmp_path: Path, server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    database = f"of_{uuid4().hex}"
    with psycopg.connect(server.address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {database}".encode())
    monkeypatch.setenv("AFRESH_STORE", f"postgresql://postgres@127.0.0.1:{server.port}/{database}")
    identify_project.cache_clear()
    one = Person(tmp_path)
    one.repo.mkdir()
    one.git("init", "-q", "-b", "main")
    one.write("calc.py", CALC)
    one.write("test_calc.py", TEST)
    one.commit()
    subprocess.run(["git", "clone", "-q", "--bare", str(one.repo), str(tmp_path / "remote.git")], check=True)
    one.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    yield one
    identify_project.cache_clear()


class Browser:
    """Holds the cookie of a dashboard."""

    def __init__(self, address: str) -> None:
        self._open = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar())).open
        self.home = address
        self.get(address)

    def get(self, address: str = "") -> tuple[int, str]:
        try:
            with self._open(address or self.home, timeout=LONGEST) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as fault:
            return fault.code, fault.read().decode()


def wait_until(reached: Callable[[], bool], service: Service) -> None:
    late = time.monotonic() + LONGEST
    while not reached():
        assert time.monotonic() < late and service.process.poll() is None, "".join(service.lines)
        time.sleep(0.1)


@pytest.mark.journey
def test_a_service_goes_on_by_itself_after_its_server_was_away(person: Person, server: PostgresServer, requires_sandbox) -> None:
    requires_sandbox()
    service = Service(person.starts("serve", "--port", "0", "--workers", "1"))
    try:
        service.find("waits for tasks in")
        status, told = service.health
        assert status == 200 and "schedules" not in told, "the workers see to them"
        first = person.adds("double is wrong", "--model", person.script([MEND], [COMPLETE]))
        service.find(f"{first}: done")
        browser = Browser((person.state / "serve.address").read_text().strip())
        assert browser.get()[0] == 200

        server.stop("fast")
        status, page = browser.get()
        assert status == 500 and "be reached: " in page and "Safe:" in page and "Next:" in page
        assert service.health[0] == 503 and service.health[1]["database"] == "can't be read"
        service.find("lost its lock; another one starts in")

        server.start()
        wait_until(lambda: service.health[0] == 200 and browser.get()[0] == 200, service)
        second = person.adds("double is wrong again", "--model", person.script([MEND], [COMPLETE], name="second"))
        service.find(f"{second}: done")
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(LONGEST) == 0, "".join(service.lines)
    finally:
        service.process.kill()
        service.process.wait()


@pytest.mark.journey
def test_without_its_server_nothing_is_started_and_the_error_says_what_to_do(person: Person, server: PostgresServer) -> None:
    server.stop("fast")
    try:
        refused = [
            person.types(*command) for command in (("serve", "--port", "0"), ("work", "--until-empty"), ("status", "--all"))
        ]
    finally:
        server.start()
    for told in refused:
        assert told.code == 4 and "be reached: Connection refused" in told.words, told.words
        assert "what was committed is on the server" in told.words and "check that the server runs" in told.words


def test_what_workers_of_a_fleet_can_not_do_is_refused_at_the_start(person: Person) -> None:
    assert "`afresh apply` merges a result" in person.types("serve", "--auto-merge").words
    person.git("remote", "remove", "origin")
    identify_project.cache_clear()
    told = person.types("serve", "--port", "0")
    assert told.code == 1 and "has no remote `origin`" in told.words and "nothing was started" in told.words


@pytest.mark.journey
def test_init_names_the_store_and_the_remote_that_workers_use(person: Person, server: PostgresServer) -> None:
    told = person.types("init").words
    assert f"tasks in PostgreSQL at 127.0.0.1:{server.port}/of_" in told and ", 1 project remote " in told
    assert f"remote {person.folder / 'remote.git'}: workers clone it" in told
    person.git("remote", "remove", "origin")
    identify_project.cache_clear()
    assert "remote none, so no worker takes its tasks" in person.types("init").words
