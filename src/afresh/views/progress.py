"""The progress of a run as plain data, updated after every commit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from afresh.core import event as happened
from afresh.core.event import JournalEntry
from afresh.core.progress_event import (
    BaselineRunBegan,
    CallBegan,
    CallEnded,
    CheckEnded,
    ProgressEvent,
    ReplyStreamed,
    TestsFinished,
)
from afresh.core.reply import ANSWERED
from afresh.core.state import State
from afresh.core.step_record import StepRecord
from afresh.core.task import TaskStatus
from afresh.core.truncate import to_one_line
from afresh.core.verdict import Baseline, describe_linter_runs, sum_check_runs
from afresh.views.step_line import ANSWERED_STEP, find_first_sentence, make_step_line
from afresh.views.task_facts import describe_question
from afresh.views.timeline import describe_event, describe_progress_event

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
    """The result of a step."""
    thought: str = ""
    """The model's words with it."""
    detail: bool = False
    """Shown only with --verbose."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    since: float
    state: State | None = None
    doing: str = ""
    doing_since: float = 0.0
    said: str = ""
    """The end of the model's words while they come in."""
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
    """A check beside a call has ended: show the call again."""
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
    answered = any(isinstance(event, happened.QuestionAnswered) for event in events)
    for event in events:
        match event:
            case happened.TaskClaimed():
                lines += [] if answered else [_make_goal_line(state)]
            case happened.WorkspaceOpened(note=note) if note:
                lines.append(ProgressLine("•", to_one_line(note, 300)))
            case happened.BaselineMeasured(baseline):
                lines += _make_baseline_lines(baseline)
            case happened.StepFinished(step, outcome):
                lines.append(_make_step_line(state, step, outcome))
            case happened.QuestionAsked(question) if question == state.dialogue.question:
                asked = replace(event, question=describe_question(state))
                lines += _make_event_lines(asked) if _is_news(event, events) else []
            case _ if isinstance(event, SHOWN_EVENTS) and _is_news(event, events):
                lines += _make_event_lines(event)
            case _:
                pass
    return tuple(lines)


SHOWN_EVENTS = (
    happened.CeilingChanged, happened.MemoryCompacted, happened.StrategyChanged, happened.PersonSpoke,
    happened.StepsUndone, happened.RecoveredFromCheckpoint, happened.QuestionAsked, happened.QuestionAnswered,
    happened.ChangeReviewed, happened.TaskEnded,
)  # fmt: skip
"""Lines of the decision log that are lines of progress, too."""


def _make_event_lines(event: happened.Event) -> list[ProgressLine]:
    happening, failed = describe_event(event), isinstance(event, happened.TaskEnded) and event.status is TaskStatus.FAILED
    detail = isinstance(event, happened.CeilingChanged)
    return [ProgressLine("✗" if failed else "•", happening.line, detail=detail)] if happening else []


def _is_news(event: happened.Event, events: Sequence[happened.Event]) -> bool:
    """Return whether no other line says it: a step's line what the model asks, a question why the task ends."""
    match event:
        case happened.CeilingChanged():
            return event.budget != event.before
        case happened.QuestionAsked():
            return event.by != "model" or not any(isinstance(one, happened.StepFinished) for one in events)
        case happened.TaskEnded(status, reason):
            asked = any(isinstance(one, happened.QuestionAsked) and one.question in reason for one in events)
            return not (asked or status is TaskStatus.DONE or reason == ANSWERED)
        case _:
            return True


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
