"""The progress of a run as plain data, updated after every commit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from afresh.core import event as happened
from afresh.core.action import describe_action
from afresh.core.event import JournalEntry
from afresh.core.progress_event import (
    ActionBegan,
    BaselineRunBegan,
    CallBegan,
    CallDelayed,
    CallEnded,
    CheckBegan,
    CheckEnded,
    CheckScope,
    ProgressEvent,
    ReplyStreamed,
    TestsFinished,
    WorkNotice,
)
from afresh.core.reply import ANSWERED
from afresh.core.spending import CallPurpose
from afresh.core.state import State
from afresh.core.step_record import StepRecord
from afresh.core.task import TaskStatus
from afresh.core.text import format_count
from afresh.core.truncate import to_one_line
from afresh.core.verdict import Baseline, describe_linter_runs, sum_check_runs
from afresh.views.step_line import ANSWERED_STEP, find_first_sentence, make_step_line
from afresh.views.task_status import describe_question

NO_TESTS_FINISHED = TestsFinished(0)
MAX_STREAMED_CHARACTERS = 2_000
"""How much of a reply that comes in is kept to be shown."""


@dataclass(frozen=True, slots=True)
class ProgressLine:
    """One line about a step or an event. `mark` is one of a step, or •."""

    mark: str
    text: str
    step: int = 0
    result: str = ""
    """What came of a step."""
    thought: str = ""
    """What the model said with it."""
    detail: bool = False
    """Only for those who want to know everything."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    since: float
    state: State | None = None
    doing: str = ""
    doing_since: float = 0.0
    said: str = ""
    """What the model says: the end of it while it comes in."""
    waiting: str = ""
    waiting_since: float = 0.0
    """The call that is under way, whatever runs beside it."""
    tests: TestsFinished = NO_TESTS_FINISHED
    """How far the command that runs has come."""
    step: int = 0
    tokens: int = 0
    budget: int = 0
    cost: str = ""
    """The task's cost as text; empty for free models."""


def update_run_progress(
    glance: RunProgress, state: State, entries: Sequence[JournalEntry]
) -> tuple[RunProgress, tuple[ProgressLine, ...]]:
    """Return the progress after a commit, and the new lines."""
    if glance.state and glance.state.task.id != state.task.id:
        glance = RunProgress(glance.since)
    new = _make_progress_lines(state, [entry.event for entry in entries])
    for entry in entries:
        match entry.event:
            case happened.CallRequested(step, audit):
                glance = replace(glance, step=step, tokens=audit.tokens, budget=audit.budget)
            case happened.ReplyReceived(step, reply):
                glance = replace(glance, step=step, said=find_first_sentence(reply.thought))
            case happened.StepFinished():
                glance = replace(glance, said="")
            case _:
                pass
    return _show_call_again(replace(glance, state=state)), new


def _show_call_again(glance: RunProgress) -> RunProgress:
    """What ran beside a call has ended: what is left is the call."""
    return replace(glance, doing=glance.waiting, doing_since=glance.waiting_since, tests=NO_TESTS_FINISHED)


def follow_progress_event(glance: RunProgress, event: ProgressEvent, now: float) -> RunProgress:
    """Return the progress after what happens right now."""
    match event:
        case CallBegan():
            glance = replace(glance, said="", waiting=describe_progress_event(event), waiting_since=now)
        case CallEnded():
            glance = replace(glance, waiting="")
        case CheckEnded() if glance.waiting:
            return _show_call_again(glance)
        case TestsFinished(done, total, percent):
            return replace(glance, tests=TestsFinished(done, total or glance.tests.total, percent))
        case BaselineRunBegan(number=2):
            glance = replace(glance, tests=TestsFinished(0, glance.tests.done))
            return replace(glance, doing=describe_progress_event(event), doing_since=now)
        case ReplyStreamed(text=text, spoken=True):
            glance = replace(glance, said=(glance.said + text)[-MAX_STREAMED_CHARACTERS:])
        case _:
            pass
    what = describe_progress_event(event)
    return replace(glance, doing=what, doing_since=now, tests=NO_TESTS_FINISHED) if what else glance


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
    """Describe the current activity in one line; empty if the last description still applies."""
    match event:
        case CallBegan(model, purpose):
            return f"waiting for {model}{WORDS_BY_PURPOSE.get(purpose, '')}"
        case ReplyStreamed(model, text, characters) if characters == len(text):
            return f"{model} is writing"
        case CallDelayed(text) | WorkNotice(text):
            return text
        case ActionBegan(action):
            return describe_action(action)
        case CheckBegan() | BaselineRunBegan():
            return _describe_check_event(event)
        case _:
            return ""


def _describe_check_event(event: CheckBegan | BaselineRunBegan) -> str:
    if isinstance(event, CheckBegan):
        return WORDS_BY_SCOPE[event.scope]
    why = f"run {event.number} of {event.runs}, to find flaky tests" if event.runs > 1 else "one run"
    return f"{to_one_line(event.command, 60)} before the first change ({why})"


def _make_baseline_lines(baseline: Baseline) -> list[ProgressLine]:
    flaky = f", {len(baseline.flaky)} flaky" if baseline.flaky else ""
    checks = sum_check_runs(baseline.runs).words if baseline.runs else "no checks"
    once = ", run once" if baseline.once else ""
    linters = describe_linter_runs(baseline)
    also = [ProgressLine("•", f"also checked: {linters}")] if linters else []
    red = [ProgressLine("•", told) for told in baseline.red]
    return [ProgressLine("•", f"before the first change: {checks}{flaky}{once}"), *red, *also]


