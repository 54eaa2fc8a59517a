"""The server that tests share: it outlives a user that dies, and starts where the programs lie in a private folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.postgres_server import explain_missing_postgres, find_postgres_programs

USER = """
import sys
from pathlib import Path
import psycopg
from support import postgres_server
if sys.argv[2:]:
    postgres_server.find_postgres_programs = lambda: Path(sys.argv[2])
address = postgres_server.share_postgres(Path(sys.argv[1]))
with psycopg.connect(address) as connection:
    print(address, connection.execute("SELECT pg_postmaster_start_time()::text").fetchone()[0], flush=True)
sys.stdin.read()
"""


@pytest.fixture
def start_user(tmp_path: Path):
    if why_not := explain_missing_postgres():
        pytest.skip(why_not)
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", USER, str(tmp_path / "lock"), *arguments]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for user in started:
        user.kill()
        user.communicate()


def read_line(user: subprocess.Popen[str]) -> str:
    assert user.stdout
    return user.stdout.readline()


def test_processes_that_start_at_once_share_one_server_which_outlives_the_one_that_started_it(start_user) -> None:
    first, second = start_user(), start_user()
    server = read_line(first)
    assert server and server == read_line(second)
    first.kill()
    first.wait()
    third = start_user()
    assert read_line(third) == server
    for user in (second, third):
        user.kill()
        user.wait()
    assert read_line(start_user()) not in ("", server), (
        "all users died: the server ended with them, and the next one starts another"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to become another user")
def test_root_can_use_programs_that_no_other_user_can_reach(start_user, tmp_path: Path) -> None:
    programs = find_postgres_programs()
    assert programs
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "site").symlink_to(programs.parents[2])
    assert read_line(start_user(str(tmp_path / "home" / "site" / programs.relative_to(programs.parents[2]))))
