"""What one finished task leaves behind for the project, as plain values on one line of `history.jsonl`. Bounded, newest first."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from afresh.domain.fact import UNCONFINED, Fact, FactKind, Scope
from afresh.domain.known import HARNESS, MODEL, decided, fact_id, said
from afresh.domain.notes import USER
from afresh.domain.said import words_said
from afresh.domain.state import State
from afresh.domain.task import Status
from afresh.projections.fit import short
from afresh.projections.standing import failed_approaches

SHAPE = 1
"""Of the line: one of another shape is made again from the journal."""
ITEMS = 8
PATHS = 60
CHECKS = 6
PROVEN = Status.DONE, Status.APPLIED
"""Ends that say that what the task found out held, and that its changes are good."""


def legacy(state: State) -> dict[str, Any]:
    proven = state.status in PROVEN
    return {
        "task": state.task.id,
        "shape": SHAPE,
        "seq": state.head.seq,
        "status": state.status.value,
        "verdict": state.verdict.ruling.value if state.verdict else None,
        "ended": state.updated,
        "type": short(state.task.type, 40),
        "goal": short(state.task.goal, 120),
        "outcome": short(state.outcome, 120),
        "commit": state.commit[:12],
        "steps": state.step,
        "calls": state.calls,
        "input": state.usage.input,
        "output": state.usage.output,
        "kept": state.kept,
        "reverted": state.reverted,
        "changed": [short(path, 100) for path in state.changed[:PATHS]] if proven else [],
        "rules": _some(_rules(state)),
        "decisions": _some(_decisions(state)),
        "failed": _some(_told(fact, state.task.id) for fact in reversed(failed_approaches(state))),
        "known": _some(_told(fact, state.task.id) for fact in reversed(state.facts) if proven and _known(fact)),
        "checks": list(islice(_checks(state), CHECKS)),
    }


def _some(items: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    return list(islice(items, ITEMS))


def _rules(state: State) -> Iterator[dict[str, Any]]:
    """A person's words that hold beyond the task; one without text takes back what was said before."""
    for fact in reversed(state.facts):
        if fact.kind is FactKind.RULE and fact.scope is not Scope.TASK:
            owner = USER if fact.scope is Scope.USER else state.task.id
            yield {"id": fact_id(owner, fact), "subject": short(fact.subject, 50), "text": short(fact.text, 160)}


def _decisions(state: State) -> Iterator[dict[str, Any]]:
    """By persons: their answers, and what they decided beside them."""
    for word in reversed(words_said(state)):
        yield {"id": fact_id(state.task.id, said(word.text)), "text": short(word.text, 160), "asked": short(word.question, 60)}
    for made in reversed(state.decisions):
        if made.by not in (MODEL, HARNESS) and not made.answer and made.text != UNCONFINED:
            name = fact_id(state.task.id, decided(made))
            yield {"id": name, "text": short(made.text, 160), "why": short(made.why, 60)}


def _known(fact: Fact) -> bool:
    """Verified or meant for the whole project; notes of a task that was verified, as far as whoever wrote them was sure."""
    if not fact.text or fact.kind not in (FactKind.VERIFIED, FactKind.NOTE, FactKind.DECISION):
        return False
    return fact.kind is FactKind.VERIFIED or fact.scope is Scope.PROJECT or fact.confidence >= 0.8


def _told(fact: Fact, task: str) -> dict[str, Any]:
    first, last = fact.lines
    lines = f":{first}-{last}" if first else ""
    told = {"id": fact_id(task, fact), "subject": short(fact.subject, 100), "text": short(fact.text, 120)}
    return {**told, "confidence": fact.confidence, "evidence": f"{fact.block[:12]}{lines}" if fact.block else ""}


def _checks(state: State) -> Iterator[dict[str, Any]]:
    """Those that were run whole and passed, each by its last run."""
    runs = (*(state.baseline.runs if state.baseline else ()), *(state.verdict.runs if state.verdict else ()))
    whole = {run.command: run for run in runs if run.scope == "full"}
    for run in whole.values():
        if run.exit == 0:
            yield {"command": short(run.command, 120), "seconds": round(run.seconds, 1), "passed": run.passed}
