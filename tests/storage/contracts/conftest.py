"""Workers of this machine, for the contract of queues."""

import subprocess
import sys

import pytest

from afresh.storage import renew_lease
from afresh.storage.renew_lease import identify_worker


@pytest.fixture
def living_worker() -> str:
    return identify_worker()


@pytest.fixture
def dead_worker() -> str:
    """Return the name of a worker whose process has ended."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    started = renew_lease._read_start_time(process.pid)
    process.communicate()
    return f"{identify_worker().rsplit(':', 2)[0]}:{process.pid}:{started}"
