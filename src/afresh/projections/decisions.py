"""The decision log: one JSON line for each choice, question, answer, verdict and end. Lines are only ever added."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from afresh.domain import event as happened
from afresh.domain.event import Entry, Event, logged
from afresh.domain.fact import UNCONFINED
from afresh.domain.state import State
from afresh.domain.task import Status
from afresh.domain.text import visible_json
from afresh.domain.verdict import Ruling
from afresh.projections.standing import counted, iso

_STEPPED = happened.Replied | happened.Acted | happened.Settled | happened.Finished


def lines(entries: Iterable[Entry], step: int = 0, number: int = 0) -> Iterator[str]:
    """The log's lines for `entries`, which follow after `number` lines and in the course of `step`."""
    for entry in entries:
        if isinstance(entry.event, _STEPPED):
            step = max(step, entry.event.step)
        if logged(entry.event):
            number += 1
            yield visible_json(_line(entry, step, number)) + "\n"


def step_before(state: State, entries: Sequence[Entry]) -> int:
    """The step that was under way when `entries`, which led to `state`, began."""
    for entry in entries:
        if isinstance(entry.event, happened.Replied):
            return entry.event.step - 1
        if isinstance(entry.event, _STEPPED):
            return entry.event.step
    return max(state.step, state.pending.step if state.pending else 0)


def _line(entry: Entry, step: int, number: int) -> dict[str, Any]:
    told = _told(entry.event)
    return {
        "n": number,
        "seq": entry.seq,
        "at": iso(entry.at),
        "step": told.pop("step", step),
        "kind": type(entry.event).__name__.lower(),
        **told,
        "entry": entry.hash[:16],
    }


def _told(event: Event) -> dict[str, Any]:
    match event:
        case happened.Decided(decision):
            sure = None if decision.by == "model" else 1.0
            severity = "warning" if decision.text == UNCONFINED else "info"
            return _says(decision.by, decision.text, decision.why, sure, severity) | {"step": decision.step}
        case happened.Asked(question, options):
            return _says("model", question, f"options: {'; '.join(options)}" if options else "", None, "blocker")
        case happened.Answered(text, by):
            return _says(by, text, "", 1.0, "override")
        case (
            happened.Settled() | happened.Rebudgeted() | happened.Checkpointed()
            | happened.Breached() | happened.Doubted() | happened.Compacted()
        ):  # fmt: skip
            return _done(event) | {"step": event.step}
        case happened.Verified(step, verdict):
            severity = "info" if verdict.ruling is Ruling.PASS else "error"
            return _says("harness", verdict.ruling.value, verdict.reason, 1.0, severity) | {"step": step}
        case happened.Ended(status, reason, commit):
            severity = {Status.FAILED: "error", Status.BLOCKED: "blocker"}.get(status, "info")
            return _says("harness", f"{status.value} {commit[:12]}".strip(), reason, 1.0, severity)
        case _:
            raise AssertionError(f"{type(event).__name__} has no line in the log")


_Done = happened.Settled | happened.Rebudgeted | happened.Checkpointed | happened.Breached | happened.Doubted | happened.Compacted


def _done(event: _Done) -> dict[str, Any]:
    """What the harness did or found by itself."""
    match event:
        case happened.Settled():
            return _settled(event)
        case happened.Rebudgeted(_, before, budget, reason):
            text = f"ceiling {before:,} → {budget:,}" if budget != before else f"ceiling stays at {budget:,}"
            return _says("harness", text, reason, 1.0)
        case happened.Checkpointed(_, reason):
            return _says("harness", "checkpoint", reason, 1.0)
        case happened.Compacted():
            passages = counted(len(event.gone), "passage")
            return _says("model" if event.by == "agent" else "harness", f"memory compacted: {passages} put away", event.note, 1.0)
        case _:
            return _counted(event)


def _settled(event: happened.Settled) -> dict[str, Any]:
    done = "kept" if event.kept else "reverted"
    severity = "info" if event.kept else "warning"
    return _says("harness", f"{done}; {counted(len(event.changed), 'file')} changed since the base", event.why, 1.0, severity)


def _counted(event: happened.Breached | happened.Doubted) -> dict[str, Any]:
    figures = f"{event.reported:,} tokens reported, {event.estimated:,} estimated"
    if isinstance(event, happened.Doubted):
        return _says("harness", "usage report not believed", figures, 1.0, "warning")
    why = f"{figures}, and {event.reserve:,} kept for the reply"
    return _says("harness", f"over the ceiling of {event.budget:,}", why, 1.0, "warning")


def _says(by: str, text: str, why: str, confidence: float | None, severity: str = "info") -> dict[str, Any]:
    """Confidence is null where nobody has stated one."""
    return {"by": by, "text": text, "why": why, "confidence": confidence, "severity": severity}
