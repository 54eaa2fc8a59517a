"""Tasks as plain data: the whole state, a run summary, open questions, and the small state file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from afresh.core.answer_options import UserStatement, list_user_statements, parse_options
from afresh.core.codec import to_plain_value
from afresh.core.state import State
from afresh.core.task import name_briefly
from afresh.core.text import to_visible_json_lines
from afresh.views.bounded_json import truncate_to_bytes
from afresh.views.task_facts import (
    find_current_verdict,
    format_time,
    list_evidence_lines,
    list_failed_approaches,
    list_next_commands,
    list_next_steps,
    task_tests_to_json,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from afresh.core.change import Change
    from afresh.core.prompt import CallAudit
    from afresh.views.model_calls import HistoryComparison


def compute_spread(values: Sequence[int]) -> dict[str, int]:
    from statistics import median

    return {"min": min(values), "median": round(median(values)), "max": max(values)} if values else {}


def changes_to_json(changes: Sequence[Change]) -> list[dict[str, Any]]:
    return [{"path": c.path, "kind": c.kind, "added": c.added, "removed": c.removed, "patch": c.patch} for c in changes]


def run_summary_to_json(
    state: State, changes: Sequence[Change], audits: Sequence[CallAudit], history: HistoryComparison | None = None
) -> dict[str, Any]:
    """Convert a run; `history` compares it with an agent that keeps a full history over the same steps."""
    from afresh.views.model_calls import history_to_json

    sent, tests = [audit.tokens for audit in audits], task_tests_to_json(state)
    verdict, baseline = find_current_verdict(state)[0], state.verification.baseline
    ceiling = max((audit.budget for audit in audits), default=state.budget)
    return {
        "task": state.task.id,
        "goal": state.task.goal,
        "status": state.status.value,
        "verdict": verdict.ruling.value if verdict else None,
        "open": dict(list_evidence_lines(state)),
        "reason": state.work.outcome or (verdict.reason if verdict else ""),
        "question": state.dialogue.question,
        "options": list(state.dialogue.options),
        "unconfined": state.unconfined,
        "branch": state.workspace.branch,
        "commit": state.workspace.commit,
        "changes": changes_to_json(changes),
        "tests": {"before": tests["before"], "after": tests["now"]},
        "measure": {"before": baseline.measure if baseline else 0, "after": verdict.measure if verdict else None},
        "steps": state.work.step,
        "kept": state.workspace.kept,
        "reverted": state.workspace.reverted,
        "tokens": {
            "calls": state.spending.calls,
            **{name: getattr(state.spending.usage, name) for name in ("input", "output", "cached")},
            "per_call": sent,
            **compute_spread(sent),
            "ceiling": ceiling,
            "sent": sum(sent),
            **(history_to_json(history) if history else {}),
        },
        "knowledge": {"used": list(state.memory.lessons.used), "left": state.memory.lessons.left},
        "failed_approaches": [{"step": f.step, "subject": f.subject, "text": f.text} for f in list_failed_approaches(state)],
        "next": list(list_next_commands(state)),
    }


def open_question_to_json(state: State) -> dict[str, Any]:
    return {
        "task": state.task.id,
        "goal": state.task.goal,
        "since": format_time(state.times.updated),
        "by": state.dialogue.asked_by,
        "step": state.work.step,
        "question": state.dialogue.question,
        "options": [{"number": it.number, "option": it.name, "means": it.means} for it in parse_options(state.dialogue.options)],
        "changed": list(state.workspace.changed),
        "kept": state.workspace.kept,
        "reverted": state.workspace.reverted,
        "tests": {name: tests["words"] for name, tests in task_tests_to_json(state).items()},
        "commands": [*list_next_commands(state), f"afresh discard {name_briefly(state.task.id)}"],
    }  # fmt: skip


def find_newest_answer(before: State, state: State) -> UserStatement:
    """Return the answer that was just given; letting a pause continue records no words."""
    if len(state.dialogue.words) > len(before.dialogue.words):
        return list_user_statements(state)[-1]
    return UserStatement(before.dialogue.options[0], before.dialogue.question, before.dialogue.options)


def answer_to_json(before: State, state: State) -> dict[str, Any]:
    newest = find_newest_answer(before, state)
    return {
        "task": state.task.id,
        "status": state.status.value,
        "question": newest.question,
        "answer": newest.text,
        "next": list(list_next_commands(state)),
    }


def permissions_to_json(state: State) -> dict[str, Any]:
    """A task's permissions, for `afresh allow --json`."""
    network = to_plain_value(state.dialogue.network.permissions)
    return {
        "task": state.task.id,
        "status": state.status.value,
        "leave": to_plain_value(state.verification.leave),
        "network": network,
    }


MAX_TEXT_BYTES = 110
"""Bytes of each text that people or models wrote."""


def render_task_file(state: State) -> str:
    return to_visible_json_lines(state_to_fields(state)) + "\n"


def state_to_fields(state: State) -> dict[str, Any]:
    verdict, _ = find_current_verdict(state)
    return {
        "id": state.task.id,
        "goal": truncate_to_bytes(state.task.goal, MAX_TEXT_BYTES),
        "type": truncate_to_bytes(state.task.type, 40),
        "status": state.status.value,
        "phase": state.phase,
        "step": state.work.step,
        "max_steps": state.work.limit,
        "outcome": truncate_to_bytes(state.work.outcome, MAX_TEXT_BYTES),
        "verdict": verdict.ruling.value if verdict else None,
        "branch": truncate_to_bytes(state.workspace.branch, 60),
        "changed": len(state.workspace.changed),
        "kept": state.workspace.kept,
        "reverted": state.workspace.reverted,
        "calls": state.spending.calls,
        "tokens": {"input": state.spending.usage.input, "output": state.spending.usage.output},
        "limits": [state.limits.ordered, state.limits.now, state.limits.highest],
        "updated": format_time(state.times.updated),
        "seq": state.head.seq,
        "next": [truncate_to_bytes(step, MAX_TEXT_BYTES) for step in list_next_steps(state)[:2]],
    }
