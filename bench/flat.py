"""Whether a step costs the same whenever it is taken: tokens, CPU, bytes and memory at steps 10, 100, 1,000 and 10,000.

One task of ten thousand steps by a scripted model on the sample project, through the engine as it is, with the real store,
git workspace and view files. Steps take turns, twelve in a round; what is compared are whole rounds, so that the kind of step
decides nothing. Each point's CPU is divided by what the first steps of another task take at that moment, so that what else the
machine does decides nothing either; it is that of this process and of git, without the commands that the model and the checks
run. Bytes are those that were written (wchar of /proc/self/io, children included), and by how much repository and state have
grown. No check passes anew in all these steps, which would end the task as getting nowhere: the two signs that count idle steps
are switched off, as a user can. A step after which the task does not go on ends the bench: a task at rest writes more than one
at work. What it takes to load the state, as after a crash, is told beside it and not judged: a snapshot and at most a hundred
entries after it.

Two arms: as users run it, with default settings, where the ceiling may rise and a prompt is the last one with one step more as
long as that pays; and with every prompt built anew under a ceiling that may not rise.

With `--mistakes` sixty steps are taken under default settings, in one arm with prompts that are extended, in the other with new
ones. Half of the steps fail as real ones do, some in a row: a failing test, a mistyped command, an edit whose text is not found,
one that breaks the check and is reverted. The tokens of whole rounds around steps 5 and 58 are compared.

  .venv/bin/python bench/flat.py [--steps 10000] [--arm extended|rebuilt]
  .venv/bin/python bench/flat.py --mistakes
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from afresh import loop
from afresh.app import compose
from afresh.app.demo import copy_sample
from afresh.app.inspect.measure_calls import list_call_prices
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import open_project
from afresh.core.action import Action
from afresh.core.cache_rates import DEFAULT_CACHE_RATES, NO_CACHE, CacheRates
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.states.progress_state import StallThresholds
from afresh.core.task import TaskStatus
from afresh.verification.start_or_resume_task import prepare_task
from ceilings import check_books
from publish import write_results
from support.states import replace_in_parts

ROUND, ROUNDS, ALLOWED = 12, 4, 0.2
SHORT, FRESH = 22, 3
"""Steps of a task whose first ones tell how fast the machine is at the moment, and how often it is asked."""
POINTS = (10, 100, 1_000, 10_000)
WORKER = "bench"
ARMS: dict[str, tuple[CacheRates, dict[str, int]]] = {
    "extended": (DEFAULT_CACHE_RATES, {}),
    "rebuilt": (NO_CACHE, {"budget": 4_000, "max_budget": 4_000}),
}
"""What cached tokens cost, which decides whether prompts are extended, and the ceiling if it is fixed."""
TURNS = ("edit", "read", "note", "run", "search", "read", "edit", "run", "note", "read", "plan", "decision")
MODULES = ("pricing", "label", "address", "measures")


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one step."""

    tokens: int
    cpu_ms: float
    written_kb: float
    resident_mb: float
    load_ms: float


