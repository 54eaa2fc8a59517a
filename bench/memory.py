"""Looking facts up and saving them: beside a bare FTS5 query in the same run, over 10,000 and 1,000,000 facts.

    python bench/memory.py [--quick] [--json] [--dir FOLDER]

Facts are lines of Python's own standard library, questions are other lines of it: words as frequent and as rare as in real work.
The bare query is what one would write: the same words joined by OR, best eight by bm25, over a table of FTS5's own.
"""

import argparse
import json
import platform
import random
import sqlite3
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from afresh.core.fact import Fact, FactKind, FactScope
from afresh.core.project_facts import FactQuery
from afresh.core.search_words import drop_stop_words, split_words
from afresh.storage.lessons.lesson_folder import LessonFolder
from afresh.storage.lessons.lesson_library import FolderLessonLibrary
from afresh.storage.sql.fact_index import MAX_SEARCH_TERMS, search_facts
from afresh.storage.sql.facts import FactTable, record_fact
from afresh.storage.sqlite.database import Database
from afresh.storage.sqlite.fact_words import SqliteFactWords
from afresh.storage.sqlite.schemas import FACTS_SCHEMA
from afresh.testing.fakes import FakeClock

RESULTS = Path(__file__).parent / "results" / "memory.json"
SOON = 1_768_000_000.0
"""A few days after the objects were approved: later they would have aged."""
LIMIT, ROUNDS, BATCH, COMMIT = 8, 5, 5_000, 5
"""Facts that a look-up gives back; rounds in turns; facts a transaction while filling; facts a commit while saving is timed."""


def lines(seed: int) -> Iterator[tuple[str, str]]:
    """Where a line stands, and what it says; without end, the same for the same seed."""
    found: list[tuple[str, str]] = []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if "site-packages" not in path.parts:
            text = path.read_text("utf-8", "replace").splitlines()
            found += [(f"{path.name}:{number}", line.strip()) for number, line in enumerate(text, 1) if len(line.split()) > 3]
    rng = random.Random(seed)
    while True:
        (place, first), (_, second) = rng.choice(found), rng.choice(found)
        yield place, f"{first} {second}"


class Ours:
    def __init__(self, folder: Path) -> None:
        self.database, self.number = Database(folder / "memory.db", schema=FACTS_SCHEMA), 0

    def save(self, batch: list[tuple[str, str]]) -> None:
        with self.database.writing() as connection:
            for place, text in batch:
                self.number += 1
                fact = Fact(FactKind.NOTE, f"{place} {self.number}", text, scope=FactScope.PROJECT)
                record_fact(
                    FactTable(connection, SqliteFactWords()), f"task-{self.number % 50}", fact, "model", float(self.number)
                )

    def ask(self, text: str) -> list[str]:
        question = FactQuery(text, task="task-1", limit=LIMIT)
        with self.database.reading() as connection:
            return [known.fact.text for known in search_facts(FactTable(connection, SqliteFactWords()), question)]


class Bare:
    def __init__(self, folder: Path) -> None:
        self.connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute("CREATE VIRTUAL TABLE fact USING fts5(about, body, text UNINDEXED)")

    def save(self, batch: list[tuple[str, str]]) -> None:
        self.connection.execute("BEGIN")
        rows = [(" ".join(split_words(place)), " ".join(split_words(text)), text) for place, text in batch]
        self.connection.executemany("INSERT INTO fact (about, body, text) VALUES (?, ?, ?)", rows)
        self.connection.execute("COMMIT")

    def ask(self, text: str) -> list[str]:
        terms = list(dict.fromkeys(drop_stop_words(split_words(text))))[:MAX_SEARCH_TERMS]
        given = (" OR ".join(f'"{term}"' for term in terms), LIMIT)
        found = self.connection.execute("SELECT text FROM fact WHERE fact MATCH ? ORDER BY rank LIMIT ?", given)
        return [text for (text,) in found]


def timed(act: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    act()
    return (time.perf_counter() - begun) * 1_000


def asked(ours: Ours, bare: Bare, questions: list[str]) -> dict[str, Any]:
    """In turns, question by question; medians of a round, and of the rounds."""
    rounds: list[tuple[float, float]] = []
    all_ours: list[float] = []
    for _ in range(ROUNDS):
        pairs = [(timed(lambda q=question: ours.ask(q)), timed(lambda q=question: bare.ask(q))) for question in questions]
        rounds.append((median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)))
        all_ours += [pair[0] for pair in pairs]
    return {
        "ours_ms": round(median(one for one, _ in rounds), 2),
        "bare_ms": round(median(two for _, two in rounds), 2),
        "ratio": round(median(one / two for one, two in rounds), 3),
        "ratios": sorted(round(one / two, 3) for one, two in rounds),
        "p99_ms": round(quantiles(all_ours, n=100)[98], 1),
    }


