"""What an event was, in words: the decision log, lines of progress, the web timeline and editors draw from here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from afresh.core import event as happened
from afresh.core.action import describe_action
from afresh.core.answer_options import parse_options
from afresh.core.decision import Decision
from afresh.core.event import Event
from afresh.core.progress_event import (
    ActionBegan,
    BaselineRunBegan,
    CallBegan,
    CallDelayed,
    CheckBegan,
    CheckScope,
    ProgressEvent,
    ReplyStreamed,
    WorkNotice,
)
from afresh.core.spending import CallPurpose
from afresh.core.task import TaskStatus
from afresh.core.text import format_count
from afresh.core.truncate import to_one_line
from afresh.core.verdict import Ruling

APPROACH_TYPE = "approach"
BLOCKER_TYPE = "blocker"
OVERRIDE_TYPE = "override"
OUTCOME_TYPE = "outcome"
UPKEEP_TYPE = "upkeep"
WAIVER_SEVERITY = "warning"
"""Severity of decisions that waive the sandbox."""
MAX_LINE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Happening:
    """What happened, who did it and why. `step`: None if it belongs to the step that was running."""

    text: str
    why: str = ""
    by: str = "harness"
    type: str = UPKEEP_TYPE
    severity: str = "info"
    confidence: float | None = 1.0
    """None if none was stated."""
    step: int | None = None
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    lead: str = ""
    """How its line of progress begins: what was said follows, and no reason."""

    @property
    def line(self) -> str:
        why = f": {to_one_line(self.why, MAX_LINE_CHARACTERS)}" if self.why and not self.lead else ""
        return f"{self.lead}{to_one_line(self.text, MAX_LINE_CHARACTERS)}{why}"


def describe_event(event: Event) -> Happening | None:
    """Return what an event was; None for one that stands in no log."""
    describe = DESCRIPTIONS.get(type(event))
    return describe(event) if describe else None


def _by_person(event: Any, text: str, why: str = "", lead: str = "", **more: Any) -> Happening:
    """What a person did is always a person's, whatever the name."""
    more |= {"who": event.by} if event.by != "person" else {}
    return Happening(text, why, "person", OVERRIDE_TYPE, more=more, lead=lead)


def _describe_decision(decision: Decision) -> Happening:
    type = {"model": APPROACH_TYPE, "harness": UPKEEP_TYPE}.get(decision.by, OVERRIDE_TYPE)
    sure = decision.confidence if decision.confidence is not None or decision.by == "model" else 1.0
    subject = (
        {"subject": decision.subject} if decision.subject else {"said in block": decision.said[:12]} if decision.said else {}
    )
    return Happening(
        decision.text,
        decision.why,
        decision.by,
        type,
        WAIVER_SEVERITY if decision.waives_sandbox else "info",
        sure,
        decision.step,
        subject,
    )


def _describe_keeping(event: happened.ChangeKeptOrReverted) -> Happening:
    change = "reverted" if not event.kept else "put back" if not event.worked else "kept" if event.hunks or event.why else "none"
    done = "nothing changed in this step" if change == "none" else change
    text = f"{done}; {format_count(len(event.changed), 'file')} changed since the base"
    severity = "warning" if change == "reverted" else "info"
    return Happening(text, event.why, type=OUTCOME_TYPE, severity=severity, step=event.step, more={"change": change})


def _describe_end(event: happened.TaskEnded) -> Happening:
    type = BLOCKER_TYPE if event.status is TaskStatus.BLOCKED else OUTCOME_TYPE
    severity = {TaskStatus.FAILED: "error", TaskStatus.BLOCKED: "blocker"}.get(event.status, "info")
    return Happening(f"{event.status.value} {event.commit[:12]}".strip(), event.reason, type=type, severity=severity)


def _describe_question(event: happened.QuestionAsked) -> Happening:
    options = [{"option": option.name, "means": option.means} for option in parse_options(event.options)]
    more = {"options": options} if options else {}
    return Happening(event.question, "", event.by, BLOCKER_TYPE, "blocker", None, more=more, lead="asks: ")


def _describe_ceiling(event: happened.CeilingChanged) -> Happening:
    same = event.budget == event.before
    text = f"token limit stays at {event.budget:,}" if same else f"token limit {event.before:,} → {event.budget:,}"
    return Happening(text, event.reason, step=event.step)


