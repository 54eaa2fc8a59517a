"""A task's state as `afresh show --json` gives it: one flat object whose keys stay the same, however the state is parted."""

from operator import attrgetter
from typing import Any

from afresh.core.codec import to_plain_value
from afresh.core.state import State

PART_BY_KEY = {
    "task": "task",
    "head": "head",
    "status": "status",
    "started": "times.started",
    "updated": "times.updated",
    "checkpointed": "times.checkpointed",
    "checkpoint_step": "times.checkpoint_step",
    "worker": "worker",
    "base": "workspace.base",
    "branch": "workspace.branch",
    "opened": "workspace.first_snapshot",
    "snapshot": "workspace.snapshot",
    "note": "workspace.note",
    "commit": "workspace.commit",
    "changed": "workspace.changed",
    "last_change": "workspace.last_change",
    "baseline": "verification.baseline",
    "verdict": "verification.verdict",
    "verdict_step": "verification.verdict_step",
    "refusals": "verification.refusals",
    "step": "work.step",
    "limit": "work.limit",
    "spent": "work.phase_steps",
    "pending": "work.pending",
    "plan": "work.plan",
    "planned": "work.plan_step",
    "facts": "memory.facts",
    "decisions": "memory.decisions",
    "words": "dialogue.words",
    "question": "dialogue.question",
    "options": "dialogue.options",
    "asked_by": "dialogue.asked_by",
    "recent": "memory.recent",
    "returned": "work.returned_reply",
    "regions": "memory.regions",
    "index": "memory.index",
    "archived": "memory.archived",
    "passages": "memory.passages",
    "forgotten": "memory.forgotten",
    "summary": "memory.summary",
    "compactions": "memory.compactions",
    "keep": "memory.keep",
    "knowledge": "memory.lessons",
    "loop": "work.strategy",
    "attendance": "dialogue.supervision",
    "delegated": "work.subtasks",
    "usage": "spending.usage",
    "bill": "spending.costs",
    "calls": "spending.calls",
    "kept": "workspace.kept",
    "reverted": "workspace.reverted",
    "largest": "tokens.largest_prompt",
    "logged": "times.log_lines",
    "outcome": "work.outcome",
    "room": "tokens.ceiling",
    "reading": "tokens.last_call",
    "weighed": "tokens.counted_step",
    "meters": "tokens.calibrations",
    "costs": "tokens.tool_costs",
    "course": "work.progress",
}


def state_to_json(state: State) -> dict[str, Any]:
    return {key: to_plain_value(attrgetter(part)(state)) for key, part in PART_BY_KEY.items()}
