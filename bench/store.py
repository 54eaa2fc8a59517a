"""What one durable step costs: beside a raw insert of the same bytes, at 10 and at 5,000 steps, and beside peers.

    python bench/store.py [--quick] [--json] [--dir FOLDER] [--envs FOLDER]

Every contestant runs in a process of its own and takes its turn in rounds, so that noise of the machine falls on all alike.
"""

import argparse
import json
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

HERE = Path(__file__).parent
LANGGRAPH = ["langgraph-checkpoint-sqlite", "langgraph"]
PEERS = {
    "LangGraph SqliteSaver, messages in its state": (
        "langgraph_saver",
        "langgraph",
        ["langgraph-checkpoint-sqlite", "langgraph"],
    ),
    "LangGraph SqliteSaver, last step only": ("langgraph_last", "langgraph", LANGGRAPH),
    "openai-agents SQLiteSession": ("agents_session", "openai-agents", ["openai-agents"]),
    "OpenHands SDK event log, fsynced": ("openhands_log", "openhands", ["openhands-sdk"]),
}
PHASES = 15
"""Loads are timed at this many neighbouring steps, so that the distance to the last snapshot does not decide."""


@dataclass(frozen=True)
class Plan:
    far: int
    middle: int
    rounds: int
    batch: int
    cap: float
    """Seconds that a contestant may take to grow to the next point."""


FULL, QUICK = Plan(5_000, 500, 9, 40, 240.0), Plan(300, 100, 5, 10, 20.0)


class Player:
    """A contestant, spoken to by lines of JSON."""

    def __init__(self, python: str, module: str, folder: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=folder))
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent / "src") if module == "afresh_store" else ""}
        command = [python, str(HERE / "stores" / "contestant.py"), module, str(self.folder)]
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, env=environment
        )

    def ask(self, *order: Any) -> Any:
        assert self.process.stdin and self.process.stdout
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        while line := self.process.stdout.readline():
            if line[0] in '[{"0123456789':
                return json.loads(line)
        self.errors.seek(0)
        raise RuntimeError((self.errors.read().strip().splitlines() or ["it ended without a word"])[-1])

    def end(self) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def playing(folder: Path, *modules: str) -> Iterator[list[Player]]:
    players = [Player(sys.executable, module, folder) for module in modules]
    try:
        yield players
    finally:
        for player in players:
            player.end()


def beside_a_raw_insert(plan: Plan, folder: Path) -> dict[str, Any]:
    """(a) Alternating batches of steps, both in the middle of their life."""
    with playing(folder, "afresh_store", "raw_insert") as (ours, raw):
        for player in (ours, raw):
            player.ask("grow", plan.middle, plan.cap)
        taken: dict[str, list[list[float]]] = {"ours": [], "raw": []}
        for _ in range(plan.rounds):
            taken["raw"].append(raw.ask("time", plan.batch))
            taken["ours"].append(ours.ask("time", plan.batch))
    result: dict[str, Any] = {}
    for name, rounds in taken.items():
        result[f"{name}_ms"] = 1e3 * median(median(each) for each in rounds)
        result[f"{name}_mean_ms"] = 1e3 * median(mean(each) for each in rounds)
    result["ratio"] = median(median(o) / median(r) for o, r in zip(taken["ours"], taken["raw"], strict=True))
    result["ratio_of_means"] = result["ours_mean_ms"] / result["raw_mean_ms"]
    return {**result, "target": 3.0, "met": result["ratio"] <= 3.0}


