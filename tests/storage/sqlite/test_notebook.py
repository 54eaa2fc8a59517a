"""A journal that no task owns: several processes write to it, and what stands in it is checked."""

import subprocess
import sys
from pathlib import Path

import pytest

from afresh.core.fact import Fact, FactKind, FactNoted
from afresh.errors import Damaged
from afresh.storage.sql.notebook import SqlNotebook
from afresh.storage.sqlite.database import Database
from support.fakes import FakeClock

NOTES = 40
WRITES = """
import sys
from pathlib import Path
from test_notebook import NOTES, notebook, noted
book = notebook(Path(sys.argv[1]))
sys.stdin.readline()
for number in range(NOTES):
    book.append([noted(f"{sys.argv[2]} {number}")])
"""


def notebook(path: Path) -> SqlNotebook:
    return SqlNotebook(Database(path), FakeClock())


def noted(text: str) -> FactNoted:
    return FactNoted(Fact(FactKind.RULE, text, text), "anna")


def test_two_processes_that_write_at_once_lose_nothing_and_keep_the_chain(tmp_path: Path) -> None:
    path, here = tmp_path / "afresh.db", str(Path(__file__).parent)
    notebook(path).head()
    source = str(Path(__file__).parents[3] / "src")
    environment = {"PYTHONPATH": f"{here}:{source}", "PATH": "/usr/bin:/bin"}
    started = [
        subprocess.Popen([sys.executable, "-c", WRITES, str(path), name], stdin=subprocess.PIPE, env=environment, text=True)
        for name in ("left", "right")
    ]
    for process in started:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.wait(600) for process in started] == [0, 0]
    entries = list(notebook(path).entries())
    told = [entry.event.fact.text for entry in entries if isinstance(entry.event, FactNoted)]
    assert [entry.seq for entry in entries] == list(range(1, 2 * NOTES + 1))
    for name in ("left", "right"):
        assert [text for text in told if text.startswith(name)] == [f"{name} {number}" for number in range(NOTES)]


def test_an_entry_that_was_changed_afterwards_is_noticed(tmp_path: Path) -> None:
    book = notebook(tmp_path / "afresh.db")
    book.append([noted("lines stay short")])
    book.append([noted("dates are UTC")])
    with book._database.writing() as connection:
        (body,) = connection.execute("SELECT body FROM note WHERE seq = 1").fetchone()
        changed = body.replace("short", "longg") if isinstance(body, str) else body.replace(b"short", b"longg")
        assert changed != body
        connection.execute("UPDATE note SET body = ? WHERE seq = 1", (changed,))
    with pytest.raises(Damaged):
        list(notebook(tmp_path / "afresh.db").entries())
