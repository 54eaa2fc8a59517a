"""What one durable step costs: beside a raw insert of the same bytes, at 10 and at 5,000 steps, and beside peers.

    python bench/store.py [--quick] [--json] [--dir FOLDER] [--envs FOLDER] [--ours]

Every contestant runs in a process of its own and takes its turn in rounds, so that noise of the machine falls on all alike.
"""

import argparse
import json
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from environments import environment
from stores.player import Player, Taken, playing

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "store.json"
Peer = tuple[str, str, list[str]]
LANGGRAPH = ["langgraph-checkpoint-sqlite", "langgraph"]
PEERS: dict[str, Peer] = {
    "LangGraph SqliteSaver, messages in its state": ("langgraph_saver", "langgraph", LANGGRAPH),
    "LangGraph SqliteSaver, last step only": ("langgraph_last", "langgraph", LANGGRAPH),
    "openai-agents SQLiteSession": ("agents_session", "openai-agents", ["openai-agents"]),
    "OpenHands SDK event log, fsynced": ("openhands_log", "openhands", ["openhands-sdk"]),
}
PHASES, CYCLES = 15, 100
"""A snapshot comes every 100 entries, 14.3 steps. Loads are timed after each of 15 neighbouring steps, and the old task goes on
by 100 steps (7 cycles) a round, so that young and old always stand at the same distance from their last snapshot."""


@dataclass(frozen=True)
class Plan:
    far: int
    middle: int
    rounds: int
    batch: int
    cap: float
    """Seconds that a contestant may take to grow to the next point."""


FULL, QUICK = Plan(5_000, 500, 9, 40, 240.0), Plan(300, 100, 5, 10, 20.0)


def beside_a_raw_insert(plan: Plan, folder: Path) -> dict[str, Any]:
    """(a) Alternating batches of steps, all in the middle of their life."""
    names = ("raw", "raw_twice", "ours")
    taken: dict[str, list[list[Taken]]] = {name: [] for name in names}
    with playing(folder, "raw_insert", "raw_twice", "afresh_store") as players:
        for player in players:
            player.ask("grow", plan.middle, plan.cap)
        for _ in range(plan.rounds):
            for name, player in zip(names, players, strict=True):
                taken[name].append(player.ask("time", plan.batch))
    result: dict[str, Any] = {}
    for name, rounds in taken.items():
        result[f"{name}_ms"] = 1e3 * median(median(walls(each)) for each in rounds)
        result[f"{name}_mean_ms"] = 1e3 * median(mean(walls(each)) for each in rounds)
        result[f"{name}_cpu_ms"] = 1e3 * median(median(cpu for _, cpu in each) for each in rounds)
    result["ratio"] = ratio(taken["ours"], taken["raw"])
    result["ratio_of_two_raw_commits"] = ratio(taken["raw_twice"], taken["raw"])
    result["ratio_of_means"] = result["ours_mean_ms"] / result["raw_mean_ms"]
    return {**result, "target": 3.0, "met": result["ratio"] <= 3.0}


def walls(taken: list[Taken]) -> list[float]:
    return [wall for wall, _ in taken]


def ratio(ours: list[list[Taken]], theirs: list[list[Taken]]) -> float:
    """Round by round, since the machine's mood changes between them."""
    return median(median(walls(a)) / median(walls(b)) for a, b in zip(ours, theirs, strict=True))


