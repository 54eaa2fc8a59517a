"""The small state file of one task."""

from typing import Any

from afresh.domain.state import State
from afresh.domain.text import one_line, visible_json_lines
from afresh.projections.standing import iso, next_steps


def render(state: State) -> str:
    return visible_json_lines(plain(state)) + "\n"


def plain(state: State) -> dict[str, Any]:
    return {
        "id": state.task.id,
        "goal": one_line(state.task.goal, 160),
        "type": one_line(state.task.type, 60),
        "status": state.status.value,
        "phase": state.phase,
        "step": state.step,
        "max_steps": state.limit,
        "outcome": one_line(state.outcome, 160),
        "verdict": state.verdict.ruling.value if state.verdict else None,
        "branch": one_line(state.branch, 80),
        "changed": len(state.changed),
        "kept": state.kept,
        "reverted": state.reverted,
        "calls": state.calls,
        "tokens": {"input": state.usage.input, "output": state.usage.output},
        "ceiling": state.budget,
        "updated": iso(state.updated),
        "seq": state.head.seq,
        "next": [one_line(step, 120) for step in next_steps(state)[:2]],
    }
