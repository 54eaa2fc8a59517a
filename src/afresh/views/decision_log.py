"""The decision log: one JSON line for each choice, question, answer, verdict and end. Lines are only appended. Each names the
question, answer and decision that it follows from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from afresh.core import event as happened
from afresh.core.answer_options import parse_options
from afresh.core.decision import Decision
from afresh.core.event import TAG_BY_EVENT_CLASS, Event, JournalEntry, is_in_decision_log
from afresh.core.state import State
from afresh.core.task import TaskStatus
from afresh.core.text import format_count, to_visible_json
from afresh.core.verdict import Ruling
from afresh.views.task_status import format_time

DecisionLine = Mapping[str, Any]
APPROACH_TYPE = "approach"
BLOCKER_TYPE = "blocker"
OVERRIDE_TYPE = "override"
OUTCOME_TYPE = "outcome"
UPKEEP_TYPE = "upkeep"
WAIVER_SEVERITY = "warning"
"""Severity of decisions that waive the sandbox."""
_ANSWER_DEPTH_LINES = 2
"""Depth of the lines after an answer: the question and the answer."""
_STEP_EVENTS = happened.ReplyReceived | happened.ActionsExecuted | happened.ChangeKeptOrReverted | happened.StepFinished


def render_log_lines(entries: Iterable[JournalEntry], step: int = 0, number: int = 0, under: Sequence[int] = ()) -> Iterator[str]:
    """Render log lines for `entries`, numbered after `number`, during `step` and under the lines `under`."""
    return (to_visible_json(line) + "\n" for line in list_decisions(entries, step, number, under))


def list_decisions(
    entries: Iterable[JournalEntry], step: int = 0, number: int = 0, under: Sequence[int] = ()
) -> Iterator[dict[str, Any]]:
    for entry in entries:
        if isinstance(entry.event, _STEP_EVENTS):
            step = max(step, entry.event.step)
        if is_in_decision_log(entry.event):
            number += 1
            line = _build_line(entry, step, number, under)
            under = find_next_parents(line)
            yield line


def find_next_parents(line: DecisionLine) -> Sequence[int]:
    """Return the line numbers of the next line's parents, outermost first."""
    return [*line["follows"], line["n"]] if is_turning_point(line) else line["follows"]


def is_turning_point(line: DecisionLine) -> bool:
    """Return whether the line changes the course of the task; sandbox waivers and notes of the harness do not."""
    if line["kind"] == "decided":
        return line["by"] != "harness" and line["severity"] != WAIVER_SEVERITY
    return line["kind"] in ("planned", "asked", "answered", "turned", "spoke", "undone")


def _parents_of_line(line: DecisionLine, under: Sequence[int]) -> Sequence[int]:
    """Return a line's parents: a decision follows the last answer, a question nothing, other lines what came before."""
    if not is_turning_point(line) or line["kind"] == "answered":
        return under
    return () if line["kind"] == "asked" else under[: _ANSWER_DEPTH_LINES if len(under) >= _ANSWER_DEPTH_LINES else 0]


def find_step_before(state: State, entries: Sequence[JournalEntry]) -> int:
    """Return the step that was running when `entries`, which led to `state`, began."""
    for entry in entries:
        if isinstance(entry.event, happened.ReplyReceived):
            return entry.event.step - 1
        if isinstance(entry.event, _STEP_EVENTS):
            return entry.event.step
    return max(state.work.step, state.work.pending.step if state.work.pending else 0)


def _build_line(entry: JournalEntry, step: int, number: int, under: Sequence[int]) -> dict[str, Any]:
    said = _describe_event(entry.event)
    line = {
        "n": number,
        "seq": entry.seq,
        "at": format_time(entry.at),
        "step": said.pop("step", step),
        "kind": TAG_BY_EVENT_CLASS[type(entry.event)].lower(),
        **said,
    }
    return line | {"follows": [*_parents_of_line(line, under)], "entry": entry.hash[:16]}