def flat(plan: Plan, folder: Path) -> dict[str, Any]:
    """(b, c, d) A young task beside an old one, turn by turn; then the old one's bytes at rest."""
    stopped, steps = "", {"near": list[float](), "far": list[float]()}
    loads: dict[str, list[float]] = {"near": [], "far": []}
    efforts: dict[str, list[float]] = {"near": [], "far": []}
    with playing(folder, "afresh_store") as (old,):
        for turn in range(plan.rounds):
            stopped = old.ask("grow", plan.far + 10 + turn * CYCLES, 4 * plan.cap)
            with playing(folder, "afresh_store") as (young,):
                young.ask("grow", 10, plan.cap)
                for _ in range(PHASES):
                    for name, player in (("near", young), ("far", old)):
                        steps[name] += walls(player.ask("time", 1))
                        taken = player.ask("load", 5)
                        loads[name].append(median(walls(taken)))
                        efforts[name].append(median(cpu for _, cpu in taken))
        size = old.ask("size")
    result = {
        "steps": plan.far,
        "stopped": stopped,
        "step_at_10_ms": 1e3 * median(steps["near"]),
        "step_far_ms": 1e3 * median(steps["far"]),
        "load_at_10_ms": 1e3 * mean_of_phases(loads["near"]),
        "load_far_ms": 1e3 * mean_of_phases(loads["far"]),
        "load_at_10_cpu_ms": 1e3 * mean_of_phases(efforts["near"]),
        "load_far_cpu_ms": 1e3 * mean_of_phases(efforts["far"]),
        "disk_bytes": size["disk"],
        "said_bytes": size["said"],
        "distinct_bytes": size["distinct"],
    }
    step, load = result["step_far_ms"] / result["step_at_10_ms"], result["load_far_ms"] / result["load_at_10_ms"]
    disk = size["disk"] / size["said"]
    return {
        **result,
        "step_ratio": step, "load_ratio": load, "load_cpu_ratio": result["load_far_cpu_ms"] / result["load_at_10_cpu_ms"],
        "disk_ratio": disk, "disk_ratio_distinct": size["disk"] / size["distinct"],
        "targets": {"step_ratio": 1.2, "load_ratio": 1.2, "disk_ratio": 1.3},
        "met": {"step_ratio": step <= 1.2, "load_ratio": load <= 1.2, "disk_ratio": disk <= 1.3},
    }  # fmt: skip


def mean_of_phases(loads: list[float]) -> float:
    """Median over the rounds at each phase, then the mean of the phases."""
    return mean(median(loads[phase::PHASES]) for phase in range(PHASES))


def beside_peers(plan: Plan, folder: Path, environments: Path, peers: dict[str, Peer]) -> list[dict[str, Any]]:
    """(e) All grow to the same points; at each they are timed in turns."""
    rows: list[dict[str, Any]] = [{"name": "afresh", "version": "", "points": {}}]
    players: dict[str, Player] = {"afresh": Player(sys.executable, "afresh_store", folder)}
    for name, (module, home, packages) in peers.items():
        rows.append({"name": name, "version": "", "points": {}})
        try:
            players[name] = Player(environment(environments, home, packages), module, folder)
            rows[-1]["version"] = players[name].ask("version")
        except (RuntimeError, OSError, subprocess.CalledProcessError) as why:
            players.pop(name, None)
            rows[-1]["absent"] = str(why)
    try:
        for point in (10, plan.middle, plan.far):
            measure(point, plan, {row["name"]: row for row in rows}, players)
        for row in rows:
            if row["name"] in players:
                row["size"] = players[row["name"]].ask("size")
    finally:
        for player in players.values():
            player.end()
    return rows


def earlier(file: Path) -> list[dict[str, Any]]:
    """The peers' rows of the results that are there, marked as such."""
    return [{**row, "earlier": True} for row in json.loads(file.read_text())["peers"] if row["name"] != "afresh"]


def measure(point: int, plan: Plan, rows: dict[str, dict[str, Any]], players: dict[str, Player]) -> None:
    stopped = {name: player.ask("grow", point, plan.cap) for name, player in players.items()}
    there = [name for name in players if not stopped[name]]
    taken: dict[str, list[float]] = {name: [] for name in there}
    for _ in range(plan.rounds):
        for name in there:
            taken[name].append(median(walls(players[name].ask("time", 5))))
    for name in players:
        if name in there:
            loads = walls(players[name].ask("load", 5))
            rows[name]["points"][str(point)] = {"step_ms": 1e3 * median(taken[name]), "load_ms": 1e3 * median(loads)}
        else:
            rows[name]["points"][str(point)] = {"stopped": stopped[name]}


