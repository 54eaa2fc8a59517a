"""Handing out a part of a task: when it is offered, what the part is told, and what comes back. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.core.rewrite_check_command import narrow_to_tests
from afresh.core.state import State
from afresh.core.states.strategy_state import PlanItem
from afresh.core.subtask import (
    MAX_GOAL_CHARACTERS,
    RunSubtask,
    Subtask,
    SubtaskMetrics,
    SubtaskResult,
    SubtaskStatus,
    bound_result,
)
from afresh.core.task import Check, Task, TaskStatus
from afresh.core.text import format_count
from afresh.core.truncate import to_one_line
from afresh.core.verdict import NoteKind, Verdict, summarise_check_run
from afresh.errors import ModelMistake
from afresh.ports.code import CodeAnalysis
from afresh.ports.workspace import FileTree
from afresh.runtime import Runtime

MIN_OPEN_PLAN_ITEMS = 3
"""Of the plan. A part costs two runs of its checks and some calls before it has done anything: less work is done sooner here."""
MIN_PART_STEPS = 6
MAX_PART_STEPS = 30
"""Steps that a part may take. With fewer it would only begin."""
FATE_BY_STATUS = {TaskStatus.DONE: SubtaskStatus.DONE, TaskStatus.BLOCKED: SubtaskStatus.BLOCKED}


def find_reason_not_to_delegate(plan: Sequence[PlanItem]) -> str:
    """Why no part can be handed out now; empty if one can."""
    left = sum(not item.done for item in plan)
    if left >= MIN_OPEN_PLAN_ITEMS:
        return ""
    return f"delegate: the plan has {left} open items, and a part pays from {MIN_OPEN_PLAN_ITEMS} on; do it yourself"


def allocate_part_steps(state: State) -> int:
    """Steps that the next part may take: half of what is left to the task and the parts before it."""
    taken = sum(subtask.metrics.steps for subtask in state.work.subtasks)
    return min(MAX_PART_STEPS, (state.work.limit - state.work.step - 1 - taken) // 2)


def make_hand_out(state: State, runtime: Runtime, place: int) -> RunSubtask | None:
    """Parts of one reply are handed out one after the other: each begins with what the one before it has left."""
    delegates = runtime.control.delegate
    return (lambda part: delegates(part, state, place)) if delegates else None


def make_part_id(parent: str, step: int, place: int) -> str:
    """A step that is taken again after a crash finds the part that it had handed out."""
    return f"{parent}-{step}-{place}"


def task_from_part(part: Subtask, state: State, place: int, tree: str, checks: Sequence[Check]) -> Task:
    """The part as a subtask, with its own steps and checks and the model of its parent."""
    parent = state.task
    return replace(
        parent,
        id=make_part_id(parent.id, state.work.step + 1, place),
        goal=goal_from_part(part),
        checks=tuple(checks),
        needs=(),
        max_steps=allocate_part_steps(state),
        parent=parent.id,
        tree=tree,
        parts=0,
        report="",
        loop="",
        require_tests=False,
    )


def goal_from_part(part: Subtask) -> str:
    about = [f"It concerns {', '.join(part.paths)}."] if part.paths else []
    return "\n".join([part.goal.strip(), *about])


def choose_part_checks(part: Subtask, task: Task, insight: CodeAnalysis, files: FileTree) -> tuple[Check, ...]:
    """As the part says; else those of the task, narrowed to the tests of the files that it concerns where they are known."""
    timeout = max((check.timeout for check in task.checks), default=Check.timeout)
    if part.checks:
        return tuple(Check(command, timeout) for command in part.checks)
    tests = insight.tests_for(part.paths, files) if part.paths else ()
    return tuple(replace(check, command=narrow_to_tests(check.command, tests) or check.command) for check in task.checks)


def refuse_repeated_part(part: Subtask, state: State) -> None:
    text = to_one_line(part.goal, MAX_GOAL_CHARACTERS)
    if former := next(
        (subtask for subtask in state.work.subtasks if subtask.goal == text and subtask.status is not SubtaskStatus.DONE), None
    ):
        raise ModelMistake(
            f"delegate: the same was handed out in step {former.step} and {former.status.value}; do it yourself, or say in the "
            "goal what is to be done differently"
        )


def refuse_other_part(part: Subtask, child: State) -> None:
    """A person may have taken back the reply that had handed it out; what it did is no answer to another."""
    if child.task.goal != goal_from_part(part):
        raise ModelMistake("delegate: another part of this task has that name already; hand it out in your next reply")


def result_from_part(child: State, goal: str, step: int, metrics: SubtaskMetrics, claimed: str) -> SubtaskResult:
    """From the part's own verdict, and what it said: `claimed` when it completed, or why it stopped."""
    verdict = child.verification.verdict if child.verification.verdict and child.verification.verdict.final else None
    result = SubtaskResult(
        task=child.task.id,
        step=step,
        goal=goal,
        status=FATE_BY_STATUS.get(child.status, SubtaskStatus.FAILED),
        files=child.workspace.changed,
        state=(*[summarise_check_run(run) for run in verdict.runs], *name_unfinished(verdict)) if verdict else (),
        summary=claimed if child.status is TaskStatus.DONE and claimed else describe_part_stop(child),
        metrics=metrics,
    )
    return bound_result(result)


def name_unfinished(verdict: Verdict) -> list[str]:
    """How much a part that passed has left open by its own plan, whose words are its own."""
    left = len(verdict.list_facts(NoteKind.OPEN_ITEMS))
    return [f"{format_count(left, 'item')} of its plan open"] if left else []


def describe_part_stop(child: State) -> str:
    """Why it did not end well: its question, or the reason it came to rest."""
    if not child.dialogue.question:
        return child.work.outcome
    options = f" ({'; '.join(child.dialogue.options)})" if child.dialogue.options else ""
    return f"It asks: {child.dialogue.question}{options}"
