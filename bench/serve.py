"""What a service costs and how fast it is: CPU and memory while nothing is to be done, seconds from `add` until a worker has the
task, from the death of the workers' process until another runs, and from SIGTERM to the end.

Run: python bench/serve.py. The repository is made for it, the model is a script. Seconds are medians of five.
"""

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from queue import Queue
from threading import Thread

RESULT = Path(__file__).parent / "results/serve.json"
ROUNDS = 5
IDLE_SECONDS = 30.0
LONGEST_SECONDS = 300
REPLIES = (
    ("edit", {"path": "calc.py", "old": "x + x + 1", "new": "x + x"}),
    ("complete", {"summary": "double returns twice its argument"}),
)
AFRESH = (sys.executable, "-m", "afresh.cli.main")
GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost")


def make_repository(repo: Path) -> None:
    repo.mkdir()
    (repo / "calc.py").write_text("def double(x):\n    return x + x + 1\n")
    (repo / "test_calc.py").write_text("from calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "base")):
        subprocess.run((*GIT, *command), cwd=repo, check=True)


class Service:
    """A running `afresh serve` and its lines."""

    def __init__(self, repo: Path, *options: str) -> None:
        command = (*AFRESH, "serve", "--port", "0", "--workers", "1", *options)
        self.process = subprocess.Popen(command, cwd=repo, stdout=subprocess.PIPE, text=True)
        self.lines = Queue[str]()
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.put(line)

    def wait_for(self, pattern: str) -> str:
        while True:
            if found := re.search(pattern, self.lines.get(timeout=LONGEST_SECONDS)):
                return found[found.lastindex or 0]

    def stop(self) -> float:
        began = time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(LONGEST_SECONDS) == 0
        return time.perf_counter() - began


def read_cpu_seconds(process: int) -> float:
    """Of the process and of those children that it has waited for."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def read_megabytes(process: int) -> float:
    found = re.search(r"Pss:\s+(\d+)", Path(f"/proc/{process}/smaps_rollup").read_text())
    assert found
    return int(found[1]) / 1024


def measure_idle(service: Service) -> dict[str, float]:
    processes = [service.process.pid, *(int(service.wait_for(r"started \(process (\d+)\)")) for _ in range(2))]
    time.sleep(10)
    before = sum(map(read_cpu_seconds, processes))
    time.sleep(IDLE_SECONDS)
    share = (sum(map(read_cpu_seconds, processes)) - before) / IDLE_SECONDS
    return {"cpu_percent_of_a_core": round(100 * share, 2), "megabytes": round(sum(map(read_megabytes, processes)), 1)}


def measure_claim(service: Service, repo: Path) -> float:
    """From the end of `add` to the claim, then until the task is done."""
    check = f"{sys.executable} -m pytest -q"
    order = ("add", "double is wrong in calc.py", "--type", "fix_bug", "--check", check, "--json")
    told = subprocess.run((*AFRESH, *order), cwd=repo, check=True, capture_output=True, text=True)
    began, task = time.perf_counter(), json.loads(told.stdout)["task"]
    service.wait_for(f"{task}: claimed")
    taken = time.perf_counter() - began
    service.wait_for(f"{task}: done")
    return taken


def measure_restart(service: Service, process: int) -> tuple[float, int]:
    began = time.perf_counter()
    os.kill(process, signal.SIGKILL)
    again = int(service.wait_for(r"workers started \(process (\d+)\)"))
    return time.perf_counter() - began, again


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        home, repo, script = Path(made, "home"), Path(made, "repo"), Path(made, "replies.jsonl")
        home.mkdir()
        os.environ |= {"HOME": str(home)}
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
            os.environ.pop(name, None)
        make_repository(repo)
        script.write_text("".join(json.dumps({"thought": "", "actions": [{"tool": t, "args": a}]}) + "\n" for t, a in REPLIES))
        service = Service(repo, "--model", f"scripted:{script}")
        idle = measure_idle(service)
        claims = [measure_claim(service, repo) for _ in range(ROUNDS)]
        stops = [service.stop()]
        restarts = list[float]()
        for _ in range(ROUNDS):
            service = Service(repo, "--no-schedules")
            seconds, _ = measure_restart(service, int(service.wait_for(r"workers started \(process (\d+)\)")))
            restarts.append(seconds)
            time.sleep(3)
            stops.append(service.stop())
        result = {
            "idle": idle,
            "claim_seconds": round(statistics.median(claims), 2),
            "restart_seconds": round(statistics.median(restarts), 2),
            "stop_seconds": round(statistics.median(stops), 2),
        }
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
