"""Does a small context hold what the next action refers to? Ours beside a plain window and observation masking.

    python bench/holds.py DATA [--budget 4000 16000] [--limit N] [--json]

DATA is a file of recorded runs, one JSON object a line (.jsonl or .jsonl.gz). bench/contexts/needed.py says what is needed. A
context over the budget holds nothing. Micro: all that was needed in all runs; macro: the mean of the runs' shares.
"""

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

from contexts.needed import Run, Tally, action_text, count, last, step_text, tallies
from contexts.runs import read, source

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "holds.json"
Builder = Callable[[Run, int, Callable[[str], int]], Iterator[str]]
CUT, OMITTED = "\n[... cut ...]\n", "[observation omitted]"
WHOLE_OBSERVATIONS, OFTEN = 10, 10
"""Observations that masking leaves whole; and one context in so many must have a heading for it to be a section."""
INDEX = re.compile(r"\b(index|names)\b", re.IGNORECASE)
HEADING = re.compile(r"^## (.*)$", re.MULTILINE)


def cut(text: str, tokens: int) -> str:
    """Head and tail of a text that does not fit."""
    if count(text) <= tokens:
        return text
    half = max(0, tokens * 4 - len(CUT)) // 2
    return text[:half] + CUT + text[len(text) - half :]