def table(result: dict[str, Any]) -> str:
    a, b = result["raw"], result["flat"]
    lines = [
        "| what | measured | target |",
        "|---|---|---|",
        f"| one durable step, beside one raw insert of the same bytes | {a['ours_ms']:.2f} ms / {a['raw_ms']:.2f} ms ="
        f" {a['ratio']:.2f} × (means, with checkpoints and snapshots: {a['ratio_of_means']:.2f} ×) | 3 × |",
        f"| the same, time of the processor | {a['ours_cpu_ms']:.2f} / {a['raw_cpu_ms']:.2f} ms | |",
        f"| two raw inserts of half the bytes each, beside one | {a['raw_twice_ms']:.2f} ms ="
        f" {a['ratio_of_two_raw_commits']:.2f} × | |",
        f"| step at {b['steps']:,} steps, beside 10 | {b['step_far_ms']:.2f} / {b['step_at_10_ms']:.2f} ms ="
        f" {b['step_ratio']:.2f} × | 1.2 × |",
        f"| load at {b['steps']:,} steps, beside 10 | {b['load_far_ms']:.2f} / {b['load_at_10_ms']:.2f} ms ="
        f" {b['load_ratio']:.2f} × (time of the processor: {b['load_cpu_ratio']:.2f} ×) | 1.2 × |",
        f"| bytes on disk, of all that was said and seen | {b['disk_bytes'] / 1e6:.1f} / {b['said_bytes'] / 1e6:.1f} MB ="
        f" {b['disk_ratio']:.2f} × | 1.3 × |",
        f"| the same, unchanged sections counted once | {b['disk_bytes'] / 1e6:.1f} / {b['distinct_bytes'] / 1e6:.1f} MB ="
        f" {b['disk_ratio_distinct']:.2f} × | |",
        "",
    ]
    return "\n".join(lines + peers_table(result["peers"]))


def peers_table(rows: list[dict[str, Any]]) -> list[str]:
    points = list(rows[0]["points"])
    lines = [
        "| store | "
        + " | ".join(f"step at {int(point):,}" for point in points)
        + f" | load at {int(points[-1]):,} | on disk, of new text |",
        "|---" * (len(points) + 3) + "|",
    ]
    for row in rows:
        name = f"{row['name']} {row['version']}".strip()
        if "absent" in row:
            lines.append(f"| {name} | " + " | ".join(["–"] * (len(points) + 1)) + f" | {row['absent']} |")
            continue
        steps = [cell(row["points"][point], "step_ms") for point in points]
        size = f"{row['size']['disk'] / row['size']['distinct']:.2f} × at {row['size']['steps']:,} steps"
        lines.append(f"| {name} | " + " | ".join([*steps, cell(row["points"][points[-1]], "load_ms"), size]) + " |")
    return lines


def cell(point: dict[str, Any], key: str) -> str:
    return f"{point[key]:.2f} ms" if key in point else point["stopped"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few hundred steps instead of thousands")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--dir", type=Path, default=HERE.parent / "build", help="where to write; must be a real disk")
    parser.add_argument("--envs", type=Path, help="where the peers' environments are, or are made")
    parser.add_argument("--ours", action="store_true", help="leave the peers' rows as they are in the results")
    given = parser.parse_args()
    plan = QUICK if given.quick else FULL
    given.dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=given.dir) as place:
        environments = given.envs or Path(place) / "envs"
        environments.mkdir(parents=True, exist_ok=True)
        began, load_before = time.time(), os.getloadavg()[0]
        result = {
            "command": "python bench/store.py" + " --quick" * given.quick + " --ours" * given.ours,
            "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}",
            "raw": beside_a_raw_insert(plan, Path(place)),
            "flat": flat(plan, Path(place)),
            "peers": beside_peers(plan, Path(place), environments, {} if given.ours else PEERS),
        }
        result["peers"] += earlier(RESULTS) if given.ours and not given.quick else []
        result |= {"seconds": round(time.time() - began), "load_average": [load_before, os.getloadavg()[0]]}
    if not given.quick:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1) if given.json else table(result))


if __name__ == "__main__":
    main()
