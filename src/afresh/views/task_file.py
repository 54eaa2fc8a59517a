"""The small state file of one task: under a kilobyte, so that thousands of them can be read at a glance."""

from typing import Any

from afresh.core.state import State
from afresh.core.text import to_visible_json_lines
from afresh.views.bounded_json import truncate_to_bytes
from afresh.views.task_status import format_time, list_next_steps

MAX_TEXT_BYTES = 110
"""Bytes for each text that people or models wrote."""


def render_task_file(state: State) -> str:
    return to_visible_json_lines(state_to_fields(state)) + "\n"


def state_to_fields(state: State) -> dict[str, Any]:
    return {
        "id": state.task.id,
        "goal": truncate_to_bytes(state.task.goal, MAX_TEXT_BYTES),
        "type": truncate_to_bytes(state.task.type, 40),
        "status": state.status.value,
        "phase": state.phase,
        "step": state.work.step,
        "max_steps": state.work.limit,
        "outcome": truncate_to_bytes(state.work.outcome, MAX_TEXT_BYTES),
        "verdict": state.verification.verdict.ruling.value if state.verification.verdict else None,
        "branch": truncate_to_bytes(state.workspace.branch, 60),
        "changed": len(state.workspace.changed),
        "kept": state.workspace.kept,
        "reverted": state.workspace.reverted,
        "calls": state.spending.calls,
        "tokens": {"input": state.spending.usage.input, "output": state.spending.usage.output},
        "ceiling": state.budget,
        "updated": format_time(state.times.updated),
        "seq": state.head.seq,
        "next": [truncate_to_bytes(step, MAX_TEXT_BYTES) for step in list_next_steps(state)[:2]],
    }
