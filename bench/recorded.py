"""Recorded runs replayed: what contexts hold of what the next action needs, what they cost sent and paid, and whether that stays
over long runs and many compactions.

    python bench/recorded.py DATA [--only PART …] [--limit N]

DATA is a file of recorded runs, one JSON object a line (.jsonl or .jsonl.gz). bench/recorded_runs.py says what is needed. System
text and tool schemas, which every agent sends, are left out of what is sent on all sides; they are paid. Parts:

  holds        names and lines held, tokens, share paid, and CPU, by source of the runs and budget
  lengths      the same over the first 20, 100 and 500 steps, beside a history that accumulates
  old          CPU of a step at 10,000 beside one at 2,000
  compactions  3,000 steps as one session, with and without compaction
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
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
from afresh.replay import contexts, extended_contexts
from afresh.replay.build_contexts import (
    TASK_BUDGET_DIVISOR,
    add_user_message,
    advance_state,
    load_replay_template,
    make_foreign_counter,
    step_from_trajectory,
    truncate_to_tokens,
)
from publish import write_results
from recorded_runs import (
    TALK,
    Endless,
    Run,
    Step,
    Tally,
    chains,
    count,
    group_by_source,
    joined,
    last,
    read,
    step_text,
    tallies,
)

BUDGET, LARGE_BUDGET, NO_LIMIT = 4_000, 16_000, 10**9
LENGTHS = (20, 100, 500)
FEW = 5
"""With fewer whole runs of a length, runs are joined to sessions of that length."""
CYCLE, HUNDRED, OLD_STEPS, ROUNDS = 2_000, 100, 10_000, 5
COMPACTED_STEPS = 3_000
CUT = "\n[... cut ...]\n"
Builder = Callable[[Run, int, Callable[[str], int]], Iterator[str]]


def kept_whole(run: Run, budget: int, count: Callable[[str], int]) -> Iterator[str]:
    text = run["task"]
    for step in run["steps"]:
        yield text
        text += "\n" + step_text(step)


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


ARMS: dict[str, Builder] = {
    "whole": kept_whole,
    "window": window,
    "rebuilt": contexts,
    "extended": extended_contexts,
}
CEILING_FACTORS = {"extended": 3}
"""A context that is kept and appended to may have so many times the budget."""


def measure_holds(runs: Sequence[Run]) -> dict[str, Any]:
    """By budget, source and arm. What is paid is relative to the history that is kept whole."""
    found: dict[str, Any] = {}
    for budget, arms in ((BUDGET, tuple(ARMS)), (LARGE_BUDGET, ("window", "rebuilt"))):
        for group, some in group_by_source(runs).items():
            rows = {arm: add_runs(some, arm, budget) for arm in arms}
            whole = rows["whole"]["sums"]["paid"] if "whole" in rows else None
            for row in rows.values():
                row["paid_share"] = round(100 * row["sums"]["paid"] / whole, 1) if whole else None
            found.setdefault(str(budget), {})[group] = rows
    return found


def add_runs(runs: Sequence[Run], arm: str, budget: int) -> dict[str, Any]:
    began, total = time.process_time(), Tally()
    ceiling = NO_LIMIT if arm == "whole" else budget * CEILING_FACTORS.get(arm, 1)
    for run in runs:
        total += last(tallies(run, ARMS[arm](run, budget, count), ceiling))
    milliseconds = round(1e3 * (time.process_time() - began) / max(1, total.steps), 2)
    mean = round(total.tokens / max(1, total.steps))
    about = {"runs": len(runs), "steps": total.steps, "mean": mean, "over": total.over, "peak": total.peak}
    return {**about, **total.held(), "cpu_ms_with_scoring": milliseconds, "sums": asdict(total)}


def make_sessions(runs: Sequence[Run]) -> dict[int, list[Run]]:
    """By length: the runs that reach it, and if there are few, also shorter runs joined to it."""
    found = dict[int, list[Run]]()
    for length in LENGTHS:
        whole = [{**run, "steps": run["steps"][:length]} for run in runs if len(run["steps"]) >= length]
        short = [run for run in runs if len(run["steps"]) < length]
        found[length] = whole + (list(chains(short, length)) if len(whole) < FEW else [])
    return found


def measure_lengths(runs: Sequence[Run]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for length, sessions in make_sessions(runs).items():
        if sessions:
            rows = {arm: add_runs(sessions, arm, BUDGET) for arm in ("whole", "window", "rebuilt", "extended")}
            for row in rows.values():
                for kind, name in (("tokens", "sent_share"), ("paid", "paid_share")):
                    row[name] = round(100 * row["sums"][kind] / rows["whole"]["sums"][kind], 1)
            found[str(length)] = rows
    return found


def measure_old(runs: Sequence[Run]) -> dict[str, Any]:
    """An old run beside a young one, step by step. Both read the same text, but for the names."""
    cycle, task = mix_sources(runs), min((run["task"] for run in runs), key=len)
    if len(cycle) < CYCLE:
        raise SystemExit(f"the part `old` needs {CYCLE:,} recorded steps; there are {len(cycle):,}")
    long = Endless(cycle, OLD_STEPS + ROUNDS * CYCLE + HUNDRED)

    def start() -> Callable[[], float]:
        made = iter(contexts({"id": "bench/long", "task": task, "steps": long}, BUDGET, count))

        def time_next() -> float:
            began = time.process_time()
            next(made)
            return time.process_time() - began

        return time_next

    def skip(one: Callable[[], float], steps: int) -> None:
        for _ in range(steps):
            one()

    old, ahead, pairs = start(), OLD_STEPS - HUNDRED, list[tuple[float, float]]()
    for _ in range(ROUNDS):
        skip(old, ahead)
        young = start()
        skip(young, CYCLE - HUNDRED)
        taken = [(young(), old()) for _ in range(HUNDRED)]
        pairs.append((median(one for one, _ in taken), median(one for _, one in taken)))
        ahead = CYCLE - HUNDRED
    ratios = [after / before for before, after in pairs]
    young_ms, old_ms = (round(1e3 * median(pair[at] for pair in pairs), 2) for at in (0, 1))
    return {"young_ms": young_ms, "old_ms": old_ms, "ratio": round(median(ratios), 2), "ratios": ratios, "target": 1.2}


def mix_sources(runs: Sequence[Run]) -> list[Step]:
    """Steps of whole runs, of all sources in turn."""
    groups, taken = list(group_by_source(runs).values()), list[Step]()
    while any(groups) and len(taken) < CYCLE:
        for group in groups:
            taken += group.pop(0)["steps"] if group else []
    return taken[:CYCLE]


DECIDED, FAILED, PLANNED = (
    "no new dependency in this session",
    "rewriting the reader broke the order",
    "bring the notes up to date",
)
"""Recorded runs hold no decision, failed approach and plan of ours, so these are put in at the start; they must be in every
context, as must the task."""


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
            memory = GatheredContext(state, (), past.of(state.memory.passages, archive.__getitem__))
            message = build_prompt(memory, layout, (), self.budget, counter).request.message
            self.lost += not all(text in message for text in (state.task.goal, *state.dialogue.words, DECIDED, FAILED, PLANNED))
            yield message
            answer = step.observation if step.tool == TALK else ""
            state = add_user_message(advance_state(state, number, step, archive), answer, self.budget, count)
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


def measure_compactions(run: Run, budget: int, compacting: bool) -> dict[str, Any]:
    """The part held in the first third and in the last. The thirds are different work, so the last one is also asked of a session
    that begins with it: the same steps, and only names and lines that were met since."""
    session, points, late = Session(run, budget, compacting), list[Tally](), list[str]()
    third = len(run["steps"]) // 3

    def keep_late(made: Iterator[str]) -> Iterator[str]:
        for number, context in enumerate(made):
            late.extend([context] if number >= 2 * third else [])
            yield context

    for number, tally in enumerate(tallies(run, keep_late(session.contexts()), budget), 1):
        if number in (third, 2 * third, len(run["steps"])):
            points.append(copy(tally))
    ending: Run = {**run, "steps": run["steps"][2 * third :]}
    young = Session(ending, budget, compacting)
    assert session.state
    return {
        "compactions": session.state.memory.compactions, "put_away": session.state.memory.forgotten, "lost": session.lost,
        "over": points[2].over, "largest_summary": session.largest_summary,
        "first_third": points[0].held(), "last_third": (points[2] - points[1]).held(),
        "same_steps_old": last(tallies(ending, late, budget)).held(),
        "same_steps_young": last(tallies(ending, young.contexts(), budget)).held(),
    }  # fmt: skip


def measure_both(runs: Sequence[Run]) -> dict[str, Any]:
    run = joined(runs, COMPACTED_STEPS)
    return {name: measure_compactions(run, BUDGET, name == "compacted") for name in ("compacted", "forgets_when_full")}


PARTS: dict[str, Callable[[Sequence[Run]], dict[str, Any]]] = {
    "holds": measure_holds,
    "lengths": measure_lengths,
    "old": measure_old,
    "compactions": measure_both,
}


def render(value: Any, indent: str = "") -> Iterator[str]:
    """Figures of one level on a line."""
    flat = {name: one for name, one in value.items() if not isinstance(one, dict | list)}
    if flat:
        yield indent + ", ".join(f"{name} {one}" for name, one in flat.items())
    for name, one in value.items():
        if isinstance(one, dict) and name != "sums":
            yield f"{indent}{name}:"
            yield from render(one, f"{indent}  ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=[*PARTS])
    parser.add_argument("--limit", type=int, help="only the first so many runs; nothing is written")
    given = parser.parse_args()
    runs = read(given.data, given.limit)
    result: dict[str, Any] = {}
    for part in given.only:
        result[part] = PARTS[part](runs)
        print("\n".join(render({part: result[part]})), flush=True)
    if given.limit is None and len(given.only) == len(PARTS):
        write_results("recorded", result)


if __name__ == "__main__":
    main()
