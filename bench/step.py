"""What a step costs beside the model and the tools: load, recall, build, snapshot, journal, verdict, view files.

Runs a scripted task on the sample project with the real store, git workspace, sandbox and view files. Time spent in the
model, in tools and in sandboxed commands is taken off each step; the rest is our own. Steps alternate: look, note, edit.

  .venv/bin/python bench/step.py [--steps 60]
"""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from afresh import loop
from afresh.app import compose
from afresh.app.demo import copy_sample
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import open_project
from afresh.core.action import Action
from afresh.core.reply import Reply
from afresh.verification.start_or_resume_task import prepare_task
from ceilings import watch as ceiling_watch
from publish import write_results
from support.states import replace_in_parts

KINDS = ("look", "note", "edit")


class Stopwatch:
    """Sums what goes on inside the parts that are not ours to count."""

    def __init__(self) -> None:
        self.inside = 0.0

    def timed(self, call):
        def wrapped(*args, **more):
            started = time.perf_counter()
            try:
                return call(*args, **more)
            finally:
                self.inside += time.perf_counter() - started

        return wrapped


class Timed:
    """A part with one of its methods on the stopwatch."""

    def __init__(self, inner, method: str, watch: Stopwatch) -> None:
        self.inner, self.method, self.call = inner, method, watch.timed(getattr(inner, method))

    def __getattr__(self, name):
        return self.call if name == self.method else getattr(self.inner, name)


class Script:
    name, window = "bench", 200_000

    def __init__(self) -> None:
        self.number = 0

    def weigh(self, request) -> int:
        return 0

    def propose(self, request, hear=None) -> Reply:
        self.number += 1
        path = ("pricing", "label", "address", "measures")[self.number % 4]
        kind = KINDS[self.number % 3]
        if kind == "look":
            action = Action("read", {"path": f"src/parcel/{path}.py", "start": 1 + self.number % 20})
        elif kind == "note":
            action = Action("note", {"subject": f"{path} {self.number % 30}", "text": "seen " * 20})
        else:
            action = Action("edit", {"path": "src/parcel/spare.py", "new": f"NUMBER = {self.number}\n"})
        return Reply(f"step {self.number}", (action,))


def measure(steps: int, repository: Path) -> dict[str, list[float]]:
    replies = repository.with_name("replies.jsonl")
    replies.touch()
    project = open_project(copy_sample(repository))
    task = add_task(
        project,
        TaskOrder(
            "bench",
            "implement_feature",
            ("python -m pytest -q tests/test_tracking.py",),
            model=f"scripted:{replies}",
            max_steps=steps + 9,
        ),
    )
    watch, ceilings = Stopwatch(), ceiling_watch()
    agent = compose.build_runtime(project, task, compose.RunTerms(no_sandbox=True))
    agent = replace_in_parts(
        agent, model=Timed(Script(), "propose", watch), sandbox=Timed(agent.sandbox, "run", watch),
        tools=tuple(Timed(tool, "run", watch) for tool in agent.settings.tools),
    )  # fmt: skip
    state = prepare_task(project.store.load(task.task.id), "bench", agent)
    spent: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for number in range(1, steps + 1):
        watch.inside, started = 0.0, time.perf_counter()
        state = loop.take_step(loop.ask_model(agent.store.load(state.task.id), agent), agent)
        spent[KINDS[number % 3]].append((time.perf_counter() - started - watch.inside) * 1000)
    ceilings.check()
    return spent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60)
    steps = parser.parse_args().steps
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with TemporaryDirectory(prefix="afresh-step-", dir=Path(__file__).parents[1]) as folder:
        os.environ["XDG_DATA_HOME"] = str(Path(folder) / "data")
        spent = measure(steps, Path(folder) / "parcel")
    every = [value for values in spent.values() for value in values]
    rows = {**spent, "all": every}
    result = {
        name: {"steps": len(v), "median_ms": round(statistics.median(v), 1), "p95_ms": round(sorted(v)[int(len(v) * 0.95)], 1)}
        for name, v in rows.items()
    }
    write_results("step", {"ceiling_ms": 50, "results": result})
    print("| step | steps | median (ms) | 95th percentile (ms) |\n|---|---:|---:|---:|")
    for name, row in result.items():
        print(f"| {name} | {row['steps']} | {row['median_ms']} | {row['p95_ms']} |")
    return 0 if result["all"]["median_ms"] <= 50 else 1


if __name__ == "__main__":
    sys.exit(main())
