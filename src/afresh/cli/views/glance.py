"""What progress shows of a run: a value that every commit makes anew."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from afresh.domain import event as happened
from afresh.domain.action import Action, Observation, subject
from afresh.domain.event import Entry
from afresh.domain.state import State
from afresh.domain.text import one_line
from afresh.projections.standing import tally

LINES = 6


@dataclass(frozen=True, slots=True)
class Line:
    """One line about a step or a turn of the task. `mark` is ✓, ✗ or •."""

    mark: str
    text: str
    step: int = 0


@dataclass(frozen=True, slots=True)
class Glance:
    since: float
    state: State | None = None
    doing: str = ""
    action: str = ""
    step: int = 0
    tokens: int = 0
    budget: int = 0
    reserve: int = 0
    cost: str = ""
    """The money that the task took; empty where nobody pays."""
    lines: tuple[Line, ...] = ()
    """The last few."""


def look(glance: Glance, state: State, entries: Sequence[Entry]) -> tuple[Glance, tuple[Line, ...]]:
    """The glance after a commit, and the lines that are new."""
    if glance.state and glance.state.task.id != state.task.id:
        glance = Glance(glance.since, lines=glance.lines)
    kept_before = glance.state.kept if glance.state else None
    new = _lines(state, [entry.event for entry in entries], kept_before)
    for entry in entries:
        match entry.event:
            case happened.Requested(step, audit):
                glance = replace(glance, step=step, tokens=audit.tokens, budget=audit.budget, reserve=audit.reserve)
            case happened.Replied(step, reply):
                glance = replace(glance, step=step, action=actions_words(reply.actions))
            case _:
                pass
    return replace(glance, state=state, doing="", lines=(*glance.lines, *new)[-LINES:]), new


def actions_words(actions: Sequence[Action]) -> str:
    if not actions:
        return "no action"
    first = f"{actions[0].tool} {subject(actions[0])}".strip()
    return first if len(actions) == 1 else f"{first} and {len(actions) - 1} more"


def progress_json(glance: Glance) -> dict[str, Any]:
    state = glance.state
    return {
        "task": state.task.id if state else None,
        "phase": state.phase if state else None,
        "step": glance.step,
        "max_steps": state.limit if state else None,
        "tokens": glance.tokens,
        "budget": glance.budget,
        "reserve": glance.reserve,
        "cost": glance.cost,
        "action": glance.action,
        "doing": glance.doing,
        "lines": [{"step": line.step, "mark": line.mark, "text": line.text} for line in glance.lines],
    }


def _lines(state: State, events: Sequence[happened.Event], kept_before: int | None) -> tuple[Line, ...]:
    lines: list[Line] = []
    for event in events:
        match event:
            case happened.Claimed() if not any(isinstance(one, happened.Answered) for one in events):
                lines.append(Line("•", f"{state.task.id}: {one_line(state.task.goal, 100)}"))
            case happened.Opened(note=note) if note:
                lines.append(Line("•", one_line(note, 300)))
            case happened.Baselined(baseline):
                flaky = f", {len(baseline.flaky)} flaky" if baseline.flaky else ""
                lines.append(
                    Line("•", f"before the first change: {tally(baseline.runs).words if baseline.runs else 'no checks'}{flaky}")
                )
            case happened.Finished(step, outcome):
                lines.append(_step_line(step, outcome, events, kept_before is None or state.kept > kept_before))
            case (
                happened.Rebudgeted() | happened.Reserved() | happened.Compacted() | happened.Turned() | happened.Spoke()
                | happened.Undone()
            ):  # fmt: skip
                lines += _between(event)
            case happened.Asked(question):
                lines.append(Line("•", f"asks: {one_line(question, 200)}"))
            case happened.Answered(text):
                lines.append(Line("•", f"answered: {one_line(text, 200)}"))
            case happened.Ended(status, reason):
                asked = any(isinstance(one, happened.Asked) and one.question in reason for one in events)
                told = "until you answer" if asked else one_line(reason, 200)
                lines.append(Line("✗" if status.value == "failed" else "•", f"{status.value}: {told}"))
            case _:
                pass
    return tuple(lines)


def _between(
    event: happened.Rebudgeted | happened.Reserved | happened.Compacted | happened.Turned | happened.Spoke | happened.Undone,
) -> list[Line]:
    """What was done before the next step: to make room, or to go another way."""
    if isinstance(event, happened.Turned | happened.Spoke | happened.Undone):
        return [_guided(event)]
    if isinstance(event, happened.Reserved):
        kept = f"{event.share:.0%} of the ceiling" if event.share else "as usual"
        return [Line("•", f"room for the reply: {kept}; {one_line(event.reason, 200)}")]
    if isinstance(event, happened.Compacted):
        note = f"; {one_line(event.note, 200)}" if event.note else ""
        return [Line("•", f"memory compacted: {len(event.gone):,} passages put away{note}")]
    if event.budget == event.before:
        return []
    return [Line("•", f"ceiling {event.before:,} → {event.budget:,}: {one_line(event.reason, 200)}")]


def _guided(event: happened.Turned | happened.Spoke | happened.Undone) -> Line:
    match event:
        case happened.Turned(_, loop, why):
            return Line("•", f"another way ({loop.replace('_', '-')}): {one_line(why, 200)}")
        case happened.Spoke(text):
            return Line("•", f"{'new direction' if event.redirects else 'said'}: {one_line(text, 200)}")
        case happened.Undone(step):
            return Line("•", f"undone: all from step {step} on")


def _step_line(step: int, outcome: str, events: Sequence[happened.Event], changed: bool) -> Line:
    seen: tuple[Observation, ...] = ()
    fate, good = outcome, True
    tests = ""
    for event in events:
        match event:
            case happened.Acted(_, observations):
                seen = observations
            case happened.Verified(_, verdict) if verdict.runs:
                tests = f", {tally(verdict.runs).words}"
            case happened.Settled(kept=False, why=why):
                fate, good = f"reverted: {why}", False
            case happened.Settled(kept=True) if changed and tests:
                fate = f"kept{tests}"
            case _:
                pass
    good = good and all(observation.ok for observation in seen)
    did = actions_words([observation.action for observation in seen])
    return Line("✓" if good else "✗", f"{one_line(did, 48)} → {one_line(fate, 200)}", step)
