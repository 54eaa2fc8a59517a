"""Every test starts on a clean machine: no keys, no git identity, and no settings of the user who runs it."""

import fcntl
import gc
import os
import pickle
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from afresh.core.known_secrets import forget_secrets
from afresh.core.tokens import EstimatingCounter
from afresh.models import call as door
from support.ceiling_watch import CeilingWatch, find_calls_over_ceiling, render_failure

if TYPE_CHECKING:
    from afresh.ports.storage import Storage
    from afresh.ports.watch import Clock
    from afresh.storage.postgres.storage import PostgresProject

sys.dont_write_bytecode = False
"""Overrides the environment: tests start hundreds of processes, and without bytecode files each would compile all its imports."""

gc.disable()
"""Disabled until all tests are collected: test items are kept anyway, and scanning them takes a quarter of the time."""

settings.register_profile(
    "afresh",
    max_examples=20,
    derandomize=True,  # the same examples in every run; `make explore` and `make torture` draw others
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
settings.load_profile("afresh")
settings.register_profile("explore", max_examples=100, derandomize=False)
settings.register_profile("torture", max_examples=600, derandomize=False)
providers._get_local_constants = lambda: providers._local_constants
"""Hypothesis draws constants of the modules that are imported by then, so examples would depend on which tests ran before."""

SOURCE = str(Path(__file__).parents[1] / "src")
CERTIFICATE = str(Path(__file__).with_name("certificate.pem"))
"""A certificate that belongs to nobody. Loading the system's certificates takes 30 ms per provider client, and tests use the
loopback without TLS.
"""
WATCH = CeilingWatch(EstimatingCounter().whole)
WATCH.stand_at(door)

OWN_POSTGRES = os.environ.get("AFRESH_TEST_POSTGRES", "")
"""The address of a server to test with instead of one that the tests start: its user must be allowed to create schemas."""
POSTGRES_PASSWORD = "pass-of-the-store"
PERSONAL = (
    "AFRESH_", "ANTHROPIC_", "OPENAI_", "OPENROUTER_", "OLLAMA_", "VLLM_", "LLAMACPP_", "GIT_", "XDG_", "OTEL_", "PYTEST_ADDOPTS",
    "PYTHONDONTWRITEBYTECODE",
)  # fmt: skip


LONGEST = (
    "test_a_bad_decision",
    "test_the_first_half_hour",
    "test_the_suggestions_bring",
    "test_after_five_hundred",
    "test_a_killed_run",
    "test_killed_anywhere",
    "test_33_a_daemon",
)
"""Started first: a long test that starts last leaves the other workers idle."""


BROWSER_FIXTURES = frozenset({"chromium", "filled", "browser"})
POSTGRES_FIXTURES = frozenset({"postgres_server", "postgres", "postgres_store"})


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.name.startswith(LONGEST))
    for item in items:
        if "requires_sandbox" in getattr(item, "fixturenames", ()):
            item.add_marker("sandboxed")
        if BROWSER_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("browser")
        if (BROWSER_FIXTURES | POSTGRES_FIXTURES).intersection(getattr(item, "fixturenames", ())):
            item.add_marker("journey")


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How often faults were tried, and what was lost."""
    reports = [one for held in terminalreporter.stats.values() for one in held if getattr(one, "when", "") == "call"]
    if counted := [str(value) for one in reports for name, value in one.user_properties if name == "counted"]:
        terminalreporter.section("faults: tried, lost, broken twin")
        terminalreporter.write_line("\n".join(counted))


@pytest.fixture(scope="session", autouse=True)
def bare_machine(tmp_path_factory: pytest.TempPathFactory):
    """Clean the environment, also for processes that tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background: child processes would ignore Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(PERSONAL)]:
            patch.delenv(name)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("PYTHONPATH", SOURCE)  # not an installed version of afresh
        patch.setenv("SSL_CERT_FILE", CERTIFICATE)
        yield


@pytest.fixture(autouse=True)
def knows_no_keys() -> Iterator[None]:
    """A key of one test is not a secret in the next."""
    yield
    forget_secrets()


