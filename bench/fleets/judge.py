"""What a run of the fleet came to: each task ended once with the result that it should have, and nobody acted for another."""

import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from afresh.core import event as happened
from afresh.ports.storage import Storage


@dataclass(slots=True)
class Judgement:
    tasks: int
    lost: list[str] = field(default_factory=list[str])
    """Not done."""
    ended_twice: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])
    """Another result than that of an undisturbed run, or another one than the journal names."""
    steps_twice: list[str] = field(default_factory=list[str])
    unexplained_calls: list[str] = field(default_factory=list[str])
    """Bought again though no fault hit the one who had bought it."""
    stale_calls: list[str] = field(default_factory=list[str])
    """Begun by a worker after another one had begun to work on the task."""
    repeated_calls: int = 0
    """Bought again after a fault."""
    takeovers: list[float] = field(default_factory=list[float])
    """Seconds from a fault to the moment at which another worker goes on."""
    takeovers_named: list[str] = field(default_factory=list[str])
    """The same, with the task, the hosts and the time of the fault, to find them in the logs."""

    @property
    def sound(self) -> bool:
        return not (self.lost or self.ended_twice or self.wrong or self.steps_twice or self.unexplained_calls or self.stale_calls)


def judge_run(
    storage: Storage, remote: Path, expected: Mapping[str, Mapping[str, str]], log: Sequence[Mapping[str, Any]]
) -> Judgement:
    """`expected`: the files of each task's result. `log`: what the hosts and the harness have written down."""
    verdict = Judgement(len(expected))
    for task, files in expected.items():
        judge_task(storage, remote, task, files, verdict)
    judge_calls(log, verdict)
    return verdict


def judge_task(storage: Storage, remote: Path, task: str, files: Mapping[str, str], verdict: Judgement) -> None:
    entries = [entry.event for entry in storage.journal.journal(task)]
    ends = [event for event in entries if isinstance(event, happened.TaskEnded)]
    if not ends:
        verdict.lost.append(task)
        return
    if len(ends) > 1:
        verdict.ended_twice.append(task)
    steps = Counter(event.step for event in entries if isinstance(event, happened.StepFinished))
    verdict.steps_twice += [f"{task} step {step}" for step, times in steps.items() if times > 1]
    tip = read_git(remote, "rev-parse", "--verify", "--quiet", f"refs/heads/afresh/{task}").strip()
    if ends[-1].status != "done" or not tip or tip != ends[-1].commit:
        verdict.wrong.append(f"{task}: {ends[-1].status}, commit {ends[-1].commit[:8]}, branch {tip[:8] or 'none'}")
        return
    for path, text in files.items():
        if read_git(remote, "show", f"{tip}:{path}") != text:
            verdict.wrong.append(f"{task}: {path}")


def read_git(remote: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=remote, capture_output=True, text=True).stdout


def judge_calls(log: Sequence[Mapping[str, Any]], verdict: Judgement) -> None:
    faults = defaultdict[str, list[tuple[float, float]]](list)
    for line in log:
        if line["kind"] == "fault":
            for host in line["hosts"]:
                faults[host].append((line["at"], line["until"]))
    by_task = defaultdict[str, list[Mapping[str, Any]]](list)
    for line in sorted(log, key=lambda line: line["at"]):
        if line.get("task"):
            by_task[line["task"]].append(line)
    for task, lines in by_task.items():
        judge_task_calls(task, lines, faults, verdict)


def judge_task_calls(
    task: str, lines: Sequence[Mapping[str, Any]], faults: Mapping[str, Sequence[tuple[float, float]]], verdict: Judgement
) -> None:
    last = dict[int, Mapping[str, Any]]()
    worker, active = "", 0.0
    for line in lines:
        host = line["host"]
        if line["kind"] == "begin":
            hit = [began for began, _ in faults.get(worker, ()) if active <= began + 0.5 and began <= line["at"]]
            if worker and worker != host and hit:
                verdict.takeovers.append(line["at"] - max(hit))
                when = time.strftime("%H:%M:%S", time.localtime(max(hit)))
                verdict.takeovers_named.append(f"{task} by {host} from {worker}, hit at {when}: {verdict.takeovers[-1]:.1f} s")
            worker = host
        active = line["at"] if host == worker else active
        if line["kind"] != "call":
            continue
        if worker != host:
            verdict.stale_calls.append(f"{task} call {line['number']} by {host}, after {worker} had begun")
        if before := last.get(line["number"]):
            explained = any(began <= line["at"] and until >= before["at"] - 1 for began, until in faults.get(before["host"], ()))
            if explained:
                verdict.repeated_calls += 1
            else:
                verdict.unexplained_calls.append(f"{task} call {line['number']} by {before['host']} and {host}")
        last[line["number"]] = line
