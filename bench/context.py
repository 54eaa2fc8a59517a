"""What building one context costs in processor time: on recorded runs, after 10,000 steps, and beside trim_messages.

    python bench/context.py DATA [--steps 10000] [--rounds 5] [--limit N] [--environments FOLDER] [--json]

DATA is a file of recorded runs, one JSON object a line (.jsonl or .jsonl.gz). The long run is made of 2,000 real steps over and
over, in each turn with other names, so that lines keep being new. Old and young take their steps in turns and read the same text.
"""

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

from contexts.needed import Run, Step, count
from contexts.runs import Endless, mixed, read
from tokens import ARMS, BUDGET, DEEPAGENTS, Arm, playing

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "context.json"
CYCLE, HUNDRED, EVENTS = 2_000, 100, 5_000
OURS = next(arm for arm in ARMS if arm.contestant.startswith("afresh_"))
FORMS = {
    "calls": "the same counter over all that is sent, tool calls too",
    "plain": "the same counter, tool calls written into the text beforehand",
    "approximate": "its own approximate counter",
}
Timed = Callable[[], float]


def built(steps: Sequence[Step], task: str) -> Iterator[str]:
    from afresh.replay import contexts

    return iter(contexts({"id": "bench/long", "task": task, "steps": steps}, BUDGET, count))


def stopwatch(contexts: Iterator[str]) -> Timed:
    """Processor time of the next context."""

    def one() -> float:
        began = time.process_time()
        next(contexts)
        return time.process_time() - began

    return one


def on_recorded(runs: Sequence[Run]) -> dict[str, float]:
    """(i) Every step of every run, once."""
    taken = [one() for run in runs for one in [stopwatch(built(run["steps"], run["task"]))] for _ in run["steps"]]
    hundredths = quantiles(taken, n=100)
    figures = {"mean": mean(taken), "p50": median(taken), "p99": hundredths[98], "max": max(taken)}
    return {"steps": len(taken), **{f"{name}_ms": 1e3 * value for name, value in figures.items()}}


def flat(cycle: Sequence[Step], task: str, steps: int, rounds: int) -> dict[str, Any]:
    """(ii) An old run beside a young one, step by step. Both read the same text, but for the names."""
    long = list(Endless(cycle, steps + rounds * len(cycle) + HUNDRED))
    old = stopwatch(built(long, task))
    pairs: dict[str, list[tuple[float, float]]] = {"filled": [], "first": []}
    ahead = steps - HUNDRED
    for _ in range(rounds):
        skip(old, ahead)
        young = stopwatch(built(long, task))
        skip(young, len(cycle) - HUNDRED)
        pairs["filled"].append(in_turns(young, old))
        pairs["first"].append(in_turns(stopwatch(built(long, task)), old))
        ahead = len(cycle) - 2 * HUNDRED
    return {
        "steps": steps, "cycle": len(cycle), "rounds": rounds, "target": 1.2,
        **{name: compared(taken) for name, taken in pairs.items()},
    }  # fmt: skip


def skip(one: Timed, steps: int) -> None:
    for _ in range(steps):
        one()


def in_turns(young: Timed, old: Timed) -> tuple[float, float]:
    """The medians of a hundred steps of each."""
    taken = [(young(), old()) for _ in range(HUNDRED)]
    return median(one for one, _ in taken), median(one for _, one in taken)


def compared(taken: list[tuple[float, float]]) -> dict[str, Any]:
    ratios = [old / young for young, old in taken]
    return {
        "young_ms": 1e3 * median(young for young, _ in taken), "old_ms": 1e3 * median(old for _, old in taken),
        "ratio": median(ratios), "ratios": ratios,
    }  # fmt: skip


