"""Runs one contestant in a process (and environment) of its own, told by lines of JSON on standard input what to do next.

python contestant.py MODULE FOLDER
"""

import importlib
import importlib.metadata
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workload import steps

MOST_DISK = 3e9
Taken = tuple[float, float]


def taken(work: Callable[[], object]) -> Taken:
    """Seconds by the clock, and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


class Runner:
    def __init__(self, module: str, folder: Path) -> None:
        kind = importlib.import_module(module).Contestant
        self.folder, self.kind, self.contestant, self.done = folder, kind, kind(folder), 0

    def version(self) -> str:
        return importlib.metadata.version(self.kind.package) if self.kind.package else ""

    def grow(self, to: int, seconds: float) -> str:
        """Take steps until there are `to`, or too much time or disk has gone; where and why it stopped early."""
        until = time.perf_counter() + seconds
        for said in steps(max(0, to - self.done), self.done + 1):
            if time.perf_counter() > until:
                return f"stopped at {self.done:,} steps after {seconds:.0f} s"
            if self.done % 20 == 0 and self.disk() > MOST_DISK:
                return f"stopped at {self.done:,} steps with {self.disk() / 1e9:.1f} GB on disk"
            self.contestant.step(self.contestant.prepare(said))
            self.done += 1
        return ""

    def disk(self) -> int:
        return sum(file.stat().st_size for file in self.folder.glob("*") if file.is_file())

    def time(self, count: int) -> list[Taken]:
        """Of each of the next steps; making up their text is not counted."""
        made = [self.contestant.prepare(said) for said in steps(count, self.done + 1)]
        self.done += count
        return [taken(lambda prepared=prepared: self.contestant.step(prepared)) for prepared in made]

    def load(self, count: int) -> list[Taken]:
        return [taken(self.contestant.load) for _ in range(count)]

    def size(self) -> dict[str, int]:
        """Bytes on disk at rest, and what had been said and seen by then."""
        self.contestant.close()
        disk = sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())
        said = distinct = 0
        for each in steps(self.done):
            said, distinct = said + each.bytes, distinct + each.distinct_bytes
        return {"steps": self.done, "disk": disk, "said": said, "distinct": distinct}


def main() -> None:
    runner = Runner(sys.argv[1], Path(sys.argv[2]))
    for line in sys.stdin:
        order: list[Any] = json.loads(line)
        print(json.dumps(getattr(runner, order[0])(*order[1:])), flush=True)


if __name__ == "__main__":
    main()