class Script:
    """Does something of every kind, and of each kind nothing twice."""

    name, window = "bench", 200_000

    def __init__(self) -> None:
        self.number = 0

    def propose(self, request: Any, hear: Any = None) -> Reply:
        self.number += 1
        return Reply(f"Step {self.number}: what of {MODULES[self.number % 4]} is next?", (self.action(self.number),))

    def weigh(self, request: Any) -> int:
        return 0

    def action(self, number: int) -> Action:
        module, tool = MODULES[number // ROUND % 4], TURNS[number % ROUND]
        args: dict[str, dict[str, Any]] = {
            "read": {"path": f"src/parcel/{MODULES[number // 4 % 4]}.py", "start": 1 + number * 7 % 30},
            "note": {"subject": f"{module} {number}", "text": f"looked at in step {number}, nothing to do"},
            "run": {"command": f"python -c \"print('value_{number} is', {number} * 7)\" && ls src/parcel"},
            "search": {"text": ("def ", "raise", "return", "import")[number // ROUND % 4]},
            "plan": {"items": [f"[{'x' if one != module else ' '}] look at {one}" for one in MODULES]},
            "decision": {"text": f"leave {module} as it is", "subject": module, "why": f"step {number}"},
            "edit": {"path": f"src/parcel/spare_{module}.py", "new": f'"""Spare."""\n\nNUMBER = {number}\n'},
        }
        return Action("note" if tool == "decision" else tool, args[tool])


MISTAKES = ("read", "edit", "missing", "failing", "write", "search", "broken", "remember")
"""The turns of a round with mistakes: the second to the fourth and the seventh fail."""
NEAR = (5, 58)
ORDINARY_STEPS = 60


class MistakenScript(Script):
    """Reads, edits and errs."""

    def action(self, number: int) -> Action:
        module, tool = MODULES[number // len(MISTAKES) % 4], MISTAKES[number % len(MISTAKES)]
        path = f"src/parcel/{module}.py"
        actions = {
            "read": Action("read", {"path": path, "start": 1 + number * 7 % 30}),
            "edit": Action("edit", {"path": path, "old": f"no such line {number}", "new": "x"}),
            "missing": Action("run", {"command": f"pytst -q tests/test_{module}_{number}.py"}),
            "failing": Action("run", {"command": f"python -c \"assert {number} < 0, 'value of {module} is {number}'\""}),
            "write": Action("edit", {"path": f"src/parcel/spare_{number}.py", "new": f"NUMBER = {number}\n" * 12}),
            "search": Action("search", {"text": ("def ", "raise", "return", "import")[number // len(MISTAKES) % 4]}),
            "broken": Action("edit", {"path": "src/parcel/__init__.py", "new": f"import nothing_{number}\n"}),
            "remember": Action("note", {"subject": f"{module} {number}", "text": f"looked at in step {number}"}),
        }
        return actions[tool]


class Aside:
    """A part whose run is not counted: commands in the sandbox are the project's, not ours."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.cpu = inner, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def run(self, *args: Any, **more: Any) -> Any:
        cpu = spent()
        try:
            return self.inner.run(*args, **more)
        finally:
            self.cpu += spent() - cpu


def spent() -> float:
    """Seconds of CPU so far, of this process and of those that it has waited for."""
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def written() -> int:
    """Bytes given to the kernel to write: what it hands to the disk depends on how busy the machine is."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("wchar"))


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def begin(steps: int, repository: Path, script: Script, cache: CacheRates, **ceiling: int) -> tuple[State, Any, Aside]:
    """A task of so many steps that is ready for the first one."""
    project = open_project(copy_sample(repository))
    check = "python -c \"import sys; sys.path.insert(0, 'src'); import parcel\""
    replies = repository.with_name("replies.jsonl")
    replies.touch()
    order = TaskOrder("Look after it", "implement_feature", (check,), model=f"scripted:{replies}", max_steps=steps + 9, **ceiling)
    task = add_task(project, order)
    agent = compose.build_runtime(project, task, compose.RunTerms(no_sandbox=True))
    aside = Aside(agent.sandbox)
    stall = StallThresholds(idle_steps=(), idle_tokens=())
    agent = replace_in_parts(agent, model=script, sandbox=aside, stall=stall, cache=cache)
    return prepare_task(project.store.load(task.task.id), WORKER, agent), agent, aside


def measure_mistakes(repository: Path, cache: CacheRates) -> dict[str, Any]:
    """Mean tokens of the calls near the beginning and near the end of sixty steps with mistakes, under default settings."""
    state, agent, _ = begin(ORDINARY_STEPS, repository, MistakenScript(), cache)
    calls, failed, highest = list[int](), 0, 0
    for _ in range(ORDINARY_STEPS):
        state = step(state, agent)
        last = state.memory.recent[-1]
        failed += not last.kept or not all(seen.ok for seen in last.observations)
        calls.append(state.tokens.last_call.tokens)
        highest = max(highest, state.tokens.last_call.budget)
    around = {point: min(max(0, point - len(MISTAKES) // 2), ORDINARY_STEPS - len(MISTAKES)) for point in NEAR}
    means = {point: round(statistics.fmean(calls[first : first + len(MISTAKES)])) for point, first in around.items()}
    ratio = round(means[NEAR[1]] / means[NEAR[0]], 3)
    paid = sum(one.paid for one in list_call_prices(open_project(repository), state.task.id))
    quarter = ORDINARY_STEPS // 4
    quarters = [round(statistics.fmean(calls[first : first + quarter])) for first in range(0, ORDINARY_STEPS, quarter)]
    sums = {"quarters": quarters, "sent": sum(calls), "paid": paid, "largest": max(calls), "highest_ceiling": highest}
    return {"failed": failed, "at": means, "ratio": ratio, "flat": ratio <= 1 + ALLOWED, **sums, "calls": calls}


def measure(
    arm: str, steps: int, repository: Path, wanted: Callable[[int], bool], then: Callable[[int], None]
) -> dict[int, Cost]:
    """The cost of each wanted step; what is to be done after it is counted for none."""
    cache, ceiling = ARMS[arm]
    state, agent, aside = begin(steps, repository, Script(), cache, **ceiling)
    costs: dict[int, Cost] = {}
    for number in range(1, steps + 1):
        if not wanted(number):
            state = step(state, agent)
            continue
        wrote, cpu, aside.cpu = written(), spent(), 0.0
        state = step(state, agent)
        cpu, kb = spent() - cpu - aside.cpu, (written() - wrote) / 1024
        costs[number] = Cost(state.tokens.last_call.tokens, cpu * 1000, kb, resident() / 2**20, loaded(state, agent))
        then(number)
    return costs


def fresh(arm: str) -> float:
    """Milliseconds of CPU that the first steps of another task take at this moment, in a process of its own."""
    with TemporaryDirectory(prefix="afresh-flat-") as folder:
        out = Path(folder) / "out.json"
        command = [sys.executable, __file__, "--arm", arm, "--steps", str(SHORT), "--out", str(out)]
        found = list[float]()
        for _ in range(FRESH):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            found.append(json.loads(out.read_text())[arm]["at"][str(POINTS[0])]["cpu_ms"])
    return statistics.median(found)


def step(state: State, agent: Any) -> State:
    """Two rounds of the loop: one asks, the other acts. Nobody steers: a phase has a number of steps."""
    state = loop.take_step(loop.ask_model(state, agent), agent)
    if state.status is not TaskStatus.RUNNING:
        raise RuntimeError(f"step {state.work.step} left the task {state.status}: {state.dialogue.question}")
    return state


def loaded(state: State, agent: Any) -> float:
    """Milliseconds of CPU to find the state again, as after a crash."""
    before = spent()
    if agent.store.load(state.task.id) != state:
        raise RuntimeError(f"what the store has of step {state.work.step} is not what the loop holds")
    return (spent() - before) * 1000


def span(point: int, steps: int) -> range:
    """Whole rounds around a step, or the last ones before the end; the first step alone is left out."""
    length = ROUND * (ROUNDS if point > ROUND * ROUNDS else 1)
    first = max(2, min(point - length // 2, steps - length + 1))
    return range(first, first + length)


def told(costs: dict[int, Cost], steps: range) -> dict[str, float]:
    """The middle of a round's mean: a round has every kind of step, and one disturbed round says nothing."""
    rounds = [[asdict(costs[number]) for number in steps[at : at + ROUND]] for at in range(0, len(steps), ROUND)]
    means = [{name: statistics.fmean(one[name] for one in each) for name in each[0]} for each in rounds]
    return {name: round(statistics.median(one[name] for one in means), 2) for name in means[0]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--arm", choices=[*ARMS], help="only this one")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--mistakes", action="store_true", help="sixty steps with mistakes under default settings")
    given = parser.parse_args()
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    found = {}
    for arm in [given.arm] if given.arm else ARMS:
        with TemporaryDirectory(prefix="afresh-flat-", dir=Path(__file__).parents[1]) as folder:
            os.environ |= {f"XDG_{name}_HOME": f"{folder}/{name.lower()}" for name in ("CONFIG", "DATA", "CACHE")}
            place = Path(folder) / "parcel"
            found[arm] = measure_mistakes(place, ARMS[arm][0]) if given.mistakes else compare_steps(arm, given.steps, place)
            check_books(Path(folder))
        print(f"\n{arm}:\n" + (told_mistakes if given.mistakes else told_steps)(found[arm]))
    if given.out:
        given.out.write_text(json.dumps(found))
    else:
        write_results("flat_mistakes" if given.mistakes else "flat", {"allowed": ALLOWED, **found})
    return 0 if all(one["flat"] for one in found.values()) else 1


def told_mistakes(found: dict[str, Any]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in found.items())


def compare_steps(arm: str, steps: int, repository: Path) -> dict[str, Any]:
    """The rows of the points, and what each is to the first."""
    spans = {point: span(point, steps) for point in POINTS if point <= steps}
    ends, beside = {one[-1]: point for point, one in spans.items() if point > SHORT}, dict[int, float]()
    costs = measure(
        arm,
        steps,
        repository,
        lambda number: any(number in one for one in spans.values()),
        lambda number: beside.update({ends[number]: fresh(arm)} if number in ends else {}),
    )
    rows = {point: told(costs, one) for point, one in spans.items()}
    first = rows[POINTS[0]]
    ratios = {
        point: {name: round(row[name] / first[name], 3) if first[name] else 1.0 for name in row} for point, row in rows.items()
    }
    for point, milliseconds in beside.items():
        ratios[point]["cpu_ms"] = round(rows[point]["cpu_ms"] / milliseconds, 3)
    judged = ("tokens", "cpu_ms", "written_kb", "resident_mb")
    flat = all(ratio[name] <= 1 + ALLOWED for ratio in ratios.values() for name in judged)
    return {"at": rows, "fresh_cpu_ms": beside, "to_first": ratios, "flat": flat}


def told_steps(found: dict[str, Any]) -> str:
    rows, ratios = found["at"], found["to_first"]
    names = [*rows[POINTS[0]]]
    cells = {point: [f"{row[name]:,} ({ratios[point][name]:.2f})" for name in names] for point, row in rows.items()}
    head = "| step | " + " | ".join(names) + " |\n|---:|" + "---:|" * len(names)
    return "\n".join([head, *(f"| {point:,} | " + " | ".join(row) + " |" for point, row in cells.items())])


if __name__ == "__main__":
    sys.exit(main())