def in_processes(cycle: Sequence[Step], task: str, given: argparse.Namespace) -> dict[str, Any]:
    """(iii) Beside trim_messages, and (iv) the memory that the long run takes; each in a process of its own."""
    trim = Arm("trim_messages", "trimmed:contexts", BUDGET, "langchain", tuple(DEEPAGENTS))
    environments = given.environments.resolve()
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        file = Path(place) / "long.jsonl"
        file.write_text(json.dumps({"id": "bench/long", "task": task, "steps": list(cycle)}) + "\n", encoding="utf-8")
        players = {
            name: stack.enter_context(playing(arm, Path(place), environments))
            for name, arm in {"ours": OURS, **dict.fromkeys(FORMS, trim), "memory": OURS}.items()
        }
        if absent := next((player for player in players.values() if isinstance(player, str)), ""):
            return {"trim": {"absent": absent}, "memory": {}}
        for player in players.values():
            player.ask("open", str(file))
        memory = players.pop("memory").ask("memory", given.steps, BUDGET, max(1, given.steps // 10))
        return {"trim": beside_trim(players, max(5, given.rounds)), "memory": memory}


def beside_trim(players: dict[str, Any], rounds: int) -> dict[str, Any]:
    version = players["plain"].ask("version")
    for name, player in players.items():
        player.ask("ready", EVENTS, 5 * rounds, BUDGET, name)
    taken: dict[str, list[float]] = {name: [] for name in players}
    for _ in range(rounds):
        for name, player in players.items():
            taken[name].append(median(cpu for _, cpu in player.ask("time", 5)))
    ours = taken.pop("ours")
    forms = {
        name: {"ms": 1e3 * median(theirs), "ratio": median(a / b for a, b in zip(ours, theirs, strict=True))}
        for name, theirs in taken.items()
    }
    return {
        "version": version,
        "events": EVENTS,
        "rounds": rounds,
        "ours_ms": 1e3 * median(ours),
        "target": 1 / 3,
        "forms": forms,
    }


def table(result: dict[str, Any]) -> str:
    recorded, long, trim, memory = (result[name] for name in ("recorded", "flat", "trim", "memory"))
    lines = [
        "| what, in processor time | measured | target |",
        "|---|---|---|",
        f"| one context of {BUDGET:,} tokens, {recorded['steps']:,} recorded steps | mean {recorded['mean_ms']:.2f}, median"
        f" {recorded['p50_ms']:.2f}, 99th of 100 {recorded['p99_ms']:.2f}, most {recorded['max_ms']:.1f} ms | 5 ms |",
    ]
    for name, told in (("filled", f"steps {CYCLE - HUNDRED:,} to {CYCLE:,}"), ("first", "the first hundred")):
        one = long[name]
        spread = f"{min(one['ratios']):.2f} to {max(one['ratios']):.2f}"
        lines.append(
            f"| a hundred steps at {long['steps']:,}, beside {told} | {one['old_ms']:.2f} / {one['young_ms']:.2f} ms ="
            f" {one['ratio']:.2f} × ({spread} in {long['rounds']} rounds) | 1.2 × |"
        )
    if "absent" in trim:
        return "\n".join([*lines, f"| one step beside trim_messages | {trim['absent']} | 0.33 × |"])
    for name, form in trim["forms"].items():
        lines.append(
            f"| a step at {EVENTS:,} events, beside trim_messages {trim['version']}: {FORMS[name]} |"
            f" {trim['ours_ms']:.2f} / {form['ms']:.2f} ms = {form['ratio']:.2f} × | 0.33 × |"
        )
    grown = ", ".join(f"{step:,}: {size / 1e6:.0f} MB" for step, size in memory["grown"])
    lines.append(f"| memory of the process by step ({memory['read'] / 1e6:.0f} MB were read) | {grown} | |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="recorded runs, one JSON object a line (.jsonl or .jsonl.gz)")
    parser.add_argument("--steps", type=int, default=10_000, help=f"length of the long run, a multiple of {CYCLE:,}")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=int, help="only the first so many runs are timed; the results are not written")
    parser.add_argument("--environments", type=Path, default=HERE.parent / "build" / "environments")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    runs, began = read(given.data), time.time()
    cycle, task = mixed(runs, CYCLE), min((run["task"] for run in runs), key=len)
    if len(cycle) < CYCLE or given.steps % CYCLE:
        parser.error(
            f"the long run needs {CYCLE:,} recorded steps (there are {len(cycle):,}) and --steps that is a multiple of them"
        )
    result = {
        "command": f"python bench/context.py DATA --steps {given.steps} --rounds {given.rounds}",
        "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
        "load_average": os.getloadavg()[0],
        "recorded": on_recorded(runs[: given.limit]),
        "flat": flat(cycle, task, given.steps, given.rounds),
        **in_processes(cycle, task, given),
    }
    result["seconds"] = round(time.time() - began)
    if given.limit is None:
        RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1) if given.json else table(result))


if __name__ == "__main__":
    main()