def _make_progress_lines(state: State, events: Sequence[happened.Event]) -> tuple[ProgressLine, ...]:
    lines: list[ProgressLine] = []
    for event in events:
        match event:
            case happened.TaskClaimed() if not any(isinstance(one, happened.QuestionAnswered) for one in events):
                lines.append(_make_goal_line(state))
            case happened.WorkspaceOpened(note=note) if note:
                lines.append(ProgressLine("•", to_one_line(note, 300)))
            case happened.BaselineMeasured(baseline):
                lines += _make_baseline_lines(baseline)
            case happened.StepFinished(step, outcome):
                lines.append(_make_step_line(state, step, outcome))
            case (
                happened.CeilingChanged() | happened.ReserveChanged() | happened.MemoryCompacted() | happened.StrategyChanged()
                | happened.PersonSpoke() | happened.StepsUndone() | happened.RecoveredFromCheckpoint()
            ):  # fmt: skip
                lines += _make_lines_between_steps(event)
            case happened.QuestionAsked(question) if event.by != "model" or not _ends_step(events):
                asked = describe_question(state) if question == state.dialogue.question else question
                lines.append(ProgressLine("•", f"asks: {to_one_line(asked, 200)}"))
            case happened.QuestionAnswered(text):
                lines.append(ProgressLine("•", f"answered: {to_one_line(text, 200)}"))
            case happened.ChangeReviewed():
                lines.append(
                    ProgressLine("•", f"review of the change of {event.subject}: {event.how}, {to_one_line(event.told, 160)}")
                )
            case happened.TaskEnded():
                lines += _make_end_lines(event, events)
            case _:
                pass
    return tuple(lines)


def _ends_step(events: Sequence[happened.Event]) -> bool:
    """Return whether a step ends with these events: its line says what the model asks."""
    return any(isinstance(event, happened.StepFinished) for event in events)


def _make_end_lines(event: happened.TaskEnded, events: Sequence[happened.Event]) -> list[ProgressLine]:
    """Say why it ends; of a verified task and of a question that was just asked there is nothing to add."""
    asked = any(isinstance(one, happened.QuestionAsked) and one.question in event.reason for one in events)
    if asked or event.status is TaskStatus.DONE or event.reason == ANSWERED:
        return []
    mark = "✗" if event.status is TaskStatus.FAILED else "•"
    return [ProgressLine(mark, f"{event.status.value}: {to_one_line(event.reason, 200)}")]


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
        kept = f"{event.share:.0%} of the token limit" if event.share else "as usual"
        return [ProgressLine("•", f"reserve for the reply: {kept}; {to_one_line(event.reason, 200)}", detail=True)]
    if isinstance(event, happened.MemoryCompacted):
        note = f"; {to_one_line(event.note, 200)}" if event.note else ""
        return [ProgressLine("•", f"older steps summarised: {format_count(len(event.gone), 'passage')} archived{note}")]
    if event.budget == event.before:
        return []
    changed = f"token limit {event.before:,} → {event.budget:,}: {to_one_line(event.reason, 200)}"
    return [ProgressLine("•", changed, detail=True)]


def _make_guidance_line(event: happened.StrategyChanged | happened.PersonSpoke | happened.StepsUndone) -> ProgressLine:
    match event:
        case happened.StrategyChanged(_, loop, why):
            return ProgressLine("•", f"new approach ({loop.replace('_', '-')}): {to_one_line(why, 200)}")
        case happened.PersonSpoke(text):
            return ProgressLine("•", f"{'new direction' if event.redirects else 'said'}: {to_one_line(text, 200)}")
        case happened.StepsUndone(step):
            return ProgressLine("•", f"undone: everything from step {step} on")


def _make_step_line(state: State, step: int, outcome: str) -> ProgressLine:
    record = next((one for one in reversed(state.memory.recent) if one.step == step), None)
    return ProgressLine("·", to_one_line(outcome, 200), step) if record is None else _line_from_record(record)


def _line_from_record(record: StepRecord) -> ProgressLine:
    line = make_step_line(record)
    return ProgressLine(line.mark, line.did, line.step, line.result, line.thought, detail=line.did == ANSWERED_STEP)


def list_past_lines(state: State) -> tuple[ProgressLine, ...]:
    """What is known of a task without reading its journal: the goal, the state before the first change, the last steps. The goal
    of one that waits is shown when it starts."""
    baseline = _make_baseline_lines(state.verification.baseline) if state.verification.baseline else []
    recent = [_line_from_record(record) for record in state.memory.recent]
    ready = ProgressLine("•", f"{state.task.id} waits for a worker")
    return (ready if state.status is TaskStatus.READY else _make_goal_line(state), *baseline, *recent)


def _make_goal_line(state: State) -> ProgressLine:
    if state.dialogue.turn > 1 and state.dialogue.words:
        return ProgressLine("•", to_one_line(state.dialogue.words[-1], 100))
    return ProgressLine("•", f"{state.task.id}: {to_one_line(state.task.goal, 100)}")


def progress_line_to_json(task: str, line: ProgressLine) -> dict[str, Any]:
    return {"task": task, "step": line.step or None, "mark": line.mark, "text": line.text, "result": line.result,
            "thought": line.thought}  # fmt: skip
