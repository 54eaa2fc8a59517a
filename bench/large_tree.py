"""What a large repository costs: `status`, beside `git status`; a task up to its first step and up to its end; bytes kept.

Run: python bench/large_tree.py [FILES]. The repository is made for it: three files in ten are Python, the rest is text. The model
is a script of three replies, so the first step is over when its prompt was built and answered.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ceilings import check_books

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "bench/results/large_tree.json"
FILES = 100_000
FILES_PER_FOLDER = 100
PYTHON_FILES_PER_FOLDER = 30
ROUNDS = 7
TARGET_PATH = "pkg/g0/m0/f0.py"
REPLIES = (
    ("read", {"path": TARGET_PATH}),
    ("edit", {"path": TARGET_PATH, "old": "x + 0", "new": "x"}),
    ("complete", {"summary": "f_0_0 adds nothing"}),
)
GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost")


def make_repository(repo: Path, files: int) -> None:
    for folder in range(files // FILES_PER_FOLDER):
        place = repo / f"pkg/g{folder // 50}/m{folder}"
        place.mkdir(parents=True)
        for number in range(FILES_PER_FOLDER):
            code = f"def f_{folder}_{number}(x):\n    return x + {number}\n"
            name = f"f{number}.{'py' if number < PYTHON_FILES_PER_FOLDER else 'txt'}"
            (place / name).write_text(code if name.endswith(".py") else f"{folder} {number}\n")
    (repo / "test_a.py").write_text("def test_a():\n    assert True\n")
    for command in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "base")):
        subprocess.run((*GIT, *command), cwd=repo, check=True)


def measure_command(command: list[str], repo: Path) -> dict[str, float]:
    """Medians of wall and CPU seconds."""
    walls, cpus = list[float](), list[float]()
    for _ in range(ROUNDS):
        began, before = time.perf_counter(), os.times()
        subprocess.run(command, cwd=repo, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        walls.append(time.perf_counter() - began)
        cpus.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return {"wall": round(statistics.median(walls), 3), "cpu": round(statistics.median(cpus), 3)}


def run_task(afresh: list[str], repo: Path, script: Path) -> dict[str, float]:
    """Seconds until the first step is taken, and until the result is verified."""
    command = [*afresh, "run", f"f_0_0 in {TARGET_PATH} should not add zero", "--type", "fix_bug", "--baseline", "once"]
    command += ["--check", f"{sys.executable} -m pytest -q test_a.py", "--model", f"scripted:{script}"]
    began, first = time.perf_counter(), 0.0
    running = subprocess.Popen(command, cwd=repo, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert running.stdout
    for line in running.stdout:
        if not first and line.strip().startswith("1 "):
            first = time.perf_counter() - began
    if running.wait():
        raise SystemExit(f"the task was not verified: exit code {running.returncode}")
    return {"first_step": round(first, 1), "verified": round(time.perf_counter() - began, 1)}


def count_bytes(folder: Path) -> int:
    """Bytes on disk."""
    return sum(512 * Path(place, name).lstat().st_blocks for place, _, names in os.walk(folder) for name in names)


def main() -> None:
    files = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    afresh = [sys.executable, "-m", "afresh.cli.main"]
    with tempfile.TemporaryDirectory() as made:
        home, repo, script = Path(made, "home"), Path(made, "repo"), Path(made, "replies.jsonl")
        home.mkdir()
        repo.mkdir()
        os.environ |= {"HOME": str(home), "COLUMNS": "200"}
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
            os.environ.pop(name, None)
        make_repository(repo, files)
        script.write_text("".join(json.dumps({"thought": "", "actions": [{"tool": t, "args": a}]}) + "\n" for t, a in REPLIES))
        runs = [run_task(afresh, repo, script) for _ in range(3)]
        result = {
            "files": files,
            "python": platform.python_version(),
            "cold": runs[0],
            "warm": {key: statistics.median(run[key] for run in runs[1:]) for key in runs[0]},
            "status": measure_command([*afresh, "status"], repo),
            "git_status": measure_command(["git", "status"], repo),
            "state_mb": round(count_bytes(repo / ".afresh/state") / 1e6, 1),
            "worktree_mb": round(count_bytes(home / ".local/share/afresh/worktrees") / len(runs) / 1e6, 1),
        }
        check_books(home)
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
