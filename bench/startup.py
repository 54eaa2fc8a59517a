"""What commands cost in CPU: `--help` as a multiple of a bare Python start; and `list`, `status` and `show`
with few and many tasks, of which a tenth is over, blocked or at work.

Run: python bench/startup.py. It needs `make setup`.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from afresh.app.orders.tasks import TaskOrder, add_task, end_task, record_events
from afresh.app.project import Project, open_project
from afresh.core.event import QuestionAsked, TaskClaimed
from afresh.core.task import TaskStatus
from publish import write_results

ROOT = Path(__file__).parents[1]
ROUNDS = 21
READING_ROUNDS = 9
CEILING = 5.0
"""Of `--help`, as a multiple of a bare Python start."""
READING_CEILING_MS = 150.0
"""Of `list`, `status` and `show`."""
TASK_COUNTS = (5, 970)
GROWTH_CEILING_MS = 30.0
"""That a command may take longer with many tasks than with few, in its fastest rounds; `list` prints them all."""
READING_COMMANDS = ("status --all", "status", "status --json", "show", "show --json")


def cpu_milliseconds(command: list[str]) -> float:
    """User and system time of the process and all that it waited for."""
    quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    child = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed with {os.waitstatus_to_exitcode(status)} in {os.getcwd()}")
    return (used.ru_utime + used.ru_stime) * 1000


def commands() -> dict[str, list[str]]:
    programs = Path(sys.executable).parent
    return {
        "python -c pass": [sys.executable, "-c", "pass"],
        "afresh --help": [str(programs / "afresh"), "--help"],
    }


def make_project(root: Path, tasks: int) -> Path:
    """A small repository with so many tasks: most of them to come, as after a night of `afresh add`."""
    root.mkdir()
    (root / "sums.py").write_text("def add(a, b):\n    return a + b\n", encoding="utf-8")
    git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "First"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    project = open_project(root)
    for number in range(tasks):
        vary_task(project, add_task(project, TaskOrder(f"Make sum {number} faster", checks=("true",))).task.id, number)
    return root


def vary_task(project: Project, task: str, number: int) -> None:
    if number % 20 == 1:
        end_task(project, task, (TaskStatus.DONE, TaskStatus.APPLIED, TaskStatus.FAILED)[number // 20 % 3], "all checks pass")
    elif number % 40 == 2:
        record_events(project, project.store.load(task), task, [QuestionAsked("Multiply or shift?", ("multiply", "shift"))])
        end_task(project, task, TaskStatus.BLOCKED, "it asks")
    elif number % 200 == 3:
        record_events(project, project.store.load(task), task, [TaskClaimed("another-machine:1:1")])


def measure_reading(folder: Path) -> dict[str, list[float]]:
    """CPU of each command that reads tasks, with few and many of them, round after round."""
    program = str(Path(sys.executable).parent / "afresh")
    os.environ.update(XDG_DATA_HOME=str(folder / "data"), XDG_CONFIG_HOME=str(folder / "config"))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled
    here, samples = Path.cwd(), dict[str, list[float]]()
    for count in TASK_COUNTS:
        os.chdir(make_project(folder / f"tasks-{count}", count))
        wanted = {f"afresh {words}, {count} tasks": [program, *words.split()] for words in READING_COMMANDS}
        samples |= measure(wanted, READING_ROUNDS)
    os.chdir(here)
    return samples


def measure(wanted: dict[str, list[str]], count: int = ROUNDS) -> dict[str, list[float]]:
    """One run of each in turn, round after round, so that what else the machine does falls on all alike."""
    for command in wanted.values():
        cpu_milliseconds(command)
    rounds = [{name: cpu_milliseconds(command) for name, command in wanted.items()} for _ in range(count)]
    return {name: [one[name] for one in rounds] for name in wanted}


def summary(samples: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    medians = {name: statistics.median(values) for name, values in samples.items()}
    bare = medians["python -c pass"]
    return {
        name: {"median_ms": round(median, 1), "least_ms": round(min(samples[name]), 1), "times_python": round(median / bare, 2)}
        for name, median in medians.items()
    }


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        rows = summary(measure(commands()) | measure_reading(Path(folder)))
    broken = list_broken_ceilings(rows)
    print("| command | CPU, median (ms) | least (ms) | × `python -c pass` |\n|---|---:|---:|---:|")
    for name, row in rows.items():
        print(f"| `{name}` | {row['median_ms']} | {row['least_ms']} | {row['times_python']} |")
    print("\n".join(broken) or f"both ceilings hold: {CEILING} × python for --help, {READING_CEILING_MS:.0f} ms for the others")
    write_results("startup", {"rounds": ROUNDS, "ceiling": CEILING, "reading_ceiling_ms": READING_CEILING_MS, "rows": rows})
    return 1 if broken else 0


def list_broken_ceilings(rows: dict[str, dict[str, float]]) -> Sequence[str]:
    help_factor = rows["afresh --help"]["times_python"]
    slow = [
        f"{name}: {row['median_ms']} ms"
        for name, row in rows.items()
        if " tasks" in name and row["median_ms"] > READING_CEILING_MS
    ]
    few, many = ([rows[f"afresh {words}, {count} tasks"]["least_ms"] for words in READING_COMMANDS] for count in TASK_COUNTS)
    grown = [
        f"afresh {words} takes {after - before:.0f} ms longer with {TASK_COUNTS[1]} tasks"
        for words, before, after in zip(READING_COMMANDS, few, many, strict=True)
        if after - before > GROWTH_CEILING_MS
    ]
    return [*([f"afresh --help: {help_factor} × python"] if help_factor > CEILING else []), *slow, *grown]


if __name__ == "__main__":
    sys.exit(main())
