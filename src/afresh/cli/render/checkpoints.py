"""The checkpoints of a task."""

from collections.abc import Sequence

from afresh.core.state import State
from afresh.core.text import format_count
from afresh.views.continuity_file import describe_checkpoint
from afresh.views.page import Block, Fields, Page
from afresh.views.task_facts import describe_tests, format_time


def build_checkpoints(task: str, found: Sequence[tuple[State, str]], over: bool) -> Page:
    data, blocks = list[dict[str, object]](), list[Block]()
    for state, reason in found:
        known, step, at = describe_checkpoint(state), state.work.step, format_time(state.times.updated)
        able = known["recoverable"] and not over
        changed, fate = format_count(len(state.workspace.changed), "changed file"), "recoverable" if able else "not recoverable"
        blocks.append(Fields([(f"step {step}", f"{at}, {state.phase}, {changed}, {describe_tests(state)}, {fate}\n{reason}")]))
        row = {"step": step, "at": at, "phase": state.phase, "reason": reason, "snapshot": state.workspace.snapshot}
        data.append(known | row | {"changed": list(state.workspace.changed), "recoverable": able})
    if not found:
        return Page(data, [f"{task} has no checkpoints yet"])
    hint = f"afresh resume {task} --from {found[-1][0].work.step}"
    return Page(data, blocks if over else [*blocks, "", [(hint, "cyan")]])