def flat(plan: Plan, folder: Path) -> dict[str, Any]:
    """(b, c, d) A young task beside an old one, turn by turn; then the old one's bytes at rest."""
    steps: dict[str, list[float]] = {"near": [], "far": []}
    loads: dict[str, list[float]] = {"near": [], "far": []}
    with playing(folder, "afresh_store") as (old,):
        stopped = old.ask("grow", plan.far, 4 * plan.cap)
        for _ in range(plan.rounds):
            with playing(folder, "afresh_store") as (young,):
                young.ask("grow", 10, plan.cap)
                for _ in range(PHASES):
                    for name, player in (("near", young), ("far", old)):
                        steps[name] += player.ask("time", 1)
                        loads[name].append(median(player.ask("load", 3)))
        size = old.ask("size")
    result = {
        "steps": plan.far,
        "stopped": stopped,
        "step_at_10_ms": 1e3 * median(steps["near"]),
        "step_far_ms": 1e3 * median(steps["far"]),
        "load_at_10_ms": 1e3 * mean_of_phases(loads["near"]),
        "load_far_ms": 1e3 * mean_of_phases(loads["far"]),
        "disk_bytes": size["disk"],
        "said_bytes": size["said"],
        "distinct_bytes": size["distinct"],
    }
    step, load = result["step_far_ms"] / result["step_at_10_ms"], result["load_far_ms"] / result["load_at_10_ms"]
    disk = size["disk"] / size["said"]
    return {
        **result,
        "step_ratio": step, "load_ratio": load, "disk_ratio": disk, "disk_ratio_distinct": size["disk"] / size["distinct"],
        "targets": {"step_ratio": 1.2, "load_ratio": 1.2, "disk_ratio": 1.3},
        "met": {"step_ratio": step <= 1.2, "load_ratio": load <= 1.2, "disk_ratio": disk <= 1.3},
    }  # fmt: skip


def mean_of_phases(loads: list[float]) -> float:
    """Median over the rounds at each phase, then the mean of the phases."""
    return mean(median(loads[phase::PHASES]) for phase in range(PHASES))


def environment(folder: Path, name: str, packages: list[str]) -> str:
    """The Python of a peer's own environment, made when missing."""
    python, installed = folder / name / "bin" / "python", folder / name / "installed"
    if installed.exists():
        return str(python)
    if not python.exists():
        subprocess.run([peer_python(name), "-m", "venv", str(folder / name)], check=True, capture_output=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    if (done := subprocess.run(install, capture_output=True, text=True)).returncode != 0:
        raise RuntimeError("not installable here: " + (done.stderr.strip().splitlines() or ["pip failed"])[-1][:160])
    installed.touch()
    return str(python)


def peer_python(name: str) -> str:
    """OpenHands needs Python 3.12; the others take this one."""
    if name == "openhands" and sys.version_info < (3, 12):
        found = [path for version in ("3.12", "3.13", "3.14") if (path := shutil.which(f"python{version}"))]
        if not found:
            raise RuntimeError("not installable here: it needs Python 3.12 or newer, and none is on the PATH")
        return found[0]
    return sys.executable


def beside_peers(plan: Plan, folder: Path, environments: Path) -> list[dict[str, Any]]:
    """(e) All grow to the same points; at each they are timed in turns."""
    rows: list[dict[str, Any]] = [{"name": "afresh", "version": "", "points": {}}]
    players: dict[str, Player] = {"afresh": Player(sys.executable, "afresh_store", folder)}
    for name, (module, home, packages) in PEERS.items():
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


def measure(point: int, plan: Plan, rows: dict[str, dict[str, Any]], players: dict[str, Player]) -> None:
    stopped = {name: player.ask("grow", point, plan.cap) for name, player in players.items()}
    there = [name for name in players if not stopped[name]]
    taken: dict[str, list[float]] = {name: [] for name in there}
    for _ in range(plan.rounds):
        for name in there:
            taken[name].append(median(players[name].ask("time", 5)))
    for name in players:
        if name in there:
            loads = players[name].ask("load", 5)
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
        f"| step at {b['steps']:,} steps, beside 10 | {b['step_far_ms']:.2f} / {b['step_at_10_ms']:.2f} ms ="
        f" {b['step_ratio']:.2f} × | 1.2 × |",
        f"| load at {b['steps']:,} steps, beside 10 | {b['load_far_ms']:.2f} / {b['load_at_10_ms']:.2f} ms ="
        f" {b['load_ratio']:.2f} × | 1.2 × |",
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
    given = parser.parse_args()
    plan = QUICK if given.quick else FULL
    given.dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=given.dir) as place:
        environments = given.envs or Path(place) / "envs"
        environments.mkdir(parents=True, exist_ok=True)
        began, load_before = time.time(), os.getloadavg()[0]
        result = {
            "command": "python bench/store.py" + " --quick" * given.quick,
            "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}",
            "raw": beside_a_raw_insert(plan, Path(place)),
            "flat": flat(plan, Path(place)),
            "peers": beside_peers(plan, Path(place), environments),
        }
        result |= {"seconds": round(time.time() - began), "load_average": [load_before, os.getloadavg()[0]]}
    if not given.quick:
        (HERE / "results").mkdir(exist_ok=True)
        (HERE / "results" / "store.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1) if given.json else table(result))


if __name__ == "__main__":
    main()
