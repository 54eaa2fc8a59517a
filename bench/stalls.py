"""How often recorded runs of other agents would have been warned, turned or stopped as getting nowhere.

The detectors are the product's own. A recording has no tree: it counts as changed by every edit and by every command that can
write. Verified progress is not recorded either; in its place stands an output that tells of more passed tests than any before
it and, where a recording does not hold what was handed in, every edit. A run counts as solved where its recording says so.

  .venv/bin/python bench/stalls.py FILE.jsonl.gz [--out FILE]
"""

import argparse
import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from afresh.core.states.progress_state import (
    INITIAL_PROGRESS,
    CheckEnding,
    FileTransition,
    LinesRead,
    MarkedAction,
    ProgressState,
    StallThresholds,
    StepMark,
    StepMarked,
    VerifiedProgress,
    apply_stall_notice,
    apply_step_mark,
)
from afresh.core.step_history import ENDED_OK
from afresh.policy.stall import escalation as ladder
from afresh.policy.stall.step_trace import ending_from_failure, hash_output, hash_parts
from afresh.replay.build_contexts import detect_outcome
from afresh.replay.run import RecordedStep, run_from_trajectory

RESULTS = Path(__file__).with_name("results") / "stalls.json"
EDITING = ("Edit", "Write", "MultiEdit", "apply_patch", "str_replace_editor", "NotebookEdit")
SHELL = ("bash", "Bash", "exec_command", "execute_bash", "run_terminal_command_v2")
WRITES = re.compile(
    r"sed -i|<<|(?<![0-9&])>{1,2}\s*[\w./$~-]|\btee\b|\bpatch\b"
    r"|\bgit (?:checkout|stash|apply|reset|commit|add|pull|merge|rebase|rm|mv)"
    r"|\brm\b|\bmv\b|\bcp\b|\btouch\b|\bmkdir\b|write_text|\.write\("
    r"|\bmake\b|\bgo (?:build|generate|mod)|npm |pip |gofmt -w|--fix"
)
LINES = re.compile(r"sed -n ['\"]?(\d+),(\d+)p['\"]? ([\w./-]+)")
WHOLE = re.compile(r"\bcat (?:-n )?([\w./-]+\.\w+)")
HANDED_IN = re.compile(r"^diff --git a/(\S+)", re.MULTILINE)
FILE = re.compile(r'"file_path": ?"([^"]+)"|"path": ?"([^"]+)"')
PATH = re.compile(r"[\w./-]+\.\w+")
FROM = re.compile(r'"offset": ?(\d+)')
COUNT = re.compile(r'"limit": ?(\d+)')
PASSED = re.compile(r"(\d+) passed")


def glances(step: RecordedStep) -> Iterator[LinesRead]:
    """What it shows of files."""
    if step.tool == "Read" and (found := FILE.search(step.action)):
        first = int(at[1]) if (at := FROM.search(step.action)) else 1
        yield LinesRead(found[1] or found[2], first, first + (int(count[1]) if (count := COUNT.search(step.action)) else 2_000))
    if step.tool in SHELL and not WRITES.search(step.action):
        yield from (LinesRead(path, int(first), int(last)) for first, last, path in LINES.findall(step.action))
        yield from (LinesRead(path, 1, 10_000) for path in WHOLE.findall(step.action))


def mark(number: int, step: RecordedStep, tree: int) -> StepMark:
    """One step of a recording as the product would have marked it."""
    writes = step.tool in EDITING or (step.tool in SHELL and bool(WRITES.search(step.action)))
    seen = tuple(glances(step))
    end, shell = detect_outcome(step.observation), step.tool in SHELL
    act = MarkedAction(hash_parts(step.tool, step.action, f"{tree}"), hash_output(step.observation), step.action[:60])
    source = hash_parts(step.action)
    ending = CheckEnding(source, "") if end in (ENDED_OK, "") else ending_from_failure(source, step.observation)
    paths = {"the tree", *PATH.findall(step.action)}
    return StepMark(
        step=number, acts=() if seen or not step.action else (act,), glances=seen, endings=(ending,) if shell else (),
        edits=tuple(FileTransition(path, f"{tree}", f"{tree + 1}") for path in paths) if writes else (),
        worked=end in (ENDED_OK, ""), tools=(step.tool,),
        tokens=step.tokens,
    )  # fmt: skip


def course(plain: dict[str, Any], patience: StallThresholds) -> Iterator[tuple[int, str, str, str]]:
    """Each rung that is reached: step, sign, rung and evidence."""
    now: ProgressState = INITIAL_PROGRESS
    run, tree, best = run_from_trajectory(plain), 0, 0
    handed_in = HANDED_IN.findall((plain.get("meta") or {}).get("submission") or "")
    for number, step in enumerate(run.steps, 1):
        left = mark(number, step, tree)
        passed = max((int(found) for found in PASSED.findall(step.observation)), default=0)
        handed = bool(left.edits) and (any(path in step.action for path in handed_in) or step.tool in EDITING)
        gain = VerifiedProgress(why="better") if passed > best or (handed and not handed_in) else None
        best, tree = max(best, passed), tree + bool(left.edits)
        now = apply_step_mark(now, StepMarked(left, gain))
        now = ProgressState(since=number, gain=now.gain) if step.said else now
        if not now.marks:
            continue
        for one in ladder.find_escalations(now, patience):
            now = apply_stall_notice(now, one)
            if one.rung.value:
                yield number, one.sign, one.rung.value, one.evidence


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--all", action="store_true", help="print every rung")
    given = parser.parse_args()
    patience, tables, runs = replace(StallThresholds(), idle_tokens=()), dict[str, Counter[str]](), Counter[str]()
    with gzip.open(given.file, "rt") as lines:
        for line in lines:
            plain = json.loads(line)
            solved = (plain.get("meta") or {}).get("resolved")
            kind = {True: "solved", False: "not solved"}.get(solved, "unknown")
            runs[kind] += 1
            rungs = list(course(plain, patience))
            tables.setdefault(kind, Counter()).update({f"{sign} {rung}" for _, sign, rung, _ in rungs})
            tables[kind].update({f"any {rung}" for _, _, rung, _ in rungs})
            for rung in rungs if given.all else ():
                print(plain["id"][:50], solved, *rung)
    figures = {kind: {"runs": runs[kind], **dict(sorted(table.items()))} for kind, table in tables.items()}
    given.out.write_text(
        json.dumps({"patience": {name: getattr(patience, name) for name in ladder.DETECTORS}, "runs": figures}, indent=2) + "\n"
    )
    print("| sign and rung | " + " | ".join(f"{kind} ({runs[kind]})" for kind in tables) + " |\n|---|" + "---:|" * len(tables))
    for name in sorted({name for table in tables.values() for name in table}):
        print(f"| {name} | " + " | ".join(f"{table[name]}" for table in tables.values()) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