def _describe_recovery(event: happened.RecoveredFromCheckpoint) -> Happening:
    why = f"steps {event.step + 1} to {event.left_step} do not count any more; their tree is snapshot {event.left_snapshot[:12]}"
    return _by_person(event, f"recovered from the checkpoint after step {event.step}", why)


def _describe_count(event: happened.CeilingBreached | happened.UsageReportDoubted, text: str, more: str = "") -> Happening:
    figures = f"{event.reported:,} tokens reported, {event.estimated:,} estimated{more}"
    return Happening(text, figures, severity="warning", step=event.step)


DESCRIPTIONS: Mapping[type, Callable[[Any], Happening]] = {
    happened.DecisionMade: lambda it: _describe_decision(it.decision),
    happened.PlanSet: lambda it: Happening(
        f"plan: {'; '.join(item.text for item in it.items)}", by="model", type=APPROACH_TYPE, confidence=None
    ),
    happened.QuestionAsked: _describe_question,
    happened.QuestionAnswered: lambda it: _by_person(
        it, it.text, lead="answered: ", **({"option": it.option} if it.option else {})
    ),
    happened.PersonSpoke: lambda it: _by_person(
        it, it.text, "a new direction" if it.redirects else "", "new direction: " if it.redirects else "said: "
    ),
    happened.StepsUndone: lambda it: _by_person(it, f"undone: all from step {it.step} on", it.why),
    happened.RecoveredFromCheckpoint: _describe_recovery,
    happened.ChangeKeptOrReverted: _describe_keeping,
    happened.VerdictReached: lambda it: Happening(
        it.verdict.ruling.value, it.verdict.reason, type=OUTCOME_TYPE, step=it.step,
        severity="info" if it.verdict.ruling is Ruling.PASS else "error",
    ),
    happened.TaskEnded: _describe_end,
    happened.CeilingChanged: _describe_ceiling,
    happened.CeilingBreached: lambda it: _describe_count(
        it, f"over the limit of {it.budget:,}", f", and {it.reserve:,} kept for the reply"
    ),
    happened.UsageReportDoubted: lambda it: _describe_count(it, "usage report not believed"),
    happened.CheckpointWritten: lambda it: Happening("checkpoint", it.reason, step=it.step),
    happened.MemoryCompacted: lambda it: Happening(
        f"older steps summarised: {format_count(len(it.gone), 'passage')} archived", it.note,
        "model" if it.by == "agent" else "harness", step=it.step,
    ),
    happened.StrategyChanged: lambda it: Happening(
        f"another way: {it.loop}", it.why, type=APPROACH_TYPE, severity="warning", step=it.step
    ),
    happened.StallNoticed: lambda it: Happening(
        f"no progress ({it.sign}): {it.rung.value or 'no longer'}", it.evidence, step=it.step,
        severity="warning" if it.rung.value else "info",
    ),
    happened.ChangeReviewed: lambda it: Happening(
        f"review of the change of {it.subject}: {it.how}", it.told, "model", step=it.step
    ),
}  # fmt: skip
"""One row an event of the decision log."""

WORDS_BY_PURPOSE = {
    CallPurpose.SUMMARY: " to summarise older steps",
    CallPurpose.MEMORY: " to write down a lesson",
    CallPurpose.REVIEW: " to say whether you asked for a change of a test",
}
WORDS_BY_SCOPE = {
    CheckScope.BASELINE: "running the checks before the first change",
    CheckScope.CHANGE: "running the tests affected by the change",
    CheckScope.COMPLETION: "running every check",
}


def describe_progress_event(event: ProgressEvent) -> str:
    """Describe what is done right now in one line; empty if the last description still applies."""
    match event:
        case CallBegan(model, purpose):
            return f"waiting for {model}{WORDS_BY_PURPOSE.get(purpose, '')}"
        case ReplyStreamed(model, text, characters) if characters == len(text):
            return f"{model} is writing"
        case CallDelayed(text) | WorkNotice(text):
            return text
        case ActionBegan(action):
            return describe_action(action)
        case CheckBegan(scope):
            return WORDS_BY_SCOPE[scope]
        case BaselineRunBegan(command, number, runs):
            why = f"run {number} of {runs}, to find flaky tests" if runs > 1 else "one run"
            return f"{to_one_line(command, 60)} before the first change ({why})"
        case _:
            return ""
