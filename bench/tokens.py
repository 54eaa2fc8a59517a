"""Tokens sent over the first 20, 100 and 500 steps of recorded runs, ours beside others', and what the contexts hold.

    python bench/tokens.py DATA [--steps 20 100 500] [--limit N] [--environments FOLDER] [--json]

DATA is a file of recorded runs, one JSON object a line (.jsonl or .jsonl.gz). Each way of building contexts runs in a process of
its own, the peers in environments that are made by pip when they are missing. Counted is the text that is sent of the run: the
task and what is kept of the steps. System text and tool schemas, which every agent sends, are left out on all sides.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from contexts.needed import Run, Tally
from contexts.runs import chains, read, source
from environments import environment
from stores.player import Player

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "tokens.json"
BUDGET, WINDOW = 4_000, 200_000
FEW, SAMPLE = 5, 41
"""With fewer whole runs of a length, runs are joined to sessions of that length. Every 41st context goes to a real tokenizer."""

DEEPAGENTS = ["deepagents==0.7.32", "langchain==1.4.7", "langchain-core==1.7.2"]
OPENHANDS = ["openhands-sdk==1.58.0"]


@dataclass(frozen=True)
class Arm:
    title: str
    contestant: str
    ceiling: int = WINDOW
    home: str = ""
    packages: tuple[str, ...] = ()


ARMS = (
    Arm("nothing: the history accumulates", "history:contexts"),
    Arm("deepagents summarisation, window known", "deep_agents:known_window", WINDOW, "langchain", tuple(DEEPAGENTS)),
    Arm("deepagents summarisation, window not known", "deep_agents:unknown_window", WINDOW, "langchain", tuple(DEEPAGENTS)),
    Arm("OpenHands condenser, class default", "openhands_condenser:class_default", WINDOW, "openhands", tuple(OPENHANDS)),
    Arm("OpenHands condenser, default agent", "openhands_condenser:default_agent", WINDOW, "openhands", tuple(OPENHANDS)),
    Arm(f"trim_messages at {BUDGET:,}", "trimmed:contexts", BUDGET, "langchain", tuple(DEEPAGENTS)),
    Arm(f"afresh at {BUDGET:,}", "afresh_contexts:contexts", BUDGET),
)


def sessions(runs: Sequence[Run], points: Sequence[int]) -> list[dict[str, Any]]:
    """Each run with the points that it reaches; for a point that few reach, also shorter runs joined to that length."""
    found: list[dict[str, Any]] = []
    for run in runs:
        if reached := [point for point in points if len(run["steps"]) >= point]:
            found.append({"run": {**run, "steps": run["steps"][: max(reached)]}, "points": reached})
    for point in points:
        if sum(point in one["points"] for one in found) < FEW:
            short = [run for run in runs if len(run["steps"]) < point]
            found += [{"run": run, "points": [point]} for run in chains(short, point)]
    return found


def measure(arm: Arm, player: Player, file: Path, asked: list[dict[str, Any]]) -> dict[str, Any]:
    """The sums of all sessions, by point and by source."""
    player.ask("open", str(file))
    groups: dict[tuple[int, str], Tally] = {}
    counted, sample = 0, ""
    for index, session in enumerate(asked):
        if sys.stderr.isatty():
            print(f"\r{arm.title}: {index + 1} of {len(asked)}  ", end="", file=sys.stderr)
        scored = player.ask("score", index, BUDGET, arm.ceiling, SAMPLE)
        counted, sample = counted + scored["counted"], scored["sample"]
        for point, tally in scored["points"].items():
            for group in ("all", source(session["run"]), "joined" if "joined" in session["run"] else "whole"):
                groups[int(point), group] = groups.get((int(point), group), Tally()) + Tally(**tally)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    points = sorted({point for point, _ in groups})
    return {
        "counted": counted,
        "sample": sample,
        "points": {str(at): {group: asdict(groups[at, group]) for one, group in sorted(groups) if one == at} for at in points},
    }


def every_arm(asked: list[dict[str, Any]], folder: Path, environments: Path) -> list[dict[str, Any]]:
    file = folder / "sessions.jsonl"
    file.write_text("".join(json.dumps(session) + "\n" for session in asked), encoding="utf-8")
    rows = [{"name": arm.title, "version": "", "points": {}} for arm in ARMS]
    tokenizer = Arm("tokenizer", "openhands_condenser:tokens", WINDOW, "openhands", tuple(OPENHANDS))
    with playing(tokenizer, folder, environments) as real:
        for arm, row in zip(ARMS, rows, strict=True):
            with playing(arm, folder, environments) as player:
                row |= {"absent": player} if isinstance(player, str) else played(arm, player, file, asked)
                if "absent" not in row:
                    row |= truly(real, row.pop("sample"), row["counted"])
    return rows


def played(arm: Arm, player: Player, file: Path, asked: list[dict[str, Any]]) -> dict[str, Any]:
    """A peer that breaks off is named with its last words; the others go on."""
    try:
        return {"version": player.ask("version"), **measure(arm, player, file, asked)}
    except RuntimeError as why:
        if not arm.home:
            raise
        return {"absent": str(why)}


@contextmanager
def playing(arm: Arm, folder: Path, environments: Path) -> Iterator[Player | str]:
    """The arm in its process, or why there is none."""
    try:
        python = environment(environments, arm.home, list(arm.packages)) if arm.home else sys.executable
        player = Player(python, arm.contestant, folder, HERE / "contexts" / "contestant.py")
    except (RuntimeError, OSError, subprocess.CalledProcessError) as why:
        yield str(why)
        return
    try:
        yield player
    finally:
        player.end()


def truly(tokenizer: Player | str, sample: str, counted: int) -> dict[str, Any]:
    """How many tokens one of ours is by a real tokenizer, in the sampled contexts."""
    if isinstance(tokenizer, str):
        return {"tokenizer": f"none: {tokenizer}"}
    real = tokenizer.ask("tokens", sample)
    return {"tokenizer": real["encoding"], "real_for_counted": real["tokens"] / max(1, counted)}


def table(result: dict[str, Any]) -> str:
    lines: list[str] = []
    for point, about in result["sessions"].items():
        base = Tally(**result["arms"][0]["points"][point]["all"])
        lines += [
            f"{int(point):,} steps, {told(about)}",
            "",
            "| contexts | tokens sent | of these for summaries | to nothing | a step, mean | largest call | over its ceiling"
            " | cached at a tenth, to nothing | by a tokenizer | names / lines held |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
            *(row_of(arm, point, base) for arm in result["arms"]),
            "",
        ]
    return "\n".join(lines)


def told(about: dict[str, Any]) -> str:
    whole = f"{about['whole']} whole runs"
    if not about["joined"]:
        return whole
    return whole + f" and {about['joined']} sessions of {about['parts']} runs of one project each, joined as recorded"


def row_of(arm: dict[str, Any], point: str, base: Tally) -> str:
    name = f"{arm['name']} ({arm['version']})" if arm["version"] else arm["name"]
    if "absent" in arm:
        return f"| {name} | {arm['absent']} |" + " |" * 8
    tally = Tally(**arm["points"][point]["all"])
    sent = tally.tokens + tally.summary_tokens
    real = f"{sent * arm['real_for_counted']:,.0f}" if "real_for_counted" in arm else "–"
    held = " / ".join("–" if (share := tally.recall(kind)) is None else f"{share:.1f}" for kind in ("names", "lines"))
    return (
        f"| {name} | {sent:,} | {tally.summary_tokens:,} in {tally.summaries} | {100 * sent / base.tokens:.1f} % |"
        f" {sent / tally.steps:,.0f} | {tally.peak:,} | {tally.over} | {100 * paid(tally) / paid(base):.0f} % | {real} | {held} |"
    )


def paid(tally: Tally) -> float:
    """Where a provider's cache has the beginning that a call shares with the last one, and asks a tenth for it."""
    return tally.fresh + 0.1 * (tally.tokens - tally.fresh) + tally.summary_tokens


