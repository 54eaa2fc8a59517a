"""The outcome of a step, whether the task ends with it, and its record in the journal."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from afresh.core.action import Action, describe_action, describe_subject
from afresh.core.event import ChangeKeptOrReverted, Event, QuestionAsked, StepFinished, TaskEnded, VerdictReached
from afresh.core.reply import ANSWERED
from afresh.core.state import State
from afresh.core.step_history import FAILED_SUFFIX
from afresh.core.step_result import (
    ActionResult,
    StepResult,
    find_command_result,
    shorten_action,
)
from afresh.core.task import TaskStatus
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.core.truncate import truncate_text
from afresh.core.verdict import TIMED_NOTES, Ruling, Verdict
from afresh.journal.append import append_events
from afresh.journal.checkpoint import add_checkpoint
from afresh.policy.questions import ask_about_test_changes, ask_about_unverifiable, ask_after_step_limit, offer_acceptance
from afresh.policy.stall.escalation import StallResponse, check_for_stall
from afresh.runtime import Runtime
from afresh.verification.nothing_to_offer import explain_nothing_to_offer
from afresh.verification.permission import find_review

MAX_COMPLETION_REFUSALS = 3
MAX_UNALLOWED = 2
"""Times that completion is refused for changes of tests without leave, before a person is asked: once, if nobody reads them."""


def conclude_step(state: State, step: StepResult, runtime: Runtime) -> StepResult:
    """How the step ended, and what follows: the task rests, a checkpoint is due, or nothing."""
    reverted = not step.kept and not (step.verdict and step.verdict.final)
    finished = StepFinished(state.work.step + 1, summarise_step(step), summarise_actions(step) if reverted else "")
    events = end_by_verdict(state, step, runtime)
    if not events:
        stalled = check_for_stall(state, step, runtime)
        finished = replace(finished, mark=stalled.mark, gained=stalled.gained)
        events = rest_or_go_on(state, step, stalled)
    return step.add(finished, *events, *add_checkpoint(state, events, runtime))


def record_step(state: State, step: StepResult, runtime: Runtime) -> State:
    """One durable commit. A question also offers to accept the work as it is, if there is any."""
    changed = [event.changed for event in step.events if isinstance(event, ChangeKeptOrReverted)]
    after = replace(state, workspace=replace(state.workspace, changed=changed[-1])) if changed else state
    events = [offer_acceptance(event, after) if isinstance(event, QuestionAsked) else event for event in step.events]
    return append_events(state, runtime, events, step.blocks)


def end_if_accepted(state: State, runtime: Runtime) -> State:
    """End the task if a person's last word is that they take its work as it is."""
    if not state.verification.accepted or state.status.over:
        return state
    return append_events(state, runtime, end_with_acceptance(state, runtime.workspace.publish))


def end_with_acceptance(state: State, publish: Callable[[str, str], str]) -> list[Event]:
    """The verdict says who has accepted the work, and what the checks said last. Publishing it again gives the same commit."""
    known, by = state.verification, state.verification.accepted
    last = known.kept_verdict if known.is_undone else known.verdict
    said = f"; the checks said {last.ruling}: {last.finding}" if last else "; no check has run on it"
    finding = f"{by} has accepted the work as it is{said}"
    verdict = replace(last or Verdict(Ruling.ACCEPTED, ""), ruling=Ruling.ACCEPTED, finding=finding, final=True, unallowed=())
    commit = publish(state.workspace.snapshot, render_commit_message(state, state.task.goal, verdict))
    return [VerdictReached(state.work.step, verdict), TaskEnded(TaskStatus.DONE, verdict.reason, commit)]


def rest_or_go_on(state: State, step: StepResult, stalled: StallResponse) -> tuple[Event, ...]:
    if question := next((event for event in step.decided if isinstance(event, QuestionAsked)), None):
        return (*stalled.events, TaskEnded(TaskStatus.BLOCKED, f"asks: {question.question}"))
    out_of_steps = state.work.step + 1 >= state.work.limit
    if stop := ask_after_step_limit(state) if out_of_steps else stalled.stop:
        return (*stalled.events, stop, TaskEnded(TaskStatus.BLOCKED, stop.question))
    return stalled.events