def _describe_event(event: Event) -> dict[str, Any]:
    match event:
        case happened.DecisionMade(decision):
            return _describe_decision(decision)
        case happened.PlanSet(items):
            return _make_fields(APPROACH_TYPE, "model", f"plan: {'; '.join(item.text for item in items)}", "", None)
        case (
            happened.QuestionAsked() | happened.QuestionAnswered() | happened.PersonSpoke() | happened.StepsUndone()
            | happened.RecoveredFromCheckpoint()
        ):  # fmt: skip
            return _describe_exchange(event)
        case happened.ChangeKeptOrReverted() | happened.VerdictReached():
            return _describe_outcome(event) | {"step": event.step}
        case happened.TaskEnded(status, reason, commit):
            severity = {TaskStatus.FAILED: "error", TaskStatus.BLOCKED: "blocker"}.get(status, "info")
            kind = BLOCKER_TYPE if status is TaskStatus.BLOCKED else OUTCOME_TYPE
            return _make_fields(kind, "harness", f"{status.value} {commit[:12]}".strip(), reason, 1.0, severity)
        case (
            happened.CeilingChanged() | happened.CheckpointWritten() | happened.CeilingBreached() | happened.UsageReportDoubted()
            | happened.MemoryCompacted() | happened.StallNoticed() | happened.StrategyChanged() | happened.ReserveChanged()
            | happened.ChangeReviewed()
        ):  # fmt: skip
            return _describe_upkeep(event) | {"step": event.step}
        case _:
            raise AssertionError(f"{TAG_BY_EVENT_CLASS[type(event)]} has no line in the log")


def _describe_decision(made: Decision) -> dict[str, Any]:
    type = {"model": APPROACH_TYPE, "harness": UPKEEP_TYPE}.get(made.by, OVERRIDE_TYPE)
    sure = made.confidence if made.confidence is not None or made.by == "model" else 1.0
    severity = WAIVER_SEVERITY if made.waives_sandbox else "info"
    subject = {"subject": made.subject} if made.subject else {"said in block": made.said[:12]} if made.said else {}
    return _make_fields(type, made.by, made.text, made.why, sure, severity) | {"step": made.step, **subject}


def _describe_recovery(event: happened.RecoveredFromCheckpoint) -> dict[str, Any]:
    text = f"recovered from the checkpoint after step {event.step}"
    why = f"steps {event.step + 1} to {event.left_step} do not count any more; their tree is snapshot {event.left_snapshot[:12]}"
    return _make_fields(OVERRIDE_TYPE, "person", text, why, 1.0) | _name_person(event.by)


def _describe_exchange(
    event: happened.QuestionAsked
    | happened.QuestionAnswered
    | happened.PersonSpoke
    | happened.StepsUndone
    | happened.RecoveredFromCheckpoint,
) -> dict[str, Any]:
    """Describe a question, its answer or a message. Answers are always a person's, whatever the name."""
    if isinstance(event, happened.RecoveredFromCheckpoint):
        return _describe_recovery(event)
    if isinstance(event, happened.PersonSpoke):
        return _make_fields(
            OVERRIDE_TYPE, "person", event.text, "a new direction" if event.redirects else "", 1.0
        ) | _name_person(event.by)
    if isinstance(event, happened.StepsUndone):
        return _make_fields(OVERRIDE_TYPE, "person", f"undone: all from step {event.step} on", event.why, 1.0) | _name_person(
            event.by
        )
    if isinstance(event, happened.QuestionAsked):
        options = [{"option": one.name, "means": one.means} for one in parse_options(event.options)]
        return _make_fields(BLOCKER_TYPE, event.by, event.question, "", None, "blocker") | (
            {"options": options} if options else {}
        )
    return (
        _make_fields(OVERRIDE_TYPE, "person", event.text, "", 1.0)
        | _name_person(event.by)
        | ({"option": event.option} if event.option else {})
    )


