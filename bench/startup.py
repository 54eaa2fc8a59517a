"""What `afresh --help` costs in CPU, as multiples of a bare Python start, beside `llm --help`.

Run: python bench/startup.py. It needs `make setup`; llm is installed by pip into an environment of its own under build/.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "bench/results/startup.json"
PEER = ROOT / "build/bench-startup"
ROUNDS = 21
CEILING = 5.0


def cpu_milliseconds(command: list[str]) -> float:
    """User and system time of the process and all that it waited for."""
    quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    child = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return (used.ru_utime + used.ru_stime) * 1000


def install_llm() -> str:
    """Why llm can't be measured; empty when it can."""
    if (PEER / "bin/llm").exists():
        return ""
    for command in ([sys.executable, "-m", "venv", "--clear", PEER], [PEER / "bin/python", "-m", "pip", "install", "-q", "llm"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return (done.stderr.strip() or done.stdout.strip()).splitlines()[-1]
    return ""


def commands() -> dict[str, list[str]]:
    programs = Path(sys.executable).parent
    return {
        "python -c pass": [sys.executable, "-c", "pass"],
        "afresh --help": [str(programs / "afresh"), "--help"],
        "llm --help": [str(PEER / "bin/llm"), "--help"],
    }


def measure(wanted: dict[str, list[str]]) -> dict[str, list[float]]:
    """One run of each in turn, round after round, so that what else the machine does falls on all alike."""
    for command in wanted.values():
        cpu_milliseconds(command)
    rounds = [{name: cpu_milliseconds(command) for name, command in wanted.items()} for _ in range(ROUNDS)]
    return {name: [one[name] for one in rounds] for name in wanted}


def summary(samples: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    medians = {name: statistics.median(values) for name, values in samples.items()}
    bare = medians["python -c pass"]
    return {
        name: {"median_ms": round(median, 1), "least_ms": round(min(samples[name]), 1), "times_python": round(median / bare, 2)}
        for name, median in medians.items()
    }


def table(rows: dict[str, dict[str, float]], missing: str) -> str:
    lines = ["| command | CPU, median (ms) | least (ms) | × `python -c pass` |", "|---|---:|---:|---:|"]
    lines += [f"| `{name}` | {row['median_ms']} | {row['least_ms']} | {row['times_python']} |" for name, row in rows.items()]
    return "\n".join([*lines, *([f"| `llm --help` | not measured: {missing} | | |"] if missing else [])])


def main() -> int:
    missing = install_llm()
    wanted = commands()
    if missing:
        del wanted["llm --help"]
    rows = summary(measure(wanted))
    holds = rows["afresh --help"]["times_python"] <= CEILING
    about = {"python": platform.python_version(), "rounds": ROUNDS, "ceiling": CEILING, "holds": holds, "llm_missing": missing}
    RESULT.write_text(json.dumps({**about, "rows": rows}, indent=2) + "\n", encoding="utf-8")
    print(table(rows, missing))
    print(f"ceiling: {CEILING} × python: {'holds' if holds else 'BROKEN'}; written to {RESULT.relative_to(ROOT)}")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
