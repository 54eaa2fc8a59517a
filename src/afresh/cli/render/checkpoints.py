"""Renders the checkpoints of a task."""

from collections.abc import Sequence
from typing import Any

from afresh.cli.render.widgets import Line, lay_out_fields, quote_text, wrap_line
from afresh.core.state import State
from afresh.core.text import format_count
from afresh.views.continuity_file import describe_checkpoint
from afresh.views.task_facts import describe_tests, format_time


def checkpoint_to_json(state: State, reason: str, over: bool) -> dict[str, Any]:
    told = describe_checkpoint(state)
    return told | {
        "step": state.work.step,
        "at": format_time(state.times.updated),
        "phase": state.phase,
        "reason": reason,
        "snapshot": state.workspace.snapshot,
        "changed": list(state.workspace.changed),
        "recoverable": told["recoverable"] and not over,
    }


def render_checkpoints(task: str, found: Sequence[tuple[State, str]], over: bool, width: int) -> list[Line]:
    if not found:
        return wrap_line([(f"{task} has no checkpoints yet", "")], width)
    lines: list[Line] = []
    for state, reason in found:
        told = checkpoint_to_json(state, reason, over)
        changed = format_count(len(state.workspace.changed), "changed file")
        fate = "recoverable" if told["recoverable"] else "not recoverable"
        text = f"{told['at']}, {told['phase']}, {changed}, {describe_tests(state)}, {fate}\n{reason}"
        lines += lay_out_fields([((f"step {state.work.step}", "bold"), quote_text(text))], width)
    hint = f"afresh resume {task} --from {found[-1][0].work.step}"
    return lines if over else [*lines, [], *wrap_line([(hint, "cyan")], width)]
