"""Does a policy that was tuned on one half of recorded runs do better on the other half?

    python bench/evolve.py DATA [--budget 4000] [--trials 40] [--seed 1] [--source mini]

DATA is a file of recorded runs, one JSON object a line (.jsonl or .jsonl.gz). Runs with a date in the name of their file are
split by time, the older half is tuned on; others alternate. Intervals are over runs, 95 of 100 draws; with fewer than five runs
over blocks of ten steps. It also times one policy on all steps in two processes. With --inner the judged half is not looked at:
the other is split again, to compare ways to search.
"""

import argparse
import json
import re
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.evolve.compare_scores import Comparison, Interval, compare_scores
from afresh.evolve.policy_change import apply_changes
from afresh.evolve.score_runs import open_scorer
from afresh.evolve.search_policy import search_policy
from afresh.replay.run import RecordedRun, run_from_trajectory
from contexts.runs import read, source

RESULTS = Path(__file__).parent / "results" / "evolve.json"
DATE = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\dZ")


def split(runs: list[dict[str, Any]]) -> tuple[list[RecordedRun], list[RecordedRun]]:
    """The half to tune on and the half to judge on."""
    dates = [DATE.search(json.dumps(run.get("meta", {}))) for run in runs]
    if all(dates):
        runs = [run for _, run in sorted(zip((date[0] for date in dates if date), runs, strict=True), key=lambda pair: pair[0])]
        older, newer = runs[: len(runs) // 2], runs[len(runs) // 2 :]
    else:
        older, newer = runs[::2], runs[1::2]
    return [run_from_trajectory(run) for run in older], [run_from_trajectory(run) for run in newer]


def points(one: Interval) -> str:
    return f"{100 * one.value:+.1f} ({100 * one.low:+.1f} to {100 * one.high:+.1f})"


def told(group: str, found: Comparison) -> str:
    before, after = found.before, found.after
    cells = [
        f"{group} ({found.runs})",
        f"{100 * before.names:.1f} / {100 * before.lines:.1f}",
        f"{100 * after.names:.1f} / {100 * after.lines:.1f}",
        *map(points, (found.recall, found.names, found.lines)),
        f"{before.tokens:,.0f}",
        f"{after.tokens:,.0f}",
        f"{points(found.tokens)} %",
        found.verdict,
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--budget", type=int, default=4000)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--source", nargs="*", default=[])
    parser.add_argument("--inner", action="store_true")
    given = parser.parse_args()
    runs = list(read(given.data))
    rows: dict[str, Any] = {}
    print("| judged on | before, names / lines | after | recall | names | lines | tokens a call | after | change | verdict |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---|")
    for group in sorted({source(run) for run in runs}):
        if given.source and group not in given.source:
            continue
        older, newer = split([run for run in runs if source(run) == group])
        if given.inner:
            older, newer = older[::2], older[1::2]
        with open_scorer(older, given.budget, workers=2) as score:
            found = search_policy(DEFAULT_CONTEXT_POLICY, score, trials=given.trials, seed=given.seed)
        tuned = apply_changes(DEFAULT_CONTEXT_POLICY, found.changes)
        with open_scorer(newer, given.budget, workers=2) as score:
            before, after = score(DEFAULT_CONTEXT_POLICY, 1), score(tuned, 1)
        judged = compare_scores(before, after, given.seed)
        print(told(group, judged), flush=True)
        print("  " + "; ".join(map(str, found.changes)), flush=True)
        rows[group] = {"comparison": asdict(judged), "verdict": judged.verdict, "changes": [str(one) for one in found.changes]}
        rows[group] |= {"objective": found.objective, "method": found.method}
    if not given.source and not given.inner:
        whole = [run_from_trajectory(run) for run in runs]
        steps = sum(len(run.steps) for run in whole)
        with open_scorer(whole, given.budget, workers=2) as score:
            began = time.perf_counter()
            score(DEFAULT_CONTEXT_POLICY, 1)
            took = time.perf_counter() - began
        print(f"\n{steps:,} steps with one policy, two processes: {took:.1f} s")
        rows["time"] = {"steps": steps, "seconds": took}
        RESULTS.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
