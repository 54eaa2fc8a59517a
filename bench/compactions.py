"""Does memory hold over thousands of steps and many compactions? Recorded runs joined to one session, with and without.

    python bench/compactions.py DATA [--budget 4000] [--steps 3000] [--json]

DATA is a file of recorded runs, one JSON object a line (.jsonl or .jsonl.gz). Of all runs one session is made in which a person
gives task after task. In the first third and in the last: what part of the names and lines that the next action needs is in the
context. The thirds are different work, so the last one is also asked of a session that begins with it: the same steps, and only
names and lines that were met since. Without compaction memory forgets on its own when it is full. Recorded runs hold no decision,
failed approach and plan of ours, so some are put in at the start; they must be in every context, as must the task.
"""

import argparse
import json
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from afresh.context.build_prompt import build_prompt
from afresh.context.compaction.compact_memory import compact_by_rules
from afresh.core.decision import Decision
from afresh.core.fact import Fact, FactKind
from afresh.core.state import State
from afresh.core.states.memory_state import MemoryState
from afresh.core.states.strategy_state import PlanItem
from afresh.core.states.work_state import WorkState
from afresh.core.task import RECORDED_TYPE, Task
from afresh.memory.gathered_context import GatheredContext, TraceCache
from afresh.memory.summarise import MAX_SUMMARY_TOKENS
from afresh.replay.build_contexts import (
    TASK_BUDGET_DIVISOR,
    add_user_message,
    advance_state,
    load_replay_template,
    make_foreign_counter,
    step_from_trajectory,
    truncate_to_tokens,
)
from contexts.needed import Run, Tally, count, tallies
from contexts.needed import last as whole
from contexts.runs import joined, read

RESULTS = Path(__file__).parent / "results" / "compactions.json"
DECIDED, FAILED, PLANNED = (
    "no new dependency in this session",
    "rewriting the reader broke the order",
    "bring the notes up to date",
)


@dataclass(slots=True)
class Session:
    """One way through a run: the contexts, and what became of memory."""

    run: Run
    budget: int
    compacting: bool
    state: State | None = None
    lost: int = 0
    """Contexts that lack something which must be in every one."""
    largest_summary: int = 0

    def contexts(self) -> Iterator[str]:
        layout, counter, archive, past = load_replay_template(), make_foreign_counter(count), dict[str, str](), TraceCache()
        state = self.begun()
        for number, plain in enumerate(self.run["steps"], 1):
            step = step_from_trajectory(plain)
            state = add_user_message(state, step.said, self.budget, count)
            message = build_prompt(
                GatheredContext(state, (), past.of(state.memory.passages, archive.__getitem__)), layout, (), self.budget, counter
            )
            self.lost += not all(
                text in message.request.message for text in (state.task.goal, *state.dialogue.words, DECIDED, FAILED, PLANNED)
            )
            yield message.request.message
            state = add_user_message(
                advance_state(state, number, step, archive),
                step.observation if step.tool == "message_user" else "",
                self.budget,
                count,
            )
            if self.compacting:
                state = compact_by_rules(state, past.of(state.memory.passages, archive.__getitem__), layout, count)
                self.largest_summary = max(self.largest_summary, count(state.memory.summary.text))
            self.state = state

    def begun(self) -> State:
        goal = truncate_to_tokens(self.run["task"], self.budget // TASK_BUDGET_DIVISOR, count)
        return State(
            task=Task(id="session", goal=goal, type=RECORDED_TYPE, budget=self.budget),
            memory=MemoryState(
                decisions=(Decision(DECIDED, "person"),), facts=(Fact(FactKind.FAILED_APPROACH, "rewrite", FAILED, step=1),)
            ),
            work=WorkState(plan=(PlanItem(PLANNED),)),
        )


def measure(run: Run, budget: int, compacting: bool) -> dict[str, Any]:
    session, points, late = Session(run, budget, compacting), list[Tally](), list[str]()
    third = len(run["steps"]) // 3
    for number, tally in enumerate(tallies(run, kept(session.contexts(), 2 * third, late), budget), 1):
        if number in (third, 2 * third, len(run["steps"])):
            points.append(copy(tally))
    first, last = points[0], less(points[2], points[1])
    ending: Run = {**run, "steps": run["steps"][2 * third :]}
    young = Session(ending, budget, compacting)
    assert session.state
    return {
        "compacting": compacting, "budget": budget, "steps": len(run["steps"]), "runs": len(run["joined"]),
        "compactions": session.state.memory.compactions, "put_away": session.state.memory.forgotten, "lost": session.lost,
        "over": points[2].over, "largest_summary": session.largest_summary, "summary_cap": MAX_SUMMARY_TOKENS,
        "first_third": shares(first), "last_third": shares(last),
        "same_steps_old": shares(whole(tallies(ending, late, budget))),
        "same_steps_young": shares(whole(tallies(ending, young.contexts(), budget))),
    }  # fmt: skip


def kept(contexts: Iterator[str], since: int, late: list[str]) -> Iterator[str]:
    """Those after a step are put by."""
    for number, context in enumerate(contexts):
        if number >= since:
            late.append(context)
        yield context


def shares(tally: Tally) -> dict[str, float | None]:
    return {kind: tally.recall(kind) for kind in ("names", "lines")}


def less(whole: Tally, part: Tally) -> Tally:
    """The sums of the steps after `part`; only those that recall is made of."""
    kinds = ("names", "names_held", "lines", "lines_held")
    return replace(whole, **{kind: getattr(whole, kind) - getattr(part, kind) for kind in kinds})


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| memory | steps | compactions | passages put away | contexts that lack what must stay | over budget | largest summary"
        " | first third, names / lines | last third | of what the last third itself has shown"
        " | the same, a session that begins there |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for one in rows:
        lines.append(
            f"| {'compacted' if one['compacting'] else 'forgets when full'} | {one['steps']:,} | {one['compactions']}"
            f" | {one['put_away']:,} | {one['lost']} | {one['over']} | {one['largest_summary']}"
            f" | {both(one['first_third'])} | {both(one['last_third'])}"
            f" | {both(one['same_steps_old'])} | {both(one['same_steps_young'])} |"
        )
    return "\n".join(lines)


def both(shares: dict[str, float | None]) -> str:
    return " / ".join("–" if share is None else f"{share:.1f}" for share in shares.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="recorded runs, one JSON object a line (.jsonl or .jsonl.gz)")
    parser.add_argument("--budget", type=int, default=4_000)
    parser.add_argument("--steps", type=int, default=3_000)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    given = parser.parse_args()
    run = joined(read(given.data), given.steps)
    rows = [measure(run, given.budget, compacting) for compacting in (True, False)]
    if given.steps >= 3_000:
        result = {"command": f"python bench/compactions.py DATA --budget {given.budget} --steps {given.steps}", "rows": rows}
        RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(rows, indent=1) if given.json else table(rows))


if __name__ == "__main__":
    main()
