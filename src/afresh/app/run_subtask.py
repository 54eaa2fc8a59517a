"""Runs subtasks in the same process while the parent's step waits."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from afresh.actions.delegation_rules import (
    MIN_PART_STEPS,
    allocate_part_steps,
    choose_part_checks,
    make_part_id,
    refuse_other_part,
    refuse_repeated_part,
    result_from_part,
    task_from_part,
)
from afresh.app.orders.check_task_limits import refuse_unworkable_task
from afresh.app.orders.tasks import record_events
from afresh.app.project import Project
from afresh.app.spending.spending_report import sum_task_spending
from afresh.config.templates.load_template import make_template, merge_task_type
from afresh.core.event import ReplyReceived, TaskCreated, TaskEnded
from afresh.core.leave import LeaveGiven
from afresh.core.report_path import REPORT_PATHS_BY_TYPE
from afresh.core.state import State
from afresh.core.subtask import NO_WORK, Subtask, SubtaskMetrics, SubtaskResult, SubtaskWork, work_from_changes
from afresh.core.task import Task, TaskStatus
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.errors import BadInput, ModelMistake
from afresh.ports.code import CodeAnalysis
from afresh.workspace.apply_or_discard import retire_part_branch
from afresh.workspace.repository import Repository
from afresh.workspace.worktree import GitWorkspace, list_part_changes


@dataclass(frozen=True, slots=True)
class PartRunner:
    """Runs a subtask without a lease: the parent's lease covers it."""

    project: Project
    workspace: GitWorkspace
    """The parent's workspace."""
    insight: CodeAnalysis
    run: Callable[[str], State]
    """Advances a subtask as far as possible."""

    def __call__(self, part: Subtask, state: State, place: int) -> SubtaskResult:
        """Run a subtask, or continue it if an interrupted run of the same step has created it."""
        name = make_part_id(state.task.id, state.work.step + 1, place)
        child = load_known_part(self.project, name) or self._created(part, state, place)
        refuse_other_part(part, child)
        if child.status in (TaskStatus.READY, TaskStatus.RUNNING):
            self.workspace.snapshot()  # a subtask that has not started may come from another machine, without this tree
            child = self.run(name)
        if child.status is TaskStatus.DONE:
            self.workspace.take_over(name, child.workspace.first_snapshot, child.workspace.snapshot)
        retire_part_branch(self.workspace.repository, name)
        return report_part(self.project, child, part, state.work.step + 1)

    def _created(self, part: Subtask, state: State, place: int) -> State:
        refuse_repeated_part(part, state)
        limit = limit_part_steps(state, place)
        try:
            task = apply_part_type(
                part,
                task_from_part(
                    part,
                    state,
                    place,
                    self.workspace.snapshot(),
                    choose_part_checks(part, state.task, self.insight, self.workspace.files),
                ),
                self.project,
            )
            refuse_unworkable_task(task, self.project.templates, self.project.instructions)
        except BadInput as fault:
            raise ModelMistake(f"delegate: {fault.what}; {fault.next}") from fault
        leave = state.verification.leave
        inherited = [LeaveGiven(leave)] if leave else []
        return record_events(self.project, None, task.id, [TaskCreated(replace(task, max_steps=limit)), *inherited])


def limit_part_steps(state: State, place: int) -> int:
    """Divide the remaining steps among the subtasks of one reply; the first gets the most."""
    before = (
        sum(has_trait(action, ToolTrait.DELEGATES) for action in state.work.pending.reply.actions[: place - 1])
        if state.work.pending
        else 0
    )
    if len(state.work.subtasks) + before >= state.task.parts:
        raise ModelMistake(f"delegate: {state.task.parts} parts are the most that this task may hand out; do the rest yourself")
    if (left := allocate_part_steps(state) >> before) < MIN_PART_STEPS:
        raise ModelMistake("delegate: too few steps are left for that; do it yourself")
    return left


def apply_part_type(part: Subtask, task: Task, project: Project) -> Task:
    """Apply the subtask's template and the parent's model settings; the ceiling is at most the parent's and at most its own
    limit."""
    type = part.type or task.type
    merged = merge_task_type(type, project.templates)
    if merged.family in REPORT_PATHS_BY_TYPE:
        raise ModelMistake(f"delegate: {type} ends in a document; only changes of code can be handed out")
    ceiling, thinking = make_template(merged).ceiling, task.thinking or 0
    budget = min(task.budget, ceiling + thinking)
    fits = budget - ceiling >= thinking
    family = merged.family if merged.family != type else ""
    return replace(
        task, type=type, family=family, budget=budget, max_budget=task.budget_limit, thinking=task.thinking if fits else 0
    )  # fmt: skip


def load_known_part(project: Project, name: str) -> State | None:
    try:
        return project.store.load(name)
    except BadInput:
        return None


def report_part(project: Project, child: State, part: Subtask, step: int) -> SubtaskResult:
    """Report a subtask's end and its closing message; nothing else from its journal."""
    claimed, ended = "", child.times.updated
    for entry in project.store.journal(child.task.id):
        if isinstance(entry.event, TaskEnded):
            ended = entry.at
        elif isinstance(entry.event, ReplyReceived):
            done = [action.args.get("summary") for action in entry.event.reply.actions if has_trait(action, ToolTrait.COMPLETES)]
            claimed = str(done[-1] or "") if done else claimed
    paid = sum_task_spending(project, child.task.id)
    money = paid.money if paid and paid.calls and not paid.unpriced.calls else None
    spent = child.work.step, child.spending.calls, child.spending.usage, round(ended - child.times.started, 1), money
    metrics = SubtaskMetrics(*spent, work=measure_part_work(project, child))
    return result_from_part(child, part.goal, step, metrics, claimed)


def measure_part_work(project: Project, child: State) -> SubtaskWork:
    """Count the files, lines and tests of a subtask; its snapshots are kept after its branch is gone."""
    first, last = child.workspace.first_snapshot, child.workspace.snapshot
    if first == last:
        return NO_WORK
    verdict = child.verification.verdict
    changes = list_part_changes(Repository.find(project.paths.root), child.task.id, first, last)
    return work_from_changes(changes, verdict.new_tests if verdict else 0)