def _describe_outcome(event: happened.ChangeKeptOrReverted | happened.VerdictReached) -> dict[str, Any]:
    """Describe the result of a step."""
    if isinstance(event, happened.VerdictReached):
        severity = "info" if event.verdict.ruling is Ruling.PASS else "error"
        return _make_fields(OUTCOME_TYPE, "harness", event.verdict.ruling.value, event.verdict.reason, 1.0, severity)
    change = "reverted" if not event.kept else "put back" if not event.worked else "kept" if event.hunks or event.why else "none"
    done = "nothing changed in this step" if change == "none" else change
    severity = "warning" if change == "reverted" else "info"
    text = f"{done}; {format_count(len(event.changed), 'file')} changed since the base"
    return _make_fields(OUTCOME_TYPE, "harness", text, event.why, 1.0, severity) | {"change": change}


def _name_person(by: str) -> dict[str, Any]:
    return {"who": by} if by != "person" else {}


_UpkeepEvent = (
    happened.CeilingChanged
    | happened.CheckpointWritten
    | happened.CeilingBreached
    | happened.UsageReportDoubted
    | happened.MemoryCompacted
    | happened.StrategyChanged
    | happened.StallNoticed
    | happened.ReserveChanged
    | happened.ChangeReviewed
)


def _describe_upkeep(event: _UpkeepEvent) -> dict[str, Any]:
    """Describe what the harness did or found by itself."""
    match event:
        case happened.CeilingChanged() | happened.ReserveChanged():
            return _make_fields(UPKEEP_TYPE, "harness", _describe_budget_change(event), event.reason, 1.0)
        case happened.CheckpointWritten(_, reason):
            return _make_fields(UPKEEP_TYPE, "harness", "checkpoint", reason, 1.0)
        case happened.StallNoticed(_, sign, rung, evidence):
            text = f"no progress ({sign}): {rung.value or 'no longer'}"
            return _make_fields(UPKEEP_TYPE, "harness", text, evidence, 1.0, "warning" if rung.value else "info")
        case happened.StrategyChanged(_, loop, why):
            return _make_fields(APPROACH_TYPE, "harness", f"another way: {loop}", why, 1.0, "warning")
        case happened.ChangeReviewed():
            return _make_fields(UPKEEP_TYPE, "model", f"reviewed {event.subject}: {event.how}", event.told, 1.0)
        case happened.MemoryCompacted():
            text = f"memory compacted: {format_count(len(event.gone), 'passage')} put away"
            return _make_fields(UPKEEP_TYPE, "model" if event.by == "agent" else "harness", text, event.note, 1.0)
        case _:
            return _describe_token_report(event)


def _describe_budget_change(event: happened.CeilingChanged | happened.ReserveChanged) -> str:
    if isinstance(event, happened.ReserveChanged):
        return f"{event.share:.0%} of the limit kept for the reply" if event.share else "as much kept for the reply as usual"
    return f"limit {event.before:,} → {event.budget:,}" if event.budget != event.before else f"limit stays at {event.budget:,}"


def _describe_token_report(event: happened.CeilingBreached | happened.UsageReportDoubted) -> dict[str, Any]:
    figures = f"{event.reported:,} tokens reported, {event.estimated:,} estimated"
    if isinstance(event, happened.UsageReportDoubted):
        return _make_fields(UPKEEP_TYPE, "harness", "usage report not believed", figures, 1.0, "warning")
    why = f"{figures}, and {event.reserve:,} kept for the reply"
    return _make_fields(UPKEEP_TYPE, "harness", f"over the limit of {event.budget:,}", why, 1.0, "warning")


def _make_fields(type: str, by: str, text: str, why: str, confidence: float | None, severity: str = "info") -> dict[str, Any]:
    """Make the fields of a line; confidence is null if none was stated."""
    return {"type": type, "by": by, "text": text, "why": why, "confidence": confidence, "severity": severity}
