"""What contexts cost where prefixes are cached, and what they hold: a history kept whole, contexts rebuilt at every step, and
contexts that are kept and appended to while that is cheaper.

    python bench/paid.py DATA [--budget 4000] [--fixed 1300] [--limit N] [--json]

DATA is a file of recorded runs, one JSON object a line (.jsonl or .jsonl.gz). Runs are split into two halves by the hash of
their id: settings were compared on the half `even`. Paid is relative to the history that is kept whole.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from afresh.core.cache_rates import DEFAULT_CACHE_RATES as RATES
from afresh.replay import contexts, extended_contexts
from contexts.needed import Run, Seen, count, shared, step_text
from contexts.runs import read, source

RESULTS = Path(__file__).with_name("results") / "paid.json"
Builder = Callable[[Run, int, Callable[[str], int]], Iterator[str]]
Needs = list[tuple[set[str], set[str]]]
SUMS = ("steps", "sent", "paid", "names", "names_held", "lines", "lines_held")


def kept_whole(run: Run, budget: int, count: Callable[[str], int]) -> Iterator[str]:
    text = run["task"]
    for step in run["steps"]:
        yield text
        text += "\n" + step_text(step)


ARMS: dict[str, Builder] = {
    "history kept whole": kept_whole,
    "afresh, rebuilt at every step": contexts,
    "afresh, kept and appended to": extended_contexts,
}


def half(run: Run) -> str:
    return "odd" if int(sha256(run["id"].encode()).hexdigest(), 16) % 2 else "even"


def needed(run: Run) -> Needs:
    """Names and lines of each action that an earlier step had, but not the task."""
    seen, found = Seen(run["task"]), Needs()
    for number, step in enumerate(run["steps"]):
        found.append((seen.wanted(step) if number else None) or (set(), set()))
        seen.note(step)
    return found


def measure(run: Run, needs: Needs, build: Builder, given: argparse.Namespace) -> dict[str, float]:
    """Sums over the steps of one run. A call pays for the part that begins as the call before at the rate of reading."""
    sums, before = dict[str, float]({name: 0.0 for name in SUMS}), ""
    for number, (text, needed_now) in enumerate(zip(build(run, given.budget, count), needs, strict=True)):
        size = given.fixed + count(text)
        same = given.fixed + shared(before, text) // 4 if number else 0
        sums["paid"] += RATES.count_paid_tokens(RATES.estimate_usage(size, same))
        sums["sent"] += size
        sums["steps"] += 1
        for kind, wanted in zip(("names", "lines"), needed_now, strict=True):
            sums[kind] += len(wanted)
            sums[f"{kind}_held"] += sum(one in text for one in wanted)
        before = text
    return sums


def total(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: sum(row[name] for row in rows) for name in rows[0]}


def summarise(sums: dict[str, float], whole: dict[str, float]) -> dict[str, float]:
    shares = {name: round(100 * sums[name] / whole[name], 1) for name in ("sent", "paid")}
    held = {name: round(100 * sums[f"{name}_held"] / max(1.0, sums[name]), 1) for name in ("names", "lines")}
    return {**shares, "mean_call": round(sums["sent"] / sums["steps"]), **held}


def measure_group(runs: Sequence[Run], given: argparse.Namespace) -> dict[str, dict[str, dict[str, float]]]:
    """By half and arm."""
    needs = [needed(run) for run in runs]
    rows = {
        arm: [(half(run), measure(run, need, build, given)) for run, need in zip(runs, needs, strict=True)]
        for arm, build in ARMS.items()
    }
    parts = {"even": ("even",), "odd": ("odd",), "all": ("even", "odd")}
    sums = {
        name: {arm: [row for part, row in found if part in halves] for arm, found in rows.items()}
        for name, halves in parts.items()
    }
    return {
        name: {arm: summarise(total(found), total(by_arm["history kept whole"])) for arm, found in by_arm.items()}
        for name, by_arm in sums.items()
        if by_arm["history kept whole"]
    }


def table(result: dict[str, Any]) -> str:
    made = ["| runs | half | contexts | sent | paid | mean call | names / lines |", "|---|---|---|---:|---:|---:|---:|"]
    for group, halves in result["groups"].items():
        for name, arms in halves.items():
            made += [
                f"| {group} | {name} | {arm} | {one['sent']:.1f} % | {one['paid']:.1f} % | {one['mean_call']:,} |"
                f" {one['names']:.1f} / {one['lines']:.1f} |"
                for arm, one in arms.items()
            ]
    return "\n".join(made)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="recorded runs, one JSON object a line (.jsonl or .jsonl.gz)")
    parser.add_argument("--budget", type=int, default=4_000, help="tokens of a context that is built anew")
    parser.add_argument("--fixed", type=int, default=1_300, help="tokens of system text and tools in front of each call")
    parser.add_argument("--limit", type=int, help="only the first so many runs; the results are not written")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    runs = read(given.data, given.limit)
    groups = {name: [run for run in runs if source(run) == name] for name in sorted({source(run) for run in runs})}
    result = {
        "command": f"python bench/paid.py DATA --budget {given.budget} --fixed {given.fixed}",
        "runs": {name: len(found) for name, found in groups.items()},
        "groups": {name: measure_group(found, given) for name, found in groups.items()},
    }
    if given.limit is None:
        RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1) if given.json else table(result))


if __name__ == "__main__":
    main()
