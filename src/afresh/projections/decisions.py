"""The decision log: one JSON line for each choice, question, answer, verdict and end. Lines are only ever added, and each says
in the course of which question, answer and decision it came, so that what followed from one is found in the lines after it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from afresh.domain import event as happened
from afresh.domain.event import TAGS, Entry, Event, logged
from afresh.domain.fact import UNCONFINED, Decision
from afresh.domain.option import offered
from afresh.domain.state import State
from afresh.domain.task import Status
from afresh.domain.text import visible_json
from afresh.domain.verdict import Ruling
from afresh.projections.standing import counted, iso

Line = Mapping[str, Any]
APPROACH = "approach"
BLOCKER = "blocker"
OVERRIDE = "override"
OUTCOME = "outcome"
UPKEEP = "upkeep"
_ANSWER = 2
"""Lines in whose course the work after an answer is: the question and the answer."""
_STEPPED = happened.Replied | happened.Acted | happened.Settled | happened.Finished


def lines(entries: Iterable[Entry], step: int = 0, number: int = 0, under: Sequence[int] = ()) -> Iterator[str]:
    """The log's lines for `entries`, which follow after `number` lines, in the course of `step` and of the lines `under`."""
    return (visible_json(line) + "\n" for line in told(entries, step, number, under))


def told(entries: Iterable[Entry], step: int = 0, number: int = 0, under: Sequence[int] = ()) -> Iterator[dict[str, Any]]:
    for entry in entries:
        if isinstance(entry.event, _STEPPED):
            step = max(step, entry.event.step)
        if logged(entry.event):
            number += 1
            line = _line(entry, step, number, under)
            under = leads(line)
            yield line


def leads(line: Line) -> Sequence[int]:
    """In the course of what the next line comes: numbers of lines, the outermost first."""
    return [*line["follows"], line["n"]] if opens(line) else line["follows"]


def opens(line: Line) -> bool:
    """A waiver of the sandbox comes with every start, and notes of the harness are no turn in the work."""
    if line["kind"] == "decided":
        return line["by"] != "harness" and line["text"] != UNCONFINED
    return line["kind"] in ("planned", "asked", "answered", "turned", "spoke", "undone")


def _follows(line: Line, under: Sequence[int]) -> Sequence[int]:
    """A decision comes in the course of the last answer, a question of nothing, anything else of what came before it."""
    if not opens(line) or line["kind"] == "answered":
        return under
    return () if line["kind"] == "asked" else under[: _ANSWER if len(under) >= _ANSWER else 0]


def step_before(state: State, entries: Sequence[Entry]) -> int:
    """The step that was under way when `entries`, which led to `state`, began."""
    for entry in entries:
        if isinstance(entry.event, happened.Replied):
            return entry.event.step - 1
        if isinstance(entry.event, _STEPPED):
            return entry.event.step
    return max(state.step, state.pending.step if state.pending else 0)


def _line(entry: Entry, step: int, number: int, under: Sequence[int]) -> dict[str, Any]:
    said = _said(entry.event)
    line = {
        "n": number,
        "seq": entry.seq,
        "at": iso(entry.at),
        "step": said.pop("step", step),
        "kind": TAGS[type(entry.event)].lower(),
        **said,
    }
    return line | {"follows": [*_follows(line, under)], "entry": entry.hash[:16]}


def _said(event: Event) -> dict[str, Any]:
    match event:
        case happened.Decided(decision):
            return _decided(decision)
        case happened.Planned(items):
            return _says(APPROACH, "model", f"plan: {'; '.join(item.text for item in items)}", "", None)
        case happened.Asked() | happened.Answered() | happened.Spoke() | happened.Undone():
            return _between(event)
        case happened.Settled() | happened.Verified():
            return _tried(event) | {"step": event.step}
        case happened.Ended(status, reason, commit):
            severity = {Status.FAILED: "error", Status.BLOCKED: "blocker"}.get(status, "info")
            kind = BLOCKER if status is Status.BLOCKED else OUTCOME
            return _says(kind, "harness", f"{status.value} {commit[:12]}".strip(), reason, 1.0, severity)
        case (
            happened.Rebudgeted() | happened.Checkpointed() | happened.Breached() | happened.Doubted() | happened.Compacted()
            | happened.Noticed()
            | happened.Turned() | happened.Reserved()
        ):  # fmt: skip
            return _kept_up(event) | {"step": event.step}
        case _:
            raise AssertionError(f"{TAGS[type(event)]} has no line in the log")


