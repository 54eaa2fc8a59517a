"""What the workers of a fleet share beside the projects' own tables: which chunk of a task was given out last, and what came of
it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMA = "afresh_fleet"
MAKE_LOCK = 0x61667265_01
"""Key of the advisory lock under which the tables are made."""
PASS_LOCK = 0x61667265_02
"""Under which one worker looks after the others and the queue."""
STATEMENTS = (
    f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}",
    f"""CREATE TABLE IF NOT EXISTS {SCHEMA}.chunk (
        project text NOT NULL,
        task text NOT NULL,
        number integer NOT NULL DEFAULT 0,
        faults integer NOT NULL DEFAULT 0,
        deaths integer NOT NULL DEFAULT 0,
        not_before timestamptz NOT NULL DEFAULT now(),
        note text NOT NULL DEFAULT '',
        PRIMARY KEY (project, task)
    )""",
)
FIRST_WAIT_SECONDS = 5
MAX_WAIT_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Chunk:
    """A number of steps of a task, and when they may begin."""

    number: int
    due: bool = True
    """Whether the wait after a fault is over."""


def make_tables(connection: "Connection") -> None:
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (MAKE_LOCK,))
        for statement in STATEMENTS:
            connection.execute(statement.encode())


def read_chunks(connection: "Connection", project: str, tasks: Sequence[str]) -> dict[str, Chunk]:
    """The current chunk of each task; the first chunk of a task that was never given out."""
    rows = connection.execute(
        f"SELECT task, number, not_before <= now() FROM {SCHEMA}.chunk WHERE project = %s AND task = ANY(%s)".encode(),
        (project, list(tasks)),
    ).fetchall()
    return {task: Chunk(0) for task in tasks} | {task: Chunk(number, due) for task, number, due in rows}


def count_chunk(connection: "Connection", project: str, task: str, ended: int) -> int:
    """The number of the chunk after the one that has ended. Asking again returns the same number."""
    row = connection.execute(
        f"INSERT INTO {SCHEMA}.chunk (project, task, number) VALUES (%s, %s, %s) ON CONFLICT (project, task)"
        " DO UPDATE SET number = greatest(chunk.number, excluded.number) RETURNING number".encode(),
        (project, task, ended + 1),
    ).fetchone()
    assert row
    return row[0]


def note_fault(connection: "Connection", project: str, task: str, what: str) -> float:
    """Keep a task that could not be worked on back for a while, longer each time; the seconds."""
    row = connection.execute(
        f"INSERT INTO {SCHEMA}.chunk AS held (project, task, faults, note, not_before)"
        " VALUES (%(project)s, %(task)s, 1, %(note)s, now() + make_interval(secs => %(first)s))"
        " ON CONFLICT (project, task) DO UPDATE SET faults = held.faults + 1, note = excluded.note,"
        " not_before = now() + make_interval(secs => least(%(most)s, %(first)s * power(2, least(held.faults, 20))))"
        " RETURNING extract(epoch FROM not_before - now())::float8".encode(),
        {"project": project, "task": task, "note": what[:500], "first": FIRST_WAIT_SECONDS, "most": MAX_WAIT_SECONDS},
    ).fetchone()
    assert row
    return row[0]


def count_death(connection: "Connection", project: str, task: str) -> int:
    """Count a worker that died with the task; how many have since it last came back from one."""
    row = connection.execute(
        f"INSERT INTO {SCHEMA}.chunk AS held (project, task, deaths) VALUES (%s, %s, 1)"
        " ON CONFLICT (project, task) DO UPDATE SET deaths = held.deaths + 1 RETURNING deaths".encode(),
        (project, task),
    ).fetchone()
    assert row
    return row[0]


def clear_faults(connection: "Connection", project: str, task: str) -> None:
    connection.execute(
        f"UPDATE {SCHEMA}.chunk SET faults = 0, deaths = 0, note = '', not_before = now()"
        " WHERE project = %s AND task = %s AND faults + deaths > 0".encode(),
        (project, task),
    )
