"""Small coding tasks with any model, in two arms: afresh, and a plain loop that keeps its whole history.

Both arms get the same model, tools, sandbox and number of steps. A referee with tests that neither has seen says which are
solved; a claim of success that it does not confirm is a false one. The model `scripted` plays the solution of each task, to see
that the bench itself works; a person or a program can be the model behind `mailbox:DIR`, where each task and arm gets a folder.

  .venv/bin/python bench/tasks.py --model scripted
  .venv/bin/python bench/tasks.py --model anthropic:NAME --only paging --only undo
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ceilings
from tasking.arms import ARMS, Ended, attempt
from tasking.problem import Problem, problems

PROBLEMS = Path(__file__).with_name("problems")
RESULTS = Path(__file__).with_name("results") / "tasks.json"


def model_for(spec: str, problem: Problem, arm: str) -> str:
    if spec == "scripted":
        return f"scripted:{problem.script}"
    if spec.startswith("mailbox:"):
        return f"{spec}/{problem.name}-{arm}"
    return spec


def run(given: argparse.Namespace, folder: Path) -> list[Ended]:
    ended = []
    for problem in problems(given.problems, given.only):
        for arm in given.arm or ARMS:
            one = attempt(arm, problem, model_for(given.model, problem, arm), folder, given.no_sandbox)
            print(line(one), file=sys.stderr, flush=True)
            ended.append(one)
    return ended


def line(one: Ended) -> str:
    verdict = "solved" if one.solved else "FALSE CLAIM" if one.false_claim else "not solved"
    how = (one.how.splitlines() or [""])[0][:80]
    return f"{one.problem:<12}{one.arm:<8}{verdict:<13}{one.steps:>3} steps {one.usage.input:>9,} tokens in  {how}"


def summed(ended: Sequence[Ended], arm: str) -> dict[str, Any]:
    own = [one for one in ended if one.arm == arm]
    return {
        "arm": arm,
        "tasks": len(own),
        "solved": sum(one.solved for one in own),
        "claimed": sum(one.claimed for one in own),
        "false_claims": sum(one.false_claim for one in own),
        "steps": sum(one.steps for one in own),
        "tokens_in": sum(one.usage.input for one in own),
        "tokens_cached": sum(one.usage.cached for one in own),
        "tokens_out": sum(one.usage.output for one in own),
        "dollars": round(sum(one.dollars or 0 for one in own), 4) if any(one.dollars for one in own) else None,
        "largest_call": max((one.largest for one in own), default=0),
        "over_ceiling": sum(one.largest > one.ceiling for one in own),
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    names = ["arm", "solved", "false claims", "steps", "tokens in", "tokens out", "money", "largest with reply", "over ceiling"]
    lines = [
        [row["arm"], f"{row['solved']} of {row['tasks']}", f"{row['false_claims']} of {row['claimed']}", f"{row['steps']:,}",
         f"{row['tokens_in']:,}", f"{row['tokens_out']:,}",
         f"${row['dollars']:.2f}" if row["dollars"] is not None else "-", f"{row['largest_call']:,}", str(row["over_ceiling"])]
        for row in rows
    ]  # fmt: skip
    widths = [max(len(cells[place]) for cells in [names, *lines]) for place in range(len(names))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) for cells in [names, *lines])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=Path, default=PROBLEMS, help="a folder of task folders")
    parser.add_argument("--model", default="scripted")
    parser.add_argument("--arm", action="append", choices=ARMS)
    parser.add_argument("--only", action="append", default=[], metavar="TASK")
    parser.add_argument("--keep", type=Path, help="leave the repositories here")
    parser.add_argument("--no-sandbox", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    watch = ceilings.watch()
    with TemporaryDirectory() as temporary:
        ended = run(given, given.keep or Path(temporary))
    watch.check()
    rows = [summed(ended, arm) for arm in given.arm or ARMS]
    print(table(rows))
    given.out.parent.mkdir(exist_ok=True)
    given.out.write_text(
        json.dumps({"model": given.model, "arms": rows, "tasks": [one.plain() for one in ended]}, indent=1) + "\n"
    )
    return int(any(row["over_ceiling"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
