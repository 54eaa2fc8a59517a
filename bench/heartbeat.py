"""What a week of heartbeats costs, every half hour: on a repository that does not change, and on one with a commit a day.

Run: python bench/heartbeat.py. The clock is set by the benchmark, the model answers OK. Beside it stands a heartbeat that replays
its transcript: the same checklist and the same watched text at each beat, with all beats before it, counted by the same counter.
"""

import json
import os
import statistics
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from afresh.app.heartbeat.heartbeat import HeartbeatTerms, run_heartbeat
from afresh.app.heartbeat.heartbeat_call import HeartbeatCaller, open_heartbeat_ledger
from afresh.app.heartbeat.heartbeat_state import load_heartbeat_state
from afresh.app.project import Project, open_project
from afresh.config.templates.load_template import load_call_template
from afresh.core.reply import Reply
from afresh.core.tokens import EstimatingCounter, estimate_tokens
from afresh.models.call import ModelGate
from afresh.testing.fakes import ComputedModel, FakeClock

RESULT = Path(__file__).parent / "results/heartbeat.json"
HALF_HOUR_SECONDS = 1_800.0
BEATS_PER_DAY = 48
DAYS = 7
BEGAN = 1_700_038_800.0
CHECKLIST = "- the release notes follow the commits\n"


def make_project(folder: Path) -> Project:
    os.environ |= {"XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config")}
    root = folder / "repo"
    (root / ".afresh").mkdir(parents=True)
    (root / ".afresh/HEARTBEAT.md").write_text(CHECKLIST)
    commit(root, "init", "-q", "-b", "main")
    commit(root, "commit", "-q", "--allow-empty", "-m", "first")
    return replace(open_project(root), clock=FakeClock(BEGAN))


def commit(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", *arguments], cwd=root, check=True)


def run_week(changes_daily: bool) -> dict[str, float]:
    model = ComputedModel(lambda request: Reply("OK"))

    def open_caller(project: Project, plan, alert) -> HeartbeatCaller:
        gate = ModelGate(model, open_heartbeat_ledger(project, "offline", alert))
        return HeartbeatCaller(gate, load_call_template("heartbeat"), EstimatingCounter(), "repo", "heartbeat-bench")

    counter, sent, transcript, beats = EstimatingCounter(), 0, 0, list[float]()
    with tempfile.TemporaryDirectory() as made:
        project = make_project(Path(made))
        for beat in range(DAYS * BEATS_PER_DAY):
            if changes_daily and beat % BEATS_PER_DAY == BEATS_PER_DAY // 2:
                commit(project.paths.root, "commit", "-q", "--allow-empty", "-m", f"work of day {beat // BEATS_PER_DAY}")
            began = time.perf_counter()
            run_heartbeat(project, HeartbeatTerms(open_caller))
            beats.append((time.perf_counter() - began) * 1000)
            (item,) = load_heartbeat_state(project).items.values()
            transcript += estimate_tokens(CHECKLIST + (item.output or "") + "OK")
            sent += transcript
            project.clock.move(HALF_HOUR_SECONDS)
        project.storage.close()
    tokens = [counter.whole(request) for request in model.requests]
    return {
        "beats": len(beats),
        "calls": len(tokens),
        "tokens": sum(tokens),
        "largest_call": max(tokens, default=0),
        "transcript_replaying_tokens": sent,
        "first_day_ms": round(statistics.median(beats[:BEATS_PER_DAY]), 1),
        "last_day_ms": round(statistics.median(beats[-BEATS_PER_DAY:]), 1),
    }


def main() -> None:
    result = {"unchanged": run_week(False), "a commit a day": run_week(True)}
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
