"""The progress of a run as plain data, updated after every commit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.core import event as happened
from afresh.core.action import Action, Observation, describe_action
from afresh.core.event import JournalEntry
from afresh.core.progress_event import (
    ActionBegan,
    ActionEnded,
    CallBegan,
    CallDelayed,
    CallEnded,
    CheckBegan,
    CheckEnded,
    CheckScope,
    ProgressEvent,
    ReplyStreamed,
    WorkNotice,
)
from afresh.core.spending import CallPurpose
from afresh.core.state import State
from afresh.core.truncate import to_one_line
from afresh.views.task_status import describe_question, sum_check_runs

MAX_PROGRESS_LINES = 6


@dataclass(frozen=True, slots=True)
class ProgressLine:
    """One line about a step or an event. `mark` is ✓, ✗ or •."""

    mark: str
    text: str
    step: int = 0


@dataclass(frozen=True, slots=True)
class RunProgress:
    since: float
    state: State | None = None
    doing: str = ""
    action: str = ""
    step: int = 0
    tokens: int = 0
    budget: int = 0
    reserve: int = 0
    cost: str = ""
    """The task's cost as text; empty for free models."""
    lines: tuple[ProgressLine, ...] = ()
    """The last few lines."""


def update_run_progress(
    glance: RunProgress, state: State, entries: Sequence[JournalEntry]
) -> tuple[RunProgress, tuple[ProgressLine, ...]]:
    """Return the progress after a commit, and the new lines."""
    if glance.state and glance.state.task.id != state.task.id:
        glance = RunProgress(glance.since, lines=glance.lines)
    kept_before = glance.state.workspace.kept if glance.state else None
    new = _make_progress_lines(state, [entry.event for entry in entries], kept_before)
    for entry in entries:
        match entry.event:
            case happened.CallRequested(step, audit):
                glance = replace(glance, step=step, tokens=audit.tokens, budget=audit.budget, reserve=audit.reserve)
            case happened.ReplyReceived(step, reply):
                glance = replace(glance, step=step, action=describe_actions(reply.actions))
            case _:
                pass
    return replace(glance, state=state, doing="", lines=(*glance.lines, *new)[-MAX_PROGRESS_LINES:]), new


STREAM_REPORT_CHARACTERS = 200
"""Characters of a reply between two progress reports."""
WORDS_BY_PURPOSE = {CallPurpose.SUMMARY: " to summarise older steps", CallPurpose.MEMORY: " to write down a lesson"}
WORDS_BY_SCOPE = {
    CheckScope.BASELINE: "running the checks twice before the first change",
    CheckScope.CHANGE: "running the tests affected by the change, or all if these are not known",
    CheckScope.COMPLETION: "running every check",
}


def describe_progress_event(event: ProgressEvent) -> str:
    """Describe the current activity in one line; empty if the last description still applies."""
    match event:
        case CallBegan(model, purpose):
            return f"waiting for {model}{WORDS_BY_PURPOSE.get(purpose, '')}"
        case ReplyStreamed(model, text, characters):
            before = characters - len(text)
            due = characters // STREAM_REPORT_CHARACTERS > before // STREAM_REPORT_CHARACTERS
            return f"{model} answers: about {characters // 4:,} tokens so far" if due else ""
        case CallDelayed(text) | WorkNotice(text):
            return text
        case ActionBegan(action):
            return action.tool
        case CheckBegan(scope):
            return WORDS_BY_SCOPE[scope]
        case CallEnded() | ActionEnded() | CheckEnded():
            return ""


def describe_actions(actions: Sequence[Action]) -> str:
    if not actions:
        return "no action"
    first = describe_action(actions[0])
    return first if len(actions) == 1 else f"{first} and {len(actions) - 1} more"