@pytest.fixture(scope="session", autouse=True)
def under_the_ceiling(bare_machine: None, tmp_path_factory: pytest.TempPathFactory):
    """Fail if any call, of this process or of one that a test started, was over its ceiling."""
    yield
    over = WATCH.over + list(find_calls_over_ceiling(tmp_path_factory.getbasetemp()))
    if over:
        pytest.fail(render_failure(over), pytrace=False)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Return a function that takes a name and a function of a folder: the first worker runs it, the others read its result."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def make(name: str, function: Callable[[Path], Any]) -> Any:
        folder, result = shared / f"once-{name}", shared / f"once-{name}.pickle"
        with (shared / f"once-{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not result.exists():
                shutil.rmtree(folder, ignore_errors=True)  # of a worker that failed or died
                folder.mkdir()
                made = pickle.dumps(function(folder))
                result.with_suffix(".new").write_bytes(made)
                result.with_suffix(".new").rename(result)
        return pickle.loads(result.read_bytes())

    return make


@dataclass(frozen=True, slots=True)
class PostgresPlace:
    """An empty project on a real server."""

    address: str
    project: "PostgresProject"
    shared: str

    def open(self, clock: "Clock") -> "Storage":
        from afresh.storage.postgres.storage import open_postgres_storage

        return open_postgres_storage(self.address, self.project, clock, self.shared)


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of a PostgreSQL that all workers share: the one of AFRESH_TEST_POSTGRES, or one that ends with them."""
    from support.postgres_server import explain_missing_postgres, share_postgres

    if OWN_POSTGRES:
        return OWN_POSTGRES
    if why_not := explain_missing_postgres():
        pytest.skip(why_not)
    own = tmp_path_factory.getbasetemp()
    return share_postgres((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "postgres.lock")


@pytest.fixture
def postgres(postgres_server: str) -> Iterator[PostgresPlace]:
    """Return an empty project, and an empty ledger and notebook of the user, on a server that is shared. What a test leaves open
    is closed after it: a server has only so many connections."""
    import psycopg

    from afresh.storage.postgres.storage import PostgresProject

    worker = f"{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}_{os.getpid()}"
    marked = f"{postgres_server}{'&' if '?' in postgres_server else '?'}application_name={worker}"
    place = PostgresPlace(marked, PostgresProject(f"test {worker}"), f"afresh_{worker}")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        tables = (
            "SELECT schemaname, tablename FROM pg_tables WHERE schemaname = ANY(%s)"
            " AND tablename NOT IN ('schema_version', 'identity')"
        )
        found = connection.execute(tables, ([place.project.schema, place.shared],)).fetchall()
        if found:
            listed = ", ".join(f"{schema}.{table}" for schema, table in found)
            connection.execute(f"TRUNCATE {listed} RESTART IDENTITY CASCADE")
        yield place
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s", (worker,))


@pytest.fixture
def postgres_store(postgres_server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Let every command use a database of its own, at the address that is returned. The password is in nothing that is kept."""
    import psycopg

    name = f"afresh_{uuid4().hex}"
    parts = urlsplit(postgres_server)
    user, _, host = parts.netloc.rpartition("@")
    netloc = f"{user}@{host}" if ":" in user else f"{user}:{POSTGRES_PASSWORD}@{host}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" STRATEGY file_copy')
        monkeypatch.setenv("AFRESH_STORE", urlunsplit(parts._replace(netloc=netloc, path=f"/{name}")))
        yield os.environ["AFRESH_STORE"]
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
def requires_sandbox() -> Callable[..., None]:
    """Return a function that skips the test unless one of the given sandbox levels works here (none given: any that confines)."""
    from afresh.sandbox.escape_probe import probe_level

    def check(*levels: str) -> None:
        results = [probe_level(level) for level in levels or ("bubblewrap", "landlock")]
        if not any(result.holds for result in results):
            pytest.skip("; ".join(f"{result.level} does not hold here: {result.why_not}" for result in results))

    return check


@pytest.fixture
def confined(requires_sandbox: Callable[..., None]) -> None:
    """For tests that run commands as a user does by default."""
    requires_sandbox()
