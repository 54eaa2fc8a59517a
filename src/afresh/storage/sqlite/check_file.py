"""Asks SQLite whether a database file is whole."""

import sqlite3
from pathlib import Path

from afresh.workspace.disk_files import refuse_symlinks

MAX_REPORTED_FAULTS = 3
BUSY_TIMEOUT_SECONDS = 20.0


def find_file_damage(path: Path) -> str:
    """What SQLite finds wrong with a file, which is not changed; empty if it is whole, or there is none."""
    if not path.exists() or not path.stat().st_size:
        return ""
    refuse_symlinks(path.parent, path)
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_TIMEOUT_SECONDS)
        try:
            rows = connection.execute(f"PRAGMA integrity_check({MAX_REPORTED_FAULTS})").fetchall()
        finally:
            connection.close()
    except sqlite3.Error as fault:
        return str(fault)
    found = [row[0] for row in rows if row[0] != "ok"]
    return "; ".join(found)
