"""Runs one way of building contexts in a process (and environment) of its own, told by lines of JSON what to do next.

python contestant.py MODULE:FUNCTION FOLDER
"""

import importlib
import importlib.metadata
import itertools
import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from contexts.needed import count, step_text, tallies
from contexts.runs import Endless
from contexts.summary import Spent

Taken = tuple[float, float]


class Runner:
    def __init__(self, name: str, folder: Path) -> None:
        module, _, function = name.partition(":")
        self.module, self.function, self.folder = importlib.import_module(f"contexts.{module}"), function, folder
        self.sessions: list[Any] = []
        self.calls = itertools.count()
        self.work: Callable[[], Any] = lambda: None

    def version(self) -> str:
        return importlib.metadata.version(self.module.package) if self.module.package else ""

    def open(self, path: str) -> int:
        self.sessions = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
        return len(self.sessions)

    def score(self, index: int, budget: int, ceiling: int, sample: int) -> dict[str, Any]:
        """The tally at each point of a session, and every so many contexts as a sample, with its tokens by our count."""
        session, spent, samples = self.sessions[index], Spent(), list[str]()

        def looked_at():
            for context in getattr(self.module, self.function)(session["run"], budget, spent):
                if next(self.calls) % sample == 0:
                    samples.append(context)
                yield context

        points: dict[int, dict[str, Any]] = {}
        for tally in tallies(session["run"], looked_at(), ceiling):
            tally.summaries, tally.summary_tokens = spent.calls, spent.tokens
            if tally.steps in session["points"]:
                points[tally.steps] = asdict(tally)
        return {"points": points, "sample": str(self.kept(samples)), "counted": sum(map(count, samples))}

    def kept(self, samples: list[str]) -> Path:
        with (self.folder / "sample.jsonl").open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(each) + "\n" for each in samples)
        return self.folder / "sample.jsonl"

    def tokens(self, path: str) -> dict[str, Any]:
        """By a real tokenizer, of the texts in a file."""
        texts = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
        measured = self.module.tokens(texts)
        return {**measured, "tokens": sum(measured["tokens"])}

    def ready(self, events: int, spare: int, budget: int, form: str) -> int:
        """Everything up to so many events of the long session is done; what is timed is the next."""
        long = self.sessions[0]
        steps = list(Endless(long["steps"], events // 2 + spare))
        self.work = self.module.at({**long, "steps": steps}, events, budget, form)
        return len(steps)

    def memory(self, steps: int, budget: int, every: int) -> dict[str, Any]:
        """Bytes of this process as the long session goes on. Its steps are made as they are read, and not kept by us."""
        long, read = self.sessions[0], 0
        run = {**long, "steps": Endless(long["steps"], steps)}
        grown = [(0, resident())]
        for number, _ in enumerate(self.module.contexts(run, budget, Spent()), 1):
            read += len(step_text(run["steps"][number - 1]))
            if number % every == 0:
                grown.append((number, resident()))
        return {"grown": grown, "read": read}

    def time(self, times: int) -> list[Taken]:
        return [taken(self.work) for _ in range(times)]


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def taken(work: Callable[[], object]) -> Taken:
    """Seconds by the clock, and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    runner = Runner(sys.argv[1], Path(sys.argv[2]))
    for line in sys.stdin:
        order: list[Any] = json.loads(line)
        print(json.dumps(getattr(runner, order[0])(*order[1:])), flush=True)


if __name__ == "__main__":
    main()
