"""The small state file of one task: under a kilobyte, so that thousands of them can be read at a glance."""

from typing import Any

from afresh.domain.state import State
from afresh.domain.text import visible_json_lines
from afresh.projections.fit import short
from afresh.projections.standing import iso, next_steps

ROOM = 110
"""Bytes for each text that people or models wrote."""


def render(state: State) -> str:
    return visible_json_lines(plain(state)) + "\n"


def plain(state: State) -> dict[str, Any]:
    return {
        "id": state.task.id,
        "goal": short(state.task.goal, ROOM),
        "type": short(state.task.type, 40),
        "status": state.status.value,
        "phase": state.phase,
        "step": state.step,
        "max_steps": state.limit,
        "outcome": short(state.outcome, ROOM),
        "verdict": state.verdict.ruling.value if state.verdict else None,
        "branch": short(state.branch, 60),
        "changed": len(state.changed),
        "kept": state.kept,
        "reverted": state.reverted,
        "calls": state.calls,
        "tokens": {"input": state.usage.input, "output": state.usage.output},
        "ceiling": state.budget,
        "updated": iso(state.updated),
        "seq": state.head.seq,
        "next": [short(step, ROOM) for step in next_steps(state)[:2]],
    }
