"""Who lives and who does not."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from queue import SimpleQueue
from socket import gethostname
from threading import Event, Thread

import pytest

from afresh.core.task import describe_worker
from afresh.storage.renew_lease import find_lease_holder, identify_thread, identify_worker, is_worker_alive, is_worker_dead

PRINT_AND_WAIT = (
    "import sys; from threading import Thread; from afresh.storage import renew_lease;"
    "me = getattr(renew_lease, sys.argv[1]); wait = lambda: (print(me(), flush=True), sys.stdin.read());"
    "(lambda thread: (thread.start(), thread.join()))(Thread(target=wait)) if 'thread' in sys.argv[1] else wait()"
)


def child(of: str = "identify_worker") -> tuple["subprocess.Popen[str]", str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", PRINT_AND_WAIT, of], env=environment, stdin=pipe, stdout=pipe, text=True)
    assert process.stdout
    return process, process.stdout.readline().strip()


def test_this_process_lives() -> None:
    assert not is_worker_dead(identify_worker()) and is_worker_alive(identify_worker())
    assert identify_worker() == identify_worker()
    assert identify_worker().split(":")[1] == str(os.getpid())


def test_a_killed_process_is_dead_even_before_its_parent_has_noticed() -> None:
    process, name = child()
    assert not is_worker_dead(name)
    process.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_worker_dead(name), "a zombie does no work"
    process.communicate()
    assert is_worker_dead(name) and not is_worker_alive(name)


def test_a_stopped_process_is_not_dead() -> None:
    process, name = child()
    process.send_signal(signal.SIGSTOP)
    assert not is_worker_dead(name) and is_worker_alive(name)
    process.kill()
    process.communicate()


def test_a_process_number_used_again_is_another_worker() -> None:
    host, process, started = identify_worker().rsplit(":", 2)
    if started == "unknown":
        pytest.skip("start times are known only where there is a /proc")
    assert is_worker_dead(f"{host}:{process}:{int(started) - 1}")


@pytest.mark.parametrize("name", ["elsewhere:1:1", "a", "", "a:b", "::", "elsewhere:99999999:1"])
def test_of_other_machines_nothing_is_known(name: str) -> None:
    assert not is_worker_dead(name)
    assert not is_worker_alive(name)


def test_where_start_times_are_unknown_time_judges() -> None:
    """The number may have been given to another process."""
    name = f"{identify_worker().rsplit(':', 2)[0]}:{os.getpid()}:unknown"
    assert not is_worker_alive(name) and find_lease_holder(name, 5.0, 9.0) == ""


def test_threads_of_a_process_are_workers_of_their_own_and_end_one_by_one() -> None:
    names, go_on = SimpleQueue[str](), [Event(), Event()]

    def work(number: int) -> None:
        names.put(identify_thread())
        go_on[number].wait()

    threads = [Thread(target=work, args=(number,)) for number in range(2)]
    first, second = (thread.start() or names.get() for thread in threads)
    assert len({first, second, identify_worker()}) == 3
    assert describe_worker(first, gethostname()) == f"process {os.getpid()} on this machine"
    assert not is_worker_dead(first) and find_lease_holder(first, 5.0, 9.0) == first, "while it lives, the clock does not matter"
    go_on[0].set()
    threads[0].join()
    while Path(f"/proc/self/task/{first.split(':')[1].split('.')[1]}").exists():
        continue  # the kernel ends it a little later than Python
    assert is_worker_dead(first) and not is_worker_alive(first) and is_worker_alive(second)
    go_on[1].set()
    threads[1].join()


def test_a_thread_of_a_killed_process_is_dead() -> None:
    process, name = child(of="identify_thread")
    assert is_worker_alive(name)
    process.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_worker_dead(name)
    process.communicate()
