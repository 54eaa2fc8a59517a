import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.app.project import Project
from afresh.app.read_tasks import find_task_id
from afresh.app.settings import Settings
from afresh.app.validate_task import refuse_unworkable_task
from afresh.config.templates.load_template import make_template, merge_task_type
from afresh.core.event import Event, JournalHead, QuestionAsked, TaskCreated, TaskEnded
from afresh.core.hash_chain import link_events
from afresh.core.redaction import redact_secrets
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.task import Check, QueueTicket, Task, TaskStatus, choose_report_path
from afresh.core.template import Template
from afresh.errors import BadInput, Conflict
from afresh.models.choose_model import is_provider, make_spec_absolute
from afresh.policy.questions import ask_about_ceiling

ID_SUFFIX_BYTES = 4
"""Enough that tasks of two machines with the same goal do not meet in one export."""
MAX_TAKEN_IDS = 8
"""Ids that are tried again: more in a row are no accident."""


@dataclass(frozen=True, slots=True)
class TaskOrder:
    """What the user typed."""

    goal: str
    type: str = ""
    checks: tuple[str, ...] = ()
    priority: int = 0
    needs: tuple[str, ...] = ()
    model: str = ""
    budget: int = 0
    max_steps: int = 0
    max_budget: int = 0
    loop: str = ""
    thinking: int | None = None


def add_task(desk: Project, order: TaskOrder) -> State:
    given = desk.settings
    if not order.goal.strip():
        raise BadInput("the goal is empty", next='describe the goal: afresh run "make the parser accept tabs"')
    known = {ticket.task for ticket in desk.queue.tickets() if not ticket.parent}
    if missing := [need for need in order.needs if need not in known]:
        raise BadInput(f"no such task to wait for: {missing[0]}", next="afresh list lists the tasks", safe="nothing was added")
    type = order.type or given.type or "implement_feature"
    merged = merge_task_type(type, desk.templates)
    report = choose_report_path(merged.family, order.goal, lambda path: (desk.project.root / path).is_file())
    checks = order.checks or (() if report else given.checks)
    task = Task(
        id=make_task_id(redact_secrets(order.goal)),
        goal=redact_secrets(order.goal),
        type=type,
        checks=tuple(Check(command, given.check_timeout) for command in checks),
        priority=order.priority,
        needs=order.needs,
        model=make_spec_absolute(order.model or given.model),
        budget=order.budget or given.budget or choose_ceiling(make_template(merged), order, given),
        max_steps=order.max_steps or given.max_steps,
        project=desk.project.root.name,
        family=merged.family if merged.family != type else "",
        report=report,
        max_budget=order.max_budget or given.max_budget,
        loop=order.loop or given.loop or "",
        parts=given.delegation.parts if given.delegation.offer else 0,
        thinking=order.thinking,
    )
    refuse_unworkable_task(task, desk.templates, desk.instructions, given.models)
    if not checks and not report:
        task = replace(task, checks=find_task_checks(desk))
        refuse_unworkable_task(task, desk.templates, desk.instructions, given.models)
    return create_task(desk, task)


def create_task(desk: Project, task: Task) -> State:
    """Begin the journal of a task, under another id if a task has this one already: only the commit itself can tell."""
    for _ in range(MAX_TAKEN_IDS):
        try:
            return record_events(desk, None, task.id, [TaskCreated(task)])
        except Conflict:
            task = replace(task, id=make_task_id(task.goal))
    return record_events(desk, None, task.id, [TaskCreated(task)])


def choose_ceiling(style: Template, order: TaskOrder, given: Settings) -> int:
    """The ceiling of the type, with what its model may think with on top of it: windows stay as large as they are without."""
    model = order.model or given.model
    asked = max([style.thinking, *[phase.thinking for phase in style.phases]]) if order.thinking is None else order.thinking
    return style.ceiling + (asked if not model or is_provider(model, given.models) else 0)


def find_task_checks(desk: Project) -> tuple[Check, ...]:
    """As the project's own files say, and seen to find tests. They are run when the task begins: not here, too."""
    from afresh.app.choose_checks import ProjectWithSettings, choose_checks

    chosen = choose_checks(ProjectWithSettings(desk.project, desk.settings), limit=0)
    return tuple(Check(command, desk.settings.check_timeout) for command in chosen.checks)


def find_task(desk: Project, name: str | None) -> str:
    """A task by its id or the beginning of it; without a name the one that was touched last."""
    return find_task_id(desk.queue, desk.project.folder / "export", name)


def end_task(desk: Project, task: str, status: TaskStatus, reason: str) -> State:
    return record_events(desk, desk.store.load(task), task, [TaskEnded(status, reason)])


def block_task(desk: Project, task: str, why: str, question: QuestionAsked | None = None) -> State:
    """The task can't go on by itself: it waits for a person and is in nobody's way."""
    return record_events(
        desk, desk.store.load(task), task, [question or ask_about_ceiling(why), TaskEnded(TaskStatus.BLOCKED, why)]
    )


def record_events(desk: Project, state: State | None, task: str, events: Sequence[Event]) -> State:
    """Events from outside a run: a person's."""
    entries = link_events(task, state.head if state else JournalHead(), desk.clock.now(), events)
    after = fold_entries(state, entries)
    desk.store.append(entries, (), after)
    desk.lore.saw(after, entries)
    desk.projections.saw(after, entries)
    return after


def make_task_id(goal: str) -> str:
    words = re.findall(r"[a-z0-9]+", goal.lower())
    slug = "-".join(words)[:28].strip("-") or "task"
    return f"{slug}-{secrets.token_hex(ID_SUFFIX_BYTES)}"


def list_parts(tickets: Sequence[QueueTicket], task: str) -> list[QueueTicket]:
    return [ticket for ticket in tickets if ticket.parent == task]
