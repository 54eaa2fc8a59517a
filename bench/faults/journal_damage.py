"""The journal's database cut at an offset, or with one bit flipped: refused, or the same answer, never another one."""

import random
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from afresh.errors import AfreshError
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sqlite.database import Database
from faults.count import Count, Row, Twin
from faults.kill_stages import add_and_finish
from faults.trial import Trial

FULL = 4_000
SHORT = 120


def read_answers(path: Path, checked: bool) -> dict[str, str]:
    """What the journal says of each task; empty if it is refused. The twin does not check the hashes."""
    with closing(Database(path)) as database:
        try:
            journal = SqlJournal(database)
            with database.reading() as connection:
                tasks = [row[0] for row in connection.execute("SELECT id FROM task")]
                if not checked:
                    rows = connection.execute("SELECT task, seq, entries FROM record ORDER BY task, seq").fetchall()
                    return {f"{task} {seq}": repr(body) for task, seq, body in rows}
            for task in tasks:
                journal.check(task)
            return {task: repr(journal.load(task)) for task in tasks}
        except AfreshError:
            return {}


def fold_log(path: Path) -> None:
    """Into the database itself, so that all of it is in one file."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def try_damaged_journals(whole: Path, tries: int, chance: random.Random, checked: bool = True) -> int:
    """Half of the tries cut the file, at even distances, half flip a bit; how often another answer was believed."""
    data, answer = whole.read_bytes(), read_answers(whole, checked)
    believed = 0
    with tempfile.TemporaryDirectory(prefix="afresh-damage-") as top:
        for number in range(tries):
            copy = Path(top) / f"{number}" / "afresh.db"
            copy.parent.mkdir()
            copy.write_bytes(cut_or_flip(data, number, tries, chance))
            found = read_answers(copy, checked)
            believed += bool(found) and found != answer and copy.stat().st_size > 0
            shutil.rmtree(copy.parent)
    return believed


def cut_or_flip(data: bytes, number: int, tries: int, chance: random.Random) -> bytes:
    if number % 2 == 0:
        return data[: number * len(data) // tries]
    changed = bytearray(data)
    changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def measure(count: Count) -> list[Row]:
    tries, chance = count.tries("journal", FULL, SHORT), count.chance("journal")
    with tempfile.TemporaryDirectory(prefix="afresh-state-") as top:
        trial = Trial(Path(top))
        add_and_finish(trial)
        whole = trial.state / "afresh.db"
        fold_log(whole)
        believed = try_damaged_journals(whole, tries, chance)
        again = max(60, tries // 8)
        caught = try_damaged_journals(whole, again, chance, checked=False)
    return [Row("journal cut at an offset, or one bit flipped", tries, believed, (Twin("without hashes", again, caught),))]
