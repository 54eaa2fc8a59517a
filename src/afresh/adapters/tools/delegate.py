"""Hand out a part of the task. What comes back is a short result, never what was said and done on the way."""

from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.domain.delegated import Delegated, Fate, HandedOut, Part
from afresh.domain.fact import Fact, FactKind
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome

GOAL = 1_500
LISTED = 6
LENGTH = 300
"""Characters of a goal; entries of a list and characters of each: a part has a small window too."""


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    if bench.hand_out is None:
        raise ModelMistake("delegate: there is nobody to hand this to; do it yourself")
    result = bench.hand_out(part(args))
    return Outcome(result.text, result.status is Fate.DONE, (HandedOut(result),), facts=failed(result))


def part(args: Mapping[str, Any]) -> Part:
    goal, checks, paths = args["goal"].strip(), texts(args, "checks"), texts(args, "paths")
    if not goal or len(goal) > GOAL:
        raise ModelMistake(f"delegate: the goal needs 1 to {GOAL:,} characters, it has {len(goal):,}")
    if max(len(checks), len(paths)) > LISTED or any(len(text) > LENGTH for text in (*checks, *paths)):
        raise ModelMistake(f"delegate: at most {LISTED} checks and {LISTED} paths of {LENGTH} characters")
    return Part(goal, args.get("type", "").strip(), checks, paths)


def texts(args: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(text.strip() for text in args.get(name, ()) if text.strip())


def failed(result: Delegated) -> tuple[Fact, ...]:
    """Known in all later windows, so that the same is not handed out again."""
    if result.status is Fate.DONE:
        return ()
    why = f"{result.status.value}: {result.summary}"
    return (Fact(FactKind.FAILED_APPROACH, f"delegate {result.goal}", why, step=result.step),)


delegate = schema(
    "delegate", "Have another agent do one of 3 or more open items of the plan; goal: all it must know, checks: commands.",
    ("type", "checks", "paths"), goal="", type="", checks=("array", ""), paths=("array", ""),
)  # fmt: skip
tool = FunctionTool(delegate, run, changes=True)
