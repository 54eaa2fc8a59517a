"""Does a policy that was tuned on some recorded runs do better on others?

    python bench/evolve.py DATA [--source mini] [--fresh RUNS] [--budget 4000] [--seed 1] [--every 1]

DATA is a file of recorded runs, one JSON object a line (.jsonl or .jsonl.gz). The runs of each source are split in halves:
those with a date in the name of their file by time, others by turns. A policy is tuned on each half and judged on the other;
"both ways" pools the judged runs. RUNS is a file of runs that are not in DATA, to be judged by a policy that was tuned on all of
DATA. The search looks at one step in `--every`; every step is judged. Intervals are over runs, 95 of 100 draws; with fewer than
five runs over blocks of ten steps. With --inner only the first half is used, and split again, to compare ways to search. With
--time it only times one policy on all steps in two processes.
"""

import argparse
import json
import re
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY, ContextPolicy
from afresh.evolve.compare_scores import Comparison, Interval, compare_scores
from afresh.evolve.learn_kinds import LineUse, count_line_use, learn_kinds, list_kind_changes
from afresh.evolve.policy_change import apply_changes
from afresh.evolve.score_runs import RunScore, Scorer, find_run_needs, open_scorer
from afresh.evolve.search_policy import SearchResult, search_with_kinds
from afresh.replay.run import RecordedRun, run_from_trajectory
from contexts.runs import read, source

RESULTS = Path(__file__).parent / "results" / "evolve.json"
DATE = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\dZ")


def split(runs: list[dict[str, Any]]) -> tuple[list[RecordedRun], list[RecordedRun]]:
    """The older and the newer half; by turns where no dates are known."""
    dates = [DATE.search(json.dumps(run.get("meta", {}))) for run in runs]
    if all(dates):
        runs = [run for _, run in sorted(zip((date[0] for date in dates if date), runs, strict=True), key=lambda pair: pair[0])]
        older, newer = runs[: len(runs) // 2], runs[len(runs) // 2 :]
    else:
        older, newer = runs[::2], runs[1::2]
    return [run_from_trajectory(run) for run in older], [run_from_trajectory(run) for run in newer]


class Scores:
    """Of each policy on all runs, made once; a search sees those of its own runs only."""

    def __init__(self, score: Scorer, whole: Sequence[RecordedRun], budget: int) -> None:
        self.score, self.held, self.whole, self.budget = score, dict[tuple[str, int], list[RunScore]](), whole, budget
        self.uses = dict[int, LineUse]()

    def of(self, policy: ContextPolicy, runs: Sequence[int], every: int = 1) -> list[RunScore]:
        known = (policy.id, every)
        if known not in self.held:
            self.held[known] = self.score(policy, every)
        return [self.held[known][place] for place in runs]

    def tune(self, runs: Sequence[int], every: int, seed: int) -> SearchResult:
        learnt = learn_kinds([self.use(place) for place in runs], seed)
        kinds = list_kind_changes(DEFAULT_CONTEXT_POLICY, learnt)
        return search_with_kinds(DEFAULT_CONTEXT_POLICY, lambda policy: self.of(policy, runs, every), kinds, seed)

    def use(self, place: int) -> LineUse:
        if place not in self.uses:
            self.uses[place] = count_line_use(find_run_needs(self.whole[place]), DEFAULT_CONTEXT_POLICY, self.budget)
        return self.uses[place]

    def pair(self, changes: SearchResult, runs: Sequence[int]) -> tuple[list[RunScore], list[RunScore]]:
        tuned = apply_changes(DEFAULT_CONTEXT_POLICY, changes.changes) if changes.changes else DEFAULT_CONTEXT_POLICY
        return self.of(DEFAULT_CONTEXT_POLICY, runs), self.of(tuned, runs)


def points(one: Interval) -> str:
    return f"{100 * one.value:+.1f} ({100 * one.low:+.1f} to {100 * one.high:+.1f})"


def told(group: str, found: Comparison) -> str:
    before, after = found.before, found.after
    cells = [
        f"{group} ({found.runs})",
        f"{100 * before.names:.1f} / {100 * before.lines:.1f}",
        f"{100 * after.names:.1f} / {100 * after.lines:.1f}",
        *map(points, (found.recall, found.names, found.lines)),
        f"{before.tokens:,.0f} → {after.tokens:,.0f}",
        f"{points(found.tokens)} %",
        found.verdict,
    ]
    return f"| {' | '.join(cells)} |"


class Report:
    def __init__(self, seed: int) -> None:
        self.seed, self.rows = seed, dict[str, Any]()
        print("| judged on | before, names / lines | after | recall | names | lines | tokens a call | change | verdict |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|---|")

    def judge(self, group: str, before: Sequence[RunScore], after: Sequence[RunScore], *tuned: SearchResult) -> None:
        found = compare_scores(before, after, self.seed)
        changes = [[str(one) for one in result.changes] for result in tuned]
        print(told(group, found), flush=True)
        print("  " + " / ".join("; ".join(one) or "nothing" for one in changes), flush=True)
        self.rows[group] = {"comparison": asdict(found), "verdict": found.verdict, "changes": changes}


def judge_source(group: str, runs: list[dict[str, Any]], fresh: list[RecordedRun], given: Any, report: Report) -> None:
    older, newer = split(runs)
    if given.inner:
        older, newer = older[::2], older[1::2]
    first, second = range(len(older)), range(len(older), len(older) + len(newer))
    with open_scorer([*older, *newer], given.budget, workers=2) as score:
        scores = Scores(score, [*older, *newer], given.budget)
        tuned = scores.tune(first, given.every, given.seed)
        one, other = scores.pair(tuned, second)
        report.judge(f"{group}, second half", one, other, tuned)
        swapped = scores.tune(second, given.every, given.seed)
        two, another = scores.pair(swapped, first)
        report.judge(f"{group}, first half", two, another, swapped)
        report.judge(f"{group}, both ways", [*two, *one], [*another, *other], swapped, tuned)
        whole = scores.tune([*first, *second], given.every, given.seed) if fresh else SearchResult()
    if fresh:
        with open_scorer(fresh, given.budget, workers=2) as score:
            report.judge(f"{group}, fresh runs", *Scores(score, fresh, given.budget).pair(whole, range(len(fresh))), whole)


def time_policy(runs: list[dict[str, Any]], budget: int) -> None:
    whole = [run_from_trajectory(run) for run in runs]
    with open_scorer(whole, budget, workers=2) as score:
        began = time.perf_counter()
        score(DEFAULT_CONTEXT_POLICY, 1)
        took = time.perf_counter() - began
    print(f"{sum(len(run.steps) for run in whole):,} steps with one policy, two processes: {took:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--budget", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--source", default="")
    parser.add_argument("--fresh", type=Path)
    parser.add_argument("--inner", action="store_true")
    parser.add_argument("--time", action="store_true")
    given = parser.parse_args()
    runs = [run for run in read(given.data) if given.source in ("", source(run))]
    if given.time:
        return time_policy(runs, given.budget)
    fresh = [run_from_trajectory(run) for run in read(given.fresh)] if given.fresh else []
    report = Report(given.seed)
    for group in sorted({source(run) for run in runs}):
        judge_source(group, [run for run in runs if source(run) == group], fresh, given, report)
    if not given.inner:
        held = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps(held | report.rows, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