def found_again(ours: Ours, bare: Bare, wanted: list[str]) -> dict[str, float]:
    """A known fact, asked for by half of its words: how often it is among the eight."""
    rng, hits = random.Random(3), {"ours": 0, "bare": 0}
    for text in wanted:
        words = drop_stop_words(split_words(text))
        question = " ".join(rng.sample(words, max(3, len(words) // 2)))
        hits["ours"] += text in ours.ask(question)
        hits["bare"] += text in bare.ask(question)
    return {name: round(100 * count / len(wanted), 1) for name, count in hits.items()}


def grown(ours: Ours, bare: Bare, source: Iterator[tuple[str, str]], size: int) -> list[str]:
    """Filled up to `size`; some of what was put in."""
    kept: list[str] = []
    while ours.number < size:
        batch = [next(source) for _ in range(min(BATCH, size - ours.number))]
        ours.save(batch)
        bare.save(batch)
        kept += [text for _, text in batch[:: max(1, BATCH // 20)] if len(drop_stop_words(split_words(text))) > LIMIT]
        print(f"\r{ours.number:,} of {size:,} facts", end="", file=sys.stderr, flush=True)
    return random.Random(5).sample(kept, min(100, len(kept)))


def saving(ours: Ours, bare: Bare, source: Iterator[tuple[str, str]]) -> dict[str, float]:
    """A commit of a few facts, as a step makes it, in turns."""
    pairs: list[tuple[float, float]] = []
    for _ in range(200):
        batch = [next(source) for _ in range(COMMIT)]
        pairs.append((timed(lambda b=batch: ours.save(b)), timed(lambda b=batch: bare.save(b))))
    return {"ours_ms": round(median(one for one, _ in pairs), 3), "bare_ms": round(median(two for _, two in pairs), 3)}


def measured(sizes: list[int], folder: Path, questions: int) -> list[dict[str, Any]]:
    ours, bare, source = Ours(folder), Bare(folder), lines(1)
    asking = (" ".join(text.split()[:14]) for _, text in lines(2))
    texts = [next(text for text in asking if len(drop_stop_words(split_words(text))) > LIMIT) for _ in range(questions)]
    rows: list[dict[str, Any]] = []
    for size in sizes:
        known = grown(ours, bare, source, size)
        asking_took, found = asked(ours, bare, texts), found_again(ours, bare, known)
        rows.append({"facts": size, **asking_took, "found": found, "save": saving(ours, bare, source)})
    print(file=sys.stderr)
    return rows


def knowledge(folder: Path, count: int) -> dict[str, Any]:
    """Look-ups over knowledge objects: the first of a process reads all files, later ones what has changed."""
    objects, source = folder / ".afresh" / "knowledge", lines(3)
    (objects / "approved").mkdir(parents=True)
    for number in range(count):
        (_, title), (_, problem), (_, worked) = next(source), next(source), next(source)
        id, words = f"KO-{number:08x}", " ".join(drop_stop_words(split_words(title))[:9]) or "nothing"
        head = {"id": id, "title": words, "project": "bench", "source": f"task-{number}", "status": "approved", "by": "automatic"}
        days = {"created": "2026-01-01", "approved": "2026-01-01"}
        front = "\n".join(f"{name}: {json.dumps(value)}" for name, value in {**head, **days}.items())
        text = f"---\n{front}\n---\n## Problem\n{problem}\n\n## What worked\n{worked}\n"
        (objects / "approved" / f"{id}.md").write_text(text, "utf-8")
    library = FolderLessonLibrary(LessonFolder(objects), folder, FakeClock(SOON))
    questions = [next(source)[1] for _ in range(ROUNDS * 4 + 1)]
    first, *later = [timed(lambda q=question: library.find((q, q), 3)) for question in questions]
    return {"objects": len(library.named([f"KO-{number:08x}" for number in range(count)])), "first_ms": round(first, 1),
            "later_ms": round(median(later), 1)}  # fmt: skip


HEADINGS = ("facts", "look-up", "bare FTS5", "ratio", "p99", "found again: ours / bare", "commit of 5: ours / bare")


def table(rows: list[dict[str, Any]]) -> str:
    told = [f"| {' | '.join(HEADINGS)} |", "|---" * len(HEADINGS) + "|"]
    for row in rows:
        found, save = row["found"], row["save"]
        cells = (
            f"{row['facts']:,}", f"{row['ours_ms']} ms", f"{row['bare_ms']} ms", f"{row['ratio']} ×", f"{row['p99_ms']} ms",
            f"{found['ours']} % / {found['bare']} %", f"{save['ours_ms']} / {save['bare_ms']} ms",
        )  # fmt: skip
        told.append(f"| {' | '.join(cells)} |")
    return "\n".join(told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 50,000 facts: says nothing about the million")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--dir", type=Path, help="where the databases are made; a temporary folder otherwise")
    given = parser.parse_args()
    sizes = [1_000, 10_000, 50_000] if given.quick else [1_000, 10_000, 100_000, 1_000_000]
    with tempfile.TemporaryDirectory(dir=given.dir) as folder:
        rows = measured(sizes, Path(folder), 20 if given.quick else 40)
        objects = knowledge(Path(folder), 100 if given.quick else 1_000)
    result = {"rows": rows, "knowledge": objects, "sqlite": sqlite3.sqlite_version, "python": platform.python_version()}
    if not given.quick:
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    took = f"first look-up {objects['first_ms']} ms, then {objects['later_ms']} ms"
    told = f"{table(rows)}\n\nknowledge: {objects['objects']:,} objects, {took}"
    print(json.dumps(result, indent=1) if given.json else told)


if __name__ == "__main__":
    main()