def window(run: Run, budget: int, count: Callable[[str], int]) -> Iterator[str]:
    """The task and as many of the latest steps as fit; the oldest of them is cut to fill what is left."""
    task, past = cut(run["task"], budget // 2), list[str]()
    for step in run["steps"]:
        room, shown = budget - count(task) - 8, list[str]()
        for text in reversed(past):
            if (cost := count(text) + 1) > room:
                shown += [cut(text, room - 8)] if room > 40 else []
                break
            shown.append(text)
            room -= cost
        yield "\n".join([task, *reversed(shown)])
        past.append(step_text(step))


def masking(run: Run, budget: int, count: Callable[[str], int]) -> Iterator[str]:
    """Observations older than the last ten, and those that do not fit, become a placeholder; thoughts and actions stay."""
    task, past = cut(run["task"], budget // 2), list[tuple[str, str]]()
    for step in run["steps"]:
        room, shown = budget - count(task) - 8, list[str]()
        for age, (full, short) in enumerate(reversed(past)):
            text = full if age < WHOLE_OBSERVATIONS and count(full) + 1 <= room else short
            if (cost := count(text) + 1) > room:
                break
            shown.append(text)
            room -= cost
        yield "\n".join([task, *reversed(shown)])
        past.append((step_text(step), "\n".join((step.get("thought") or "", action_text(step["action"]), OMITTED))))


def ours(run: Run, budget: int, count: Callable[[str], int]) -> Iterator[str]:
    from afresh.replay import contexts

    yield from contexts(run, budget, count)


BUILDERS: dict[str, Builder] = {"window": window, "masking": masking, "afresh": ours}


@dataclass(slots=True)
class Watched:
    """Looks at contexts on their way: processor time, and tokens by section."""

    contexts: Iterator[str]
    seconds: float = 0.0
    sections: list[dict[str, int]] = field(default_factory=list[dict[str, int]])

    def __iter__(self) -> Iterator[str]:
        while True:
            began = time.process_time()
            context = next(self.contexts, None)
            self.seconds += time.process_time() - began
            if context is None:
                return
            self.sections.append(sections(context))
            yield context


def sections(context: str) -> dict[str, int]:
    """Tokens by heading."""
    found = list(HEADING.finditer(context))
    ends = [*(later.start() for later in found[1:]), len(context)]
    tokens: dict[str, int] = {}
    for heading, end in zip(found, ends, strict=False):
        tokens[heading.group(1)] = tokens.get(heading.group(1), 0) + count(context[heading.start() : end])
    return tokens


def shares(seen: list[dict[str, int]], budget: int) -> dict[str, Any]:
    """Of the budget, in percent. What only some context has for a heading is text that it quotes."""
    often = Counter(heading for one in seen for heading in one)
    common = [heading for heading, times in often.items() if times >= len(seen) / OFTEN]
    index = [100 * sum(one.get(heading, 0) for heading in common if INDEX.search(heading)) / budget for one in seen]
    every = {heading: 100 * sum(one.get(heading, 0) for one in seen) / len(seen) / budget for heading in common}
    return {"index_mean": mean(index), "index_largest": max(index), "sections": every}


def measure(name: str, budget: int, runs: Sequence[Run]) -> list[dict[str, Any]]:
    """One row a source."""
    groups: dict[str, list[tuple[Tally, Watched]]] = {}
    for run in runs:
        watched = Watched(BUILDERS[name](run, budget, count))
        groups.setdefault(source(run), []).append((last(tallies(run, watched, budget)), watched))
    return [row(name, budget, group, scored) for group, scored in sorted(groups.items())]


def row(name: str, budget: int, group: str, scored: list[tuple[Tally, Watched]]) -> dict[str, Any]:
    total = sum((tally for tally, _ in scored), Tally())
    seen = [one for _, watched in scored for one in watched.sections]
    return {
        "builder": name, "budget": budget, "source": group, "runs": len(scored), "steps": total.steps,
        "micro": {kind: total.recall(kind) for kind in ("names", "lines")},
        "macro": {kind: macro([tally for tally, _ in scored], kind) for kind in ("names", "lines")},
        "over": total.over, "largest": total.peak, "mean": total.tokens / max(1, total.steps),
        "shares": shares(seen, budget) if name == "afresh" else None,
        "cpu_ms_a_step": 1e3 * sum(watched.seconds for _, watched in scored) / max(1, total.steps),
        "sums": asdict(total),
    }  # fmt: skip


def macro(scored: list[Tally], kind: str) -> float | None:
    shares = [share for tally in scored if (share := tally.recall(kind)) is not None]
    return mean(shares) if shares else None


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| budget | source | contexts | names / lines, micro | macro | over budget | largest | mean | index, mean / largest"
        " | CPU a step |",
        "|---:|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for one in sorted(rows, key=lambda one: (one["budget"], one["source"])):
        lines.append(
            f"| {one['budget']:,} | {one['source']} ({one['runs']}) | {one['builder']} | {both(one['micro'])}"
            f" | {both(one['macro'])} | {one['over']} | {one['largest']:,} | {one['mean']:,.0f}"
            f" | {index_of(one['shares'])} | {one['cpu_ms_a_step']:.2f} ms |"
        )
    ours = [one for one in rows if one["shares"]]
    lines += ["", *(f"{one['budget']:,} {one['source']}: {named(one['shares']['sections'])}" for one in ours)]
    return "\n".join(lines)


def named(every: dict[str, float]) -> str:
    return "mean shares of the budget: " + (", ".join(f"{name} {share:.1f} %" for name, share in every.items()) or "no sections")


def index_of(parts: dict[str, Any] | None) -> str:
    return f"{parts['index_mean']:.1f} / {parts['index_largest']:.1f} %" if parts else ""


def both(shares: dict[str, float | None]) -> str:
    return " / ".join("–" if share is None else f"{share:.1f}" for share in shares.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="recorded runs, one JSON object a line (.jsonl or .jsonl.gz)")
    parser.add_argument("--budget", type=int, nargs="+", default=[4_000, 16_000])
    parser.add_argument("--limit", type=int, help="only the first so many runs; the results are not written")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    runs = read(given.data, given.limit)
    rows = [one for budget in given.budget for name in BUILDERS for one in measure(name, budget, runs)]
    if given.limit is None:
        result = {"command": f"python bench/holds.py DATA --budget {' '.join(map(str, given.budget))}", "rows": rows}
        RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(rows, indent=1) if given.json else table(rows))


if __name__ == "__main__":
    main()
