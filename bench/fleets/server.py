"""A PostgreSQL that the harness stops and starts: from the wheel that carries one, perhaps in a network of its own."""

import os
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from support.postgres_server import (
    UNPRIVILEGED_USER,
    explain_missing_postgres,
    find_postgres_programs,
    find_reachable_programs,
)


def find_free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@dataclass(frozen=True, slots=True)
class PostgresServer:
    folder: Path
    port: int
    prefix: tuple[str, ...] = ()
    """What starts it in a network namespace."""
    listen: str = "127.0.0.1"

    @property
    def address(self) -> str:
        """Through a socket in the folder: the harness reaches it whatever happens to the networks."""
        return f"postgresql://postgres@/postgres?host={self.folder}&port={self.port}"

    def make(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            os.chown(self.folder, UNPRIVILEGED_USER, UNPRIVILEGED_USER)
        self._run("initdb", "-A", "trust", "-U", "postgres", "-D", str(self.folder / "data"))
        with (self.folder / "data" / "postgresql.conf").open("a") as settings:
            settings.write("max_connections = 200\nshared_buffers = 16MB\n")
        with (self.folder / "data" / "pg_hba.conf").open("a") as rules:
            rules.write("host all all 10.77.0.0/16 trust\n")

    def start(self) -> None:
        options = f"-h '{self.listen}' -p {self.port} -k {self.folder}"
        self._run(
            "pg_ctl", "-w", "-t", "120", "-D", str(self.folder / "data"), "-l", str(self.folder / "log"), "-o", options, "start"
        )

    def stop(self, how: str = "immediate") -> None:
        self._run("pg_ctl", "-w", "-t", "120", "-D", str(self.folder / "data"), "-m", how, "stop")

    def _run(self, program: str, *arguments: str) -> None:
        programs = find_postgres_programs()
        if programs is None:
            raise FileNotFoundError(explain_missing_postgres())
        if os.geteuid() == 0:
            programs = find_reachable_programs(programs, self.folder, UNPRIVILEGED_USER)
        command = [*self.prefix, *_drop_root(), str(programs / program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise OSError(f"{program}: {done.stdout[-500:]} {done.stderr[-500:]}")


def _drop_root() -> Sequence[str]:
    who = str(UNPRIVILEGED_USER)
    return ("setpriv", "--reuid", who, "--regid", who, "--clear-groups") if os.geteuid() == 0 else ()
