"""Tasks as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from afresh.core.question import UserStatement, list_user_statements, parse_options
from afresh.views.state_json import state_to_json
from afresh.views.task_status import (
    ceiling_to_json,
    find_current_verdict,
    format_time,
    list_current_runs,
    list_failed_approaches,
    list_next_commands,
    list_next_steps,
    sum_check_runs,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from afresh.core.change import Change
    from afresh.core.prompt import CallAudit
    from afresh.core.state import State
    from afresh.core.verdict import CheckRun


def compute_spread(values: Sequence[int]) -> dict[str, int]:
    from statistics import median

    return {"min": min(values), "median": round(median(values)), "max": max(values)} if values else {}


def check_runs_to_json(runs: Sequence[CheckRun]) -> dict[str, Any]:
    total = sum_check_runs(runs)
    return {
        "words": total.words if runs else "not run",
        "passed": total.passed,
        "failed": total.failed,
        "skipped": total.skipped,
        "checks": [{"command": run.command, "exit": run.exit, "scope": run.scope, "timed_out": run.timed_out} for run in runs],
    }


def task_to_json(state: State) -> dict[str, Any]:
    """The whole state, with what can be derived from it."""
    return state_to_json(state) | {
        "phase": state.phase,
        "status": state.status.value,
        "step": state.work.step,
        "next": list(list_next_steps(state)),
        "commands": list(list_next_commands(state)),
        "ceiling": ceiling_to_json(state),
        "tests": task_tests_to_json(state),
    }


def task_tests_to_json(state: State) -> dict[str, dict[str, Any]]:
    """The checks before the first change, and on the tree as it is."""
    baseline = state.verification.baseline
    return {
        "before": check_runs_to_json(baseline.runs if baseline else ()),
        "now": check_runs_to_json(list_current_runs(state) if state.verification.verdict else ()),
    }


def run_summary_to_json(
    state: State, changes: Sequence[Change], audits: Sequence[CallAudit], accumulating: int = 0
) -> dict[str, Any]:
    """`accumulating` is what an agent that keeps its history would have sent over the same steps."""
    sent, tests = [audit.tokens for audit in audits], task_tests_to_json(state)
    verdict, baseline = find_current_verdict(state)[0], state.verification.baseline
    ceiling = max((audit.budget for audit in audits), default=state.budget)
    return {
        "task": state.task.id,
        "goal": state.task.goal,
        "status": state.status.value,
        "verdict": verdict.ruling.value if verdict else None,
        "reason": state.work.outcome or (verdict.reason if verdict else ""),
        "question": state.dialogue.question,
        "options": list(state.dialogue.options),
        "unconfined": state.unconfined,
        "branch": state.workspace.branch,
        "commit": state.workspace.commit,
        "changes": [{"path": c.path, "kind": c.kind, "added": c.added, "removed": c.removed, "patch": c.patch} for c in changes],
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
            "accumulating": accumulating,
        },
        "knowledge": {"used": list(state.memory.lessons.used), "left": state.memory.lessons.left},
        "failed_approaches": [{"step": f.step, "subject": f.subject, "text": f.text} for f in list_failed_approaches(state)],
        "next": list(list_next_commands(state)),
    }


def open_questions_to_json(waiting: Sequence[State]) -> list[dict[str, Any]]:
    return [open_question_to_json(state) for state in waiting]


def open_question_to_json(state: State) -> dict[str, Any]:
    return {
        "task": state.task.id,
        "goal": state.task.goal,
        "since": format_time(state.times.updated),
        "by": state.dialogue.asked_by,
        "step": state.work.step,
        "question": state.dialogue.question,
        "options": options_to_json(state),
        "changed": list(state.workspace.changed),
        "kept": state.workspace.kept,
        "reverted": state.workspace.reverted,
        "tests": {name: tests["words"] for name, tests in task_tests_to_json(state).items()},
        "commands": [*list_next_commands(state), f"afresh discard {state.task.id}"],
    }  # fmt: skip


def options_to_json(state: State) -> list[dict[str, Any]]:
    return [{"number": one.number, "option": one.name, "means": one.means} for one in parse_options(state.dialogue.options)]


def find_newest_answer(before: State, state: State) -> UserStatement:
    """What was answered just now; whoever lets it go on at a pause has said nothing that a window would hold."""
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
