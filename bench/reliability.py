"""Counts of faults tried and of what was lost, each beside a broken twin; the table of docs/internals/security.md.

    python bench/reliability.py [--short] [--seed 1] [--only kills,power] [--count kills=50] [--log FOLDER]

Run it as root: power losses need loop devices and the right to mount, full disks need tmpfs. What cannot be tried is a row that
says so. Rows go to bench/results/reliability.json; those of faults that were left out by `--only` stay there as they are. The log
has a line for each try, and what was found to be wrong.
"""

import argparse
import json
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

BENCH = Path(__file__).parent
sys.path.insert(0, str(BENCH.parent / "src"))

import fuzz  # noqa: E402
from faults import attacks, full, journal_damage, kills, power  # noqa: E402
from faults.count import Count, Row, Unavailable  # noqa: E402

RESULT = BENCH / "results/reliability.json"
NAMESPACE_VARIABLE = "RELIABILITY_NAMESPACE"
FAULTS: dict[str, Callable[[Count], list[Row]]] = {
    "power": power.measure,
    "full": full.measure,
    "journal": journal_damage.measure,
    "parsers": fuzz.measure,
    "attacks": attacks.measure,
    "kills": kills.measure,
}


def enter_own_namespace() -> None:
    """Start again with mounts of its own: other processes would keep a copy of what is mounted here, and with it in use."""
    if os.geteuid() == 0 and shutil.which("unshare") and NAMESPACE_VARIABLE not in os.environ:
        os.environ[NAMESPACE_VARIABLE] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])


def ask_git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=BENCH, capture_output=True, text=True).stdout.strip()


def measure_fault(name: str, count: Count) -> dict[str, Any]:
    """Print its rows; what is written down of them."""
    began, commit, source = time.monotonic(), ask_git("rev-parse", "--short", "HEAD"), ask_git("rev-parse", "--short", "HEAD:src")
    try:
        rows = FAULTS[name](count)
    except Unavailable as fault:
        rows = [Row(name, 0, 0, note=f"can't be tried here: {fault}")]
    for row in rows:
        print(row, flush=True)
    return {
        "commit": commit,
        "source": source,
        "seed": count.seed,
        "seconds": round(time.monotonic() - began),
        "rows": [asdict(row) for row in rows],
        "failed": any(row.failed for row in rows),
    }


def write_results(faults: dict[str, Any]) -> None:
    known = json.loads(RESULT.read_text())["faults"] if RESULT.exists() else {}
    machine = f"{platform.machine()}, Linux {platform.release()}, Python {platform.python_version()}"
    text = {"machine": f"{machine}, SQLite {sqlite3.sqlite_version}", "faults": known | faults}
    RESULT.write_text(json.dumps(text, indent=1) + "\n")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--short", action="store_true", help="minutes, not hours; nothing is written to the results")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="", help=f"faults, with commas: {', '.join(FAULTS)}")
    options.add_argument("--count", action="append", default=[], metavar="FAULT=N", help="so many instead; repeatable")
    options.add_argument("--log", type=Path, help="a folder for the log and for what was found to be wrong")
    asked = options.parse_args()
    wanted = {name: int(number) for name, _, number in (one.partition("=") for one in asked.count)}
    count = Count(asked.seed, asked.short, wanted)
    if asked.log:
        asked.log.mkdir(parents=True, exist_ok=True)
        count = Count(asked.seed, asked.short, wanted, asked.log)
    print(f"log: {count.log}\n\n| fault | tried | lost, believed or out | broken twin | |\n|---|---|---|---|---|", flush=True)
    found = {name: measure_fault(name, count) for name in (asked.only.split(",") if asked.only else FAULTS)}
    if not asked.short:
        write_results(found)
    return int(any(one["failed"] for one in found.values()))


if __name__ == "__main__":
    enter_own_namespace()
    sys.exit(main())
