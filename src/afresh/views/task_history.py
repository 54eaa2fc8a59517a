"""What a finished task leaves for the project, as plain values on one line of `history.jsonl`. Bounded, newest first."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from afresh.core.answer_options import list_user_statements
from afresh.core.fact import USER_JOURNAL, Fact, FactKind, FactScope
from afresh.core.project_facts import BY_HARNESS, BY_MODEL, fact_from_decision, fact_from_words, make_fact_id
from afresh.core.state import State
from afresh.core.task import QueueTicket, TaskStatus
from afresh.core.text import to_visible_json
from afresh.views.bounded_json import truncate_to_bytes
from afresh.views.task_facts import list_failed_approaches

LINE_FORMAT_VERSION = 1
"""Version of the line format; lines of another version are rebuilt from the journal."""
MAX_HISTORY_TASKS = 200
"""The newest finished tasks, so that the end of a task costs the same however many there were before."""
MAX_ITEMS_PER_TASK = 8
MAX_PATHS_PER_TASK = 60
MAX_CHECKS_PER_TASK = 6
PROVEN_STATUSES = TaskStatus.DONE, TaskStatus.APPLIED
"""Statuses that confirm a task's facts and changes."""


def summarise_finished_task(state: State) -> dict[str, Any]:
    proven = state.status in PROVEN_STATUSES
    return {
        "task": state.task.id,
        "shape": LINE_FORMAT_VERSION,
        "seq": state.head.seq,
        "status": state.status.value,
        "verdict": state.verification.verdict.ruling.value if state.verification.verdict else None,
        "ended": state.times.updated,
        "type": truncate_to_bytes(state.task.type, 40),
        "goal": truncate_to_bytes(state.task.goal, 120),
        "outcome": truncate_to_bytes(state.work.outcome, 120),
        "commit": state.workspace.commit[:12],
        "steps": state.work.step,
        "calls": state.spending.calls,
        "input": state.spending.usage.input,
        "output": state.spending.usage.output,
        "kept": state.workspace.kept,
        "reverted": state.workspace.reverted,
        "changed": [truncate_to_bytes(path, 100) for path in state.workspace.changed[:MAX_PATHS_PER_TASK]] if proven else [],
        "rules": _take_items(_list_rules(state)),
        "decisions": _take_items(_list_decisions(state)),
        "failed": _take_items(_fact_to_fields(fact, state.task.id) for fact in reversed(list_failed_approaches(state))),
        "known": _take_items(
            _fact_to_fields(fact, state.task.id) for fact in reversed(state.memory.facts) if proven and _is_lasting_fact(fact)
        ),
        "checks": list(islice(_list_passed_checks(state), MAX_CHECKS_PER_TASK)),
    }


def _take_items(items: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    return list(islice(items, MAX_ITEMS_PER_TASK))


def _list_rules(state: State) -> Iterator[dict[str, Any]]:
    """Yield a person's rules that apply beyond the task; a rule without text retracts an earlier one."""
    for fact in reversed(state.memory.facts):
        if fact.kind is FactKind.RULE and fact.scope is not FactScope.TASK:
            owner = USER_JOURNAL if fact.scope is FactScope.USER else state.task.id
            yield {
                "id": make_fact_id(owner, fact),
                "subject": truncate_to_bytes(fact.subject, 50),
                "text": truncate_to_bytes(fact.text, 160),
            }


def _list_decisions(state: State) -> Iterator[dict[str, Any]]:
    """Yield decisions by people: their answers and other decisions."""
    for word in reversed(list_user_statements(state)):
        yield {
            "id": make_fact_id(state.task.id, fact_from_words(word.text)),
            "text": truncate_to_bytes(word.text, 160),
            "asked": truncate_to_bytes(word.question, 60),
        }
    for decision in reversed(state.memory.decisions):
        if decision.by not in (BY_MODEL, BY_HARNESS) and not decision.answer and not decision.waives_sandbox:
            name = make_fact_id(state.task.id, fact_from_decision(decision))
            yield {"id": name, "text": truncate_to_bytes(decision.text, 160), "why": truncate_to_bytes(decision.why, 60)}


def _is_lasting_fact(fact: Fact) -> bool:
    """Return whether a fact is verified or about the whole project; or a confident note of a verified task."""
    if not fact.text or fact.kind not in (FactKind.CHECK, FactKind.NOTE, FactKind.DECISION):
        return False
    return fact.kind is FactKind.CHECK or fact.scope is FactScope.PROJECT or fact.confidence >= 0.8


def _fact_to_fields(fact: Fact, task: str) -> dict[str, Any]:
    first, last = fact.lines
    lines = f":{first}-{last}" if first else ""
    told = {
        "id": make_fact_id(task, fact),
        "subject": truncate_to_bytes(fact.subject, 100),
        "text": truncate_to_bytes(fact.text, 120),
    }
    return {**told, "confidence": fact.confidence, "evidence": f"{fact.block[:12]}{lines}" if fact.block else ""}


def _list_passed_checks(state: State) -> Iterator[dict[str, Any]]:
    """Yield checks that ran completely and passed, each by its last run."""
    runs = (
        *(state.verification.baseline.runs if state.verification.baseline else ()),
        *(state.verification.verdict.runs if state.verification.verdict else ()),
    )
    whole = {run.command: run for run in runs if run.scope == "full"}
    for run in whole.values():
        if run.exit == 0:
            yield {"command": truncate_to_bytes(run.command, 120), "seconds": round(run.seconds, 1), "passed": run.passed}


HistoryFields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """A history line with its raw text."""

    line: HistoryFields
    raw: str


def update_history(
    text: str, known: Mapping[str, State], tickets: Sequence[QueueTicket], load: Callable[[str], State]
) -> tuple[HistoryLine, ...]:
    """Return the lines of `text` in order, with the tasks in `known` updated. Lines that are missing, damaged or disagree
    with the queue are rebuilt."""
    history_lines = {history_line.line["task"]: history_line for history_line in parse_history(text)}
    for task, state in known.items():
        if task not in history_lines or state.head.seq >= history_lines[task].line["seq"]:
            history_lines[task] = history_line_from_state(state)
    over = {ticket.task: ticket.status.value for ticket in tickets if ticket.status.over}
    for task, status in over.items():
        if task not in history_lines or history_lines[task].line["status"] != status:
            history_lines[task] = history_line_from_state(load(task))
    return tuple(history_lines[task] for task in sorted(over))


def parse_history(text: str) -> Iterator[HistoryLine]:
    """Yield the complete lines of the current format."""
    for raw in text.split("\n"):
        try:
            line = json.loads(raw)
        except ValueError:
            continue
        if isinstance(line, dict) and line.get("shape") == LINE_FORMAT_VERSION and isinstance(line.get("task"), str):
            yield HistoryLine(line, raw)


def history_line_from_state(state: State) -> HistoryLine:
    line = summarise_finished_task(state)
    return HistoryLine(line, to_visible_json(line))


def render_history_file(lines: Iterable[HistoryLine]) -> str:
    return "".join(f"{history_line.raw}\n" for history_line in lines)