def _make_progress_lines(state: State, events: Sequence[happened.Event], kept_before: int | None) -> tuple[ProgressLine, ...]:
    lines: list[ProgressLine] = []
    for event in events:
        match event:
            case happened.TaskClaimed() if not any(isinstance(one, happened.QuestionAnswered) for one in events):
                lines.append(ProgressLine("•", f"{state.task.id}: {to_one_line(state.task.goal, 100)}"))
            case happened.WorkspaceOpened(note=note) if note:
                lines.append(ProgressLine("•", to_one_line(note, 300)))
            case happened.BaselineMeasured(baseline):
                flaky = f", {len(baseline.flaky)} flaky" if baseline.flaky else ""
                lines.append(
                    ProgressLine(
                        "•",
                        (
                            "before the first change: "
                            f"{sum_check_runs(baseline.runs).words if baseline.runs else 'no checks'}{flaky}"
                        ),
                    )
                )
            case happened.StepFinished(step, outcome):
                lines.append(_make_step_line(step, outcome, events, kept_before is None or state.workspace.kept > kept_before))
            case (
                happened.CeilingChanged() | happened.ReserveChanged() | happened.MemoryCompacted() | happened.StrategyChanged()
                | happened.PersonSpoke() | happened.StepsUndone() | happened.RecoveredFromCheckpoint()
            ):  # fmt: skip
                lines += _make_lines_between_steps(event)
            case happened.QuestionAsked(question):
                asked = describe_question(state) if question == state.dialogue.question else question
                lines.append(ProgressLine("•", f"asks: {to_one_line(asked, 200)}"))
            case happened.QuestionAnswered(text):
                lines.append(ProgressLine("•", f"answered: {to_one_line(text, 200)}"))
            case happened.TaskEnded(status, reason):
                asked = any(isinstance(one, happened.QuestionAsked) and one.question in reason for one in events)
                told = "until you answer" if asked else to_one_line(reason, 200)
                lines.append(ProgressLine("✗" if status.value == "failed" else "•", f"{status.value}: {told}"))
            case _:
                pass
    return tuple(lines)


def _make_lines_between_steps(
    event: happened.CeilingChanged
    | happened.ReserveChanged
    | happened.MemoryCompacted
    | happened.StrategyChanged
    | happened.PersonSpoke
    | happened.StepsUndone
    | happened.RecoveredFromCheckpoint,
) -> list[ProgressLine]:
    """Describe what happened between two steps: compaction, or a change of approach."""
    if isinstance(event, happened.RecoveredFromCheckpoint):
        return [ProgressLine("•", f"recovered from the checkpoint after step {event.step}")]
    if isinstance(event, happened.StrategyChanged | happened.PersonSpoke | happened.StepsUndone):
        return [_make_guidance_line(event)]
    if isinstance(event, happened.ReserveChanged):
        kept = f"{event.share:.0%} of the ceiling" if event.share else "as usual"
        return [ProgressLine("•", f"reserve for the reply: {kept}; {to_one_line(event.reason, 200)}")]
    if isinstance(event, happened.MemoryCompacted):
        note = f"; {to_one_line(event.note, 200)}" if event.note else ""
        return [ProgressLine("•", f"memory compacted: {len(event.gone):,} passages archived{note}")]
    if event.budget == event.before:
        return []
    return [ProgressLine("•", f"ceiling {event.before:,} → {event.budget:,}: {to_one_line(event.reason, 200)}")]


def _make_guidance_line(event: happened.StrategyChanged | happened.PersonSpoke | happened.StepsUndone) -> ProgressLine:
    match event:
        case happened.StrategyChanged(_, loop, why):
            return ProgressLine("•", f"new approach ({loop.replace('_', '-')}): {to_one_line(why, 200)}")
        case happened.PersonSpoke(text):
            return ProgressLine("•", f"{'new direction' if event.redirects else 'said'}: {to_one_line(text, 200)}")
        case happened.StepsUndone(step):
            return ProgressLine("•", f"undone: everything from step {step} on")


def _make_step_line(step: int, outcome: str, events: Sequence[happened.Event], changed: bool) -> ProgressLine:
    seen: tuple[Observation, ...] = ()
    fate, good = outcome, True
    tests = ""
    for event in events:
        match event:
            case happened.ActionsExecuted(_, observations):
                seen = observations
            case happened.VerdictReached(_, verdict) if verdict.runs:
                tests = f", {sum_check_runs(verdict.runs).words}"
            case happened.ChangeKeptOrReverted(kept=False, why=why):
                fate, good = f"reverted: {why}", False
            case happened.ChangeKeptOrReverted(kept=True) if changed and tests:
                fate = f"kept{tests}"
            case _:
                pass
    good = good and all(observation.ok for observation in seen)
    did = describe_actions([observation.action for observation in seen])
    return ProgressLine("✓" if good else "✗", f"{to_one_line(did, 48)} → {to_one_line(fate, 200)}", step)
