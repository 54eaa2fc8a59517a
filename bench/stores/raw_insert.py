"""The floor: what was said and seen in a step as one row, one commit, WAL and full sync."""

import sqlite3
from pathlib import Path

from workload import Said


class Contestant:
    package = ""

    def __init__(self, folder: Path) -> None:
        self.connection = sqlite3.connect(folder / "raw.db", isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = FULL")
        self.connection.execute("CREATE TABLE step (id INTEGER PRIMARY KEY, body TEXT)")

    def prepare(self, said: Said) -> str:
        return said.row

    def step(self, row: str) -> None:
        self.connection.execute("INSERT INTO step (body) VALUES (?)", (row,))

    def load(self) -> object:
        return self.connection.execute("SELECT body FROM step ORDER BY id DESC LIMIT 1").fetchone()

    def close(self) -> None:
        self.connection.close()