def _decided(made: Decision) -> dict[str, Any]:
    type = {"model": APPROACH, "harness": UPKEEP}.get(made.by, OVERRIDE)
    sure = made.confidence if made.confidence is not None or made.by == "model" else 1.0
    severity = "warning" if made.text == UNCONFINED else "info"
    subject = {"subject": made.subject} if made.subject else {}
    return _says(type, made.by, made.text, made.why, sure, severity) | {"step": made.step, **subject}


def _between(event: happened.Asked | happened.Answered | happened.Spoke | happened.Undone) -> dict[str, Any]:
    """A question and its answer, or a person's word unasked. Whatever their name, it is a person who answers."""
    if isinstance(event, happened.Spoke):
        return _says(OVERRIDE, "person", event.text, "a new direction" if event.redirects else "", 1.0) | _named(event.by)
    if isinstance(event, happened.Undone):
        return _says(OVERRIDE, "person", f"undone: all from step {event.step} on", event.why, 1.0) | _named(event.by)
    if isinstance(event, happened.Asked):
        options = [{"option": one.name, "means": one.means} for one in offered(event.options)]
        return _says(BLOCKER, event.by, event.question, "", None, "blocker") | ({"options": options} if options else {})
    return _says(OVERRIDE, "person", event.text, "", 1.0) | _named(event.by) | ({"option": event.option} if event.option else {})


def _tried(event: happened.Settled | happened.Verified) -> dict[str, Any]:
    """What came of a step."""
    if isinstance(event, happened.Verified):
        severity = "info" if event.verdict.ruling is Ruling.PASS else "error"
        return _says(OUTCOME, "harness", event.verdict.ruling.value, event.verdict.reason, 1.0, severity)
    change = "reverted" if not event.kept else "kept" if event.hunks or event.why else "none"
    done = "nothing changed in this step" if change == "none" else change
    severity = "warning" if change == "reverted" else "info"
    text = f"{done}; {counted(len(event.changed), 'file')} changed since the base"
    return _says(OUTCOME, "harness", text, event.why, 1.0, severity) | {"change": change}


def _named(by: str) -> dict[str, Any]:
    return {"who": by} if by != "person" else {}


_KeptUp = (
    happened.Rebudgeted
    | happened.Checkpointed
    | happened.Breached
    | happened.Doubted
    | happened.Compacted
    | happened.Turned
    | happened.Noticed
    | happened.Reserved
)


def _kept_up(event: _KeptUp) -> dict[str, Any]:
    """What the harness did or found by itself."""
    match event:
        case happened.Rebudgeted() | happened.Reserved():
            return _says(UPKEEP, "harness", _given(event), event.reason, 1.0)
        case happened.Checkpointed(_, reason):
            return _says(UPKEEP, "harness", "checkpoint", reason, 1.0)
        case happened.Noticed(_, sign, rung, evidence):
            text = f"no progress ({sign}): {rung.value or 'no longer'}"
            return _says(UPKEEP, "harness", text, evidence, 1.0, "warning" if rung.value else "info")
        case happened.Turned(_, loop, why):
            return _says(APPROACH, "harness", f"another way: {loop}", why, 1.0, "warning")
        case happened.Compacted():
            text = f"memory compacted: {counted(len(event.gone), 'passage')} put away"
            return _says(UPKEEP, "model" if event.by == "agent" else "harness", text, event.note, 1.0)
        case _:
            return _counted(event)


def _given(event: happened.Rebudgeted | happened.Reserved) -> str:
    if isinstance(event, happened.Reserved):
        return f"{event.share:.0%} of the ceiling kept for the reply" if event.share else "as much kept for the reply as usual"
    return (
        f"ceiling {event.before:,} → {event.budget:,}" if event.budget != event.before else f"ceiling stays at {event.budget:,}"
    )


def _counted(event: happened.Breached | happened.Doubted) -> dict[str, Any]:
    figures = f"{event.reported:,} tokens reported, {event.estimated:,} estimated"
    if isinstance(event, happened.Doubted):
        return _says(UPKEEP, "harness", "usage report not believed", figures, 1.0, "warning")
    why = f"{figures}, and {event.reserve:,} kept for the reply"
    return _says(UPKEEP, "harness", f"over the ceiling of {event.budget:,}", why, 1.0, "warning")


def _says(type: str, by: str, text: str, why: str, confidence: float | None, severity: str = "info") -> dict[str, Any]:
    """Confidence is null where nobody has stated one."""
    return {"type": type, "by": by, "text": text, "why": why, "confidence": confidence, "severity": severity}
