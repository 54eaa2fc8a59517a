"""What the copy that is written with every commit adds to a step: time and bytes, early and late in a task, and with many tasks.

    python bench/copying.py [--steps N] [--tasks N]

Steps with and without the copy take turns, so that a busy machine slows both.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from afresh.app.queue.read_tasks import SystemClock
from afresh.core.state import State
from afresh.ports.storage import Storage
from afresh.storage.sqlite.storage import open_sqlite_storage
from afresh.testing.sample_journals import append_step, create_task

RESULT = Path(__file__).parent / "results" / "copying.json"
TIMED_STEPS = 200


def open_store(folder: Path, copied: bool) -> Storage:
    folder.mkdir(parents=True)
    return open_sqlite_storage(folder, folder / "user", SystemClock(), print if copied else None)


def time_step(storage: Storage, state: State) -> tuple[State, float]:
    began = time.perf_counter()
    after = append_step(storage.journal, state)
    return after, 1e3 * (time.perf_counter() - began)


def count_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure_steps(folder: Path, steps: int, tasks: int) -> dict[str, Any]:
    stores = [open_store(folder / name, name == "with") for name in ("with", "without")]
    for storage in stores:
        with storage.transaction():
            for number in range(tasks):
                create_task(storage.journal, f"task-{number:06}")
    states, took = [create_task(storage.journal, "one") for storage in stores], [list[float](), list[float]()]
    before = count_bytes(folder / "with" / "export")
    for _ in range(steps):
        for place, storage in enumerate(stores):
            states[place], milliseconds = time_step(storage, states[place])
            took[place].append(milliseconds)
    added = [one - other for one, other in zip(*took, strict=True)]
    return {
        "tasks": tasks,
        "without_ms": statistics.median(took[1]),
        "added_ms_first": statistics.median(added[:TIMED_STEPS]),
        "added_ms_last": statistics.median(added[-TIMED_STEPS:]),
        "bytes_per_step": (count_bytes(folder / "with" / "export") - before) // steps,
    }


def main(words: Sequence[str] | None = None) -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--steps", type=int, default=2_000)
    options.add_argument("--tasks", type=int, default=10_000)
    given = options.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        found = [measure_steps(Path(folder, str(tasks)), given.steps, tasks) for tasks in (0, given.tasks)]
    RESULT.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