def about(asked: list[dict[str, Any]], points: Sequence[int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for point in points:
        here = [one["run"] for one in asked if point in one["points"]]
        joined = [len(run["joined"]) for run in here if "joined" in run]
        parts = f"{min(joined)} to {max(joined)}" if joined else ""
        if here:
            found[str(point)] = {"whole": len(here) - len(joined), "joined": len(joined), "parts": parts}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="recorded runs, one JSON object a line (.jsonl or .jsonl.gz)")
    parser.add_argument("--steps", type=int, nargs="+", default=[20, 100, 500])
    parser.add_argument("--limit", type=int, help="only the first so many runs; the results are not written")
    parser.add_argument("--environments", type=Path, default=HERE.parent / "build" / "environments")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    began, points = time.time(), sorted(given.steps)
    asked = sessions(read(given.data, given.limit), points)
    with tempfile.TemporaryDirectory() as place:
        arms = every_arm(asked, Path(place), given.environments.resolve())
    result = {
        "command": f"python bench/tokens.py DATA --steps {' '.join(map(str, points))}",
        "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
        "budget": BUDGET, "window": WINDOW, "sessions": about(asked, points), "arms": arms, "seconds": round(time.time() - began),
    }  # fmt: skip
    if given.limit is None:
        RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1) if given.json else table(result))


if __name__ == "__main__":
    main()