def end_by_verdict(state: State, step: StepResult, runtime: Runtime) -> tuple[Event, ...]:
    """PASS publishes. BLOCKED publishes what there is, for a person to look at. FAIL goes back to work, a few times."""
    unread = any((review := find_review(state, change)) and review.unread for change in step.missing)
    if step.missing and (unread or state.verification.unallowed + 1 >= MAX_UNALLOWED) and not _has_question(step):
        question = ask_about_test_changes(step.missing)
        return (question, TaskEnded(TaskStatus.BLOCKED, question.question))
    if step.verdict is None:
        return (_end_after_answer(state),) if step.complete else ()
    if not step.verdict.final:
        return ()
    reason = step.verdict.reason
    if step.verdict.ruling is Ruling.FAIL:
        if not state.workspace.changed and (nothing := explain_nothing_to_offer(state, runtime)):
            return (TaskEnded(TaskStatus.UNCHANGED, nothing),)
        given_up = TaskEnded(
            TaskStatus.FAILED,
            f"it reported done {MAX_COMPLETION_REFUSALS} times and was refused each time, at last because: {reason}",
        )
        return (given_up,) if state.verification.refusals + 1 >= MAX_COMPLETION_REFUSALS else ()
    commit = runtime.workspace.publish(step.snapshot, render_commit_message(state, step.complete, step.verdict))
    if step.passed:
        return (TaskEnded(TaskStatus.DONE, reason, commit),)
    return (ask_about_unverifiable(reason), TaskEnded(TaskStatus.BLOCKED, reason, commit))


def _end_after_answer(state: State) -> TaskEnded:
    """An answer in a conversation leaves a verified result as it is."""
    if state.workspace.changed and state.verification.verdict:
        return TaskEnded(TaskStatus.DONE, state.verification.verdict.reason)
    return TaskEnded(TaskStatus.UNCHANGED, ANSWERED)


def _has_question(step: StepResult) -> bool:
    return any(isinstance(event, QuestionAsked) for event in step.decided)


def summarise_step(step: StepResult) -> str:
    """One line for people and for later prompts."""
    did, verdict = summarise_actions(step), step.verdict
    if verdict is None:
        return "answered" if step.complete else did or "called no tool"
    if verdict.final:
        return f"{'verified' if step.passed else 'not accepted'}: {verdict.reason}"
    fate = "reverted: " if not step.kept else "" if verdict.strays else "kept; "
    return f"{did}: {fate}{verdict.reason}"


def summarise_actions(deeds: StepResult) -> str:
    reading = [deed for deed in deeds.done if is_file_read(deed.action) and deed.outcome.ok]
    told = [deed for deed in deeds.done if deed not in reading or len(reading) == 1]
    endings = ["" if deed.outcome.ok else " (not done)" if deed.outcome.refused else FAILED_SUFFIX for deed in told]
    names = Counter(describe_done_action(deed) + ending for deed, ending in zip(told, endings, strict=True))
    names.update({f"read {name_lines_read(reading)}": 1} if len(reading) > 1 else {})
    did = [name if count == 1 else f"{name} ({count} times)" for name, count in names.items()]
    return ", ".join(did)


def name_lines_read(reading: Sequence[ActionResult]) -> str:
    """Each file once, with the ranges of its lines."""
    ranges = dict[str, list[str]]()
    for deed in reading:
        ranges.setdefault(describe_subject(deed.action), []).extend(f"{one.start}-{one.end}" for one in deed.outcome.regions)
    return "; ".join(f"{path} {', '.join(lines)}".strip() for path, lines in ranges.items())


def is_file_read(action: Action) -> bool:
    return has_trait(action, ToolTrait.READS) and not has_trait(action, ToolTrait.ARRANGES)


def describe_done_action(deed: ActionResult) -> str:
    """What was done, of a command with its result; the title of a suggestion says more than its id."""
    action = shorten_action(deed)
    if has_trait(action, ToolTrait.RUNS):
        return describe_action(action) + describe_command_result(deed.outcome.text)
    return describe_subject(action) if has_trait(action, ToolTrait.APPLIES) else describe_action(action)


def describe_command_result(text: str) -> str:
    """How a command ended, by the line that tells most of what it printed. No times: the same result has the same words."""
    result = find_command_result(text)
    return f" → {result}" if result else ""


OWN_LINE = re.compile(r"(?im)^(?=[ \t>*_-]{0,20}(?:Not verified|Verified|Goal|Afresh-[a-z]{1,20})[ \t]{0,9}:)")
"""Begins a line that only afresh writes."""


def render_commit_message(state: State, summary: str, verdict: Verdict) -> str:
    """What looks like our own lines in the model's text is marked as its words."""
    subject, *rest = OWN_LINE.sub("The model says: ", summary).strip().splitlines() or [state.task.goal]
    body = "\n".join(rest).strip()
    verified = "Verified" if verdict.ruling is Ruling.PASS else "Not verified"  # accepted is not verified
    lowered = "\n".join(f"- {one.words}" for one in verdict.lowered)
    lasting = replace(verdict, notes=tuple(note for note in verdict.notes if note.kind not in TIMED_NOTES))
    parts = [
        _shorten_subject(subject), body, lowered, f"Goal: {state.task.goal}" if state.task.goal not in summary else "",
        f"{verified}: {lasting.reason}", f"Afresh-Task: {state.task.id}",
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part) + "\n"


def _shorten_subject(subject: str) -> str:
    return truncate_text(subject.strip().rstrip("."), 72)
