"""Every test starts on a clean machine: no keys, no git identity, and no settings of the user who runs it."""

import fcntl
import gc
import os
import pickle
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from afresh.core.tokens import EstimatingCounter
from afresh.models import call as door
from afresh.testing.ceiling_watch import CeilingWatch, find_calls_over_ceiling, render_failure

sys.dont_write_bytecode = False
"""Overrides the environment: tests start hundreds of processes, and without bytecode files each would compile all its imports."""

gc.disable()
"""Disabled until all tests are collected: test items are kept anyway, and scanning them takes a quarter of the time."""

settings.register_profile("afresh", deadline=None, max_examples=20)
settings.register_profile("torture", deadline=None, max_examples=600)
settings.load_profile("afresh")

SOURCE = str(Path(__file__).parents[1] / "src")
CERTIFICATE = str(Path(__file__).with_name("certificate.pem"))
"""A certificate that belongs to nobody. Loading the system's certificates takes 30 ms per provider client, and tests use the
loopback without TLS.
"""
WATCH = CeilingWatch(EstimatingCounter().whole)
WATCH.stand_at(door)

PERSONAL = (
    "AFRESH_", "ANTHROPIC_", "OPENAI_", "OPENROUTER_", "OLLAMA_", "VLLM_", "LLAMACPP_", "GIT_", "XDG_", "OTEL_", "PYTEST_ADDOPTS",
    "PYTHONDONTWRITEBYTECODE",
)  # fmt: skip


LONGEST = (
    "test_a_bad_decision",
    "test_documented_commands_work[README",
    "test_the_suggestions_bring",
    "test_after_five_hundred",
    "test_a_killed_run",
    "test_killed_anywhere",
    "test_33_a_daemon",
)
"""Started first: a long test that starts last leaves the other workers idle."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.name.startswith(LONGEST))
    for item in items:
        if "requires_sandbox" in getattr(item, "fixturenames", ()):
            item.add_marker("sandboxed")


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()


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
                folder.mkdir()
                result.write_bytes(pickle.dumps(function(folder)))
        return pickle.loads(result.read_bytes())

    return make


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
