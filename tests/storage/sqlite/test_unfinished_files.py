"""A database whose making was interrupted opens again: by a power loss, a full disk, or changed bytes in its schema."""

import sqlite3
from pathlib import Path
from shutil import copyfile

import pytest

from afresh.errors import Damaged
from afresh.storage.sql.schema import JOURNAL_SCHEMA, DatabaseSchema
from afresh.storage.sqlite.database import Database, create_tables


def test_a_file_with_an_unfinished_transaction_of_its_making_is_rolled_back(tmp_path: Path):
    """As after a power loss: the pages were written, the rollback journal is beside them."""
    made, left = tmp_path / "made.db", tmp_path / "left" / "afresh.db"
    left.parent.mkdir()
    connection = sqlite3.connect(made, isolation_level=None)
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("CREATE TABLE first (a)")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DROP TABLE first")
    for number in range(40):
        connection.execute(f"CREATE TABLE wide{number} ({', '.join(f'column{place} TEXT' for place in range(150))})")
    for suffix in ("", "-journal"):
        copyfile(f"{made}{suffix}", f"{left}{suffix}")
    connection.close()
    assert left.with_name("afresh.db-journal").stat().st_size > 512
    with pytest.raises(Damaged, match="another program"), Database(left).reading():
        pass
    assert not left.with_name("afresh.db-journal").exists(), "rolled back, and then looked at"


def test_a_disk_that_fills_while_the_schema_is_made_is_named_as_that(tmp_path: Path):
    class FullDisk:
        in_transaction = False

        def execute(self, statement: str):
            if statement == "ROLLBACK":
                raise sqlite3.OperationalError("cannot rollback - no transaction is active")
            if statement == "COMMIT":
                raise sqlite3.OperationalError("database or disk is full")
            return self

        def fetchone(self):
            return (0,)

    with pytest.raises(sqlite3.OperationalError, match="disk is full"):
        create_tables(FullDisk(), DatabaseSchema(1, ""))  # pyright: ignore[reportArgumentType]


def test_changed_bytes_in_the_schema_or_in_a_text_are_damage(tmp_path: Path):
    path = tmp_path / "afresh.db"
    with Database(path).writing() as connection:
        connection.execute("INSERT INTO task (id, goal, type) VALUES ('one', 'a goal to find', 't')")
    Database(path).close()
    whole = sqlite3.connect(path)
    whole.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole.close()
    data = path.read_bytes()
    path.write_bytes(data.replace(b"a goal to find", b"a goal \xff\xfe find"))
    with pytest.raises(Damaged), Database(path).reading() as connection:
        connection.execute("SELECT goal FROM task").fetchall()
    path.write_bytes(data.replace(b"CREATE TABLE task (", b"CREATE \xffABLE task ("))
    with pytest.raises(Damaged), Database(path).reading():
        pass
    assert JOURNAL_SCHEMA.application
