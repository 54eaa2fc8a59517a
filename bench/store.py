"""What one durable step costs: beside a raw insert of the same bytes, and at 10 and at 5,000 steps.

    python bench/store.py [--quick] [--dir FOLDER]

Contestants take turns in rounds, so that noise of the machine falls on all alike.
"""

import argparse
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from publish import write_results
from stored_steps import AfreshStore, RawInsert, steps

Contestant = AfreshStore | RawInsert
PHASES, CYCLES = 15, 100
"""A snapshot comes every 100 entries, 14.3 steps. Loads are timed after each of 15 neighbouring steps, and the old task goes on
by 100 steps (7 cycles) a round, so that young and old always stand at the same distance from their last snapshot."""


@dataclass(frozen=True)
class Plan:
    far: int
    middle: int
    rounds: int
    batch: int


FULL, QUICK = Plan(5_000, 500, 9, 40), Plan(300, 100, 5, 10)


def take_time(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


class Runner:
    """One contestant in a folder of its own."""

    def __init__(self, kind: type[Contestant], place: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=place))
        self.contestant: Any = kind(self.folder)
        self.done = 0

    def grow(self, to: int) -> None:
        for said in steps(max(0, to - self.done), self.done + 1):
            self.contestant.step(self.contestant.prepare(said))
        self.done = max(to, self.done)

    def time_steps(self, count: int) -> list[float]:
        """Of each of the next steps; making up their text is not counted."""
        made = [self.contestant.prepare(said) for said in steps(count, self.done + 1)]
        self.done += count
        return [take_time(lambda prepared=prepared: self.contestant.step(prepared)) for prepared in made]

    def time_load(self) -> float:
        return median(take_time(self.contestant.load) for _ in range(5))

    def end(self) -> dict[str, int]:
        """Bytes on disk at rest, and what had been said and seen by then; with unchanged sections counted once."""
        self.contestant.close()
        disk = sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())
        shutil.rmtree(self.folder)
        every = list(steps(self.done))
        return {"disk": disk, "said": sum(one.bytes for one in every), "distinct": sum(one.distinct_bytes for one in every)}


def measure_beside_raw(plan: Plan, folder: Path) -> dict[str, Any]:
    """Alternating batches of steps, all in the middle of their life. Ratios are taken round by round."""
    runners = {"ours": Runner(AfreshStore, folder), "raw": Runner(RawInsert, folder)}
    taken: dict[str, list[list[float]]] = {name: [] for name in runners}
    for runner in runners.values():
        runner.grow(plan.middle)
    for _ in range(plan.rounds):
        for name, runner in runners.items():
            taken[name].append(runner.time_steps(plan.batch))
    for runner in runners.values():
        runner.end()
    figures = {f"{name}_ms": 1e3 * median(map(median, rounds)) for name, rounds in taken.items()}
    ratio = median(median(ours) / median(raw) for ours, raw in zip(taken["ours"], taken["raw"], strict=True))
    return {**figures, "ratio": ratio, "target": 3.0}


def measure_growth(plan: Plan, folder: Path) -> dict[str, Any]:
    """A young task beside an old one, turn by turn; then the old one's bytes at rest."""
    times: dict[str, list[float]] = {"step_near": [], "step_far": [], "load_near": [], "load_far": []}
    old = Runner(AfreshStore, folder)
    for turn in range(plan.rounds):
        old.grow(plan.far + 10 + turn * CYCLES)
        young = Runner(AfreshStore, folder)
        young.grow(10)
        for _ in range(PHASES):
            for name, runner in (("near", young), ("far", old)):
                times[f"step_{name}"] += runner.time_steps(1)
                times[f"load_{name}"].append(runner.time_load())
        young.end()
    size = old.end()
    steps_ms = {name: 1e3 * median(times[f"step_{name}"]) for name in ("near", "far")}
    loads_ms = {
        name: 1e3 * mean(median(times[f"load_{name}"][phase::PHASES]) for phase in range(PHASES)) for name in ("near", "far")
    }
    return {
        "steps": plan.far, "step_at_10_ms": steps_ms["near"], "step_far_ms": steps_ms["far"],
        "load_at_10_ms": loads_ms["near"], "load_far_ms": loads_ms["far"], **size,
        "step_ratio": steps_ms["far"] / steps_ms["near"], "load_ratio": loads_ms["far"] / loads_ms["near"],
        "disk_ratio": size["disk"] / size["said"], "disk_ratio_distinct": size["disk"] / size["distinct"],
        "targets": {"step_ratio": 1.2, "load_ratio": 1.2, "disk_ratio": 1.3},
    }  # fmt: skip


def render(result: dict[str, Any]) -> str:
    raw, flat = result["raw"], result["flat"]
    return "\n".join(
        [
            f"a step beside a raw insert: {raw['ours_ms']:.2f} / {raw['raw_ms']:.2f} ms = {raw['ratio']:.2f} ×, target 3",
            f"a step at {flat['steps']:,} beside 10: {flat['step_ratio']:.2f} ×, target 1.2",
            f"a load at {flat['steps']:,} beside 10: {flat['load_ratio']:.2f} ×, {flat['load_far_ms']:.2f} ms, target 1.2",
            f"bytes on disk, of all that was said and seen: {flat['disk_ratio']:.2f} ×, target 1.3",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few hundred steps instead of thousands; nothing is written")
    parser.add_argument("--dir", type=Path, default=Path(__file__).parents[1] / "build", help="where to write; a real disk")
    given = parser.parse_args()
    plan, began = QUICK if given.quick else FULL, time.time()
    given.dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=given.dir) as place:
        result = {"raw": measure_beside_raw(plan, Path(place)), "flat": measure_growth(plan, Path(place))}
    result |= {"sqlite": sqlite3.sqlite_version, "seconds": round(time.time() - began), "load_average": os.getloadavg()[0]}
    print(render(result))
    if not given.quick:
        write_results("store", result)


if __name__ == "__main__":
    main()
