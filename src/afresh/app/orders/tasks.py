"""Adds tasks after checking the order, and finds them by name."""

import re
import secrets
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from textwrap import shorten

from afresh.app.dialogue.allow_test_changes import give_leave
from afresh.app.mcp_servers import refuse_unapproved_tools
from afresh.app.orders.check_order import OrderTerms, check_commands, check_goal, check_model
from afresh.app.orders.check_task_limits import (
    NOTHING_ADDED,
    find_window_and_framing,
    refuse_unworkable_limits,
    refuse_unworkable_task,
)
from afresh.app.project import Project
from afresh.app.queue.queue_place import refuse_fixed_place
from afresh.app.queue.read_tasks import find_task_id, find_ticket
from afresh.app.settings import Settings
from afresh.config.templates.load_template import make_template, merge_task_type
from afresh.core.event import Event, JournalHead, QuestionAsked, TaskCreated, TaskEnded
from afresh.core.hash_chain import link_events
from afresh.core.redaction import redact_secrets
from afresh.core.reducer import fold_entries
from afresh.core.report_path import choose_report_path
from afresh.core.state import State
from afresh.core.states.ceiling_state import MODEL_WINDOW_DIVISOR, LimitsOrdered
from afresh.core.states.queue_state import FIRST_COME, PlaceChanged, QueuePlace
from afresh.core.task import (
    FIX_VIOLATION_TYPE,
    TYPES_WITHOUT_NEW_TESTS,
    Check,
    IssueAttached,
    QueueTicket,
    StartChosen,
    Task,
    TaskStatus,
)
from afresh.core.template import Template
from afresh.errors import BadInput, Conflict
from afresh.models.choose_model import (
    OFFLINE_SPEC,
    is_provider,
    make_spec_absolute,
)
from afresh.policy.questions import offer_acceptance
from afresh.workspace.git import find_author_name

ID_SUFFIX_BYTES = 4
"""Random bytes of an id: enough that tasks from two machines with the same goal do not collide in an export."""
MAX_SLUG_CHARACTERS = 20
MAX_TAKEN_IDS = 8
"""How often a taken id is replaced; more collisions in a row are an error."""


DEFAULT_MAX_STEPS = 60


@dataclass(frozen=True, slots=True)
class TaskOrder:
    """A task as ordered on the command line."""

    goal: str
    type: str = ""
    checks: tuple[str, ...] = ()
    place: QueuePlace = FIRST_COME
    tools: tuple[str, ...] = ()
    """Tools of MCP servers: SERVER or SERVER.TOOL."""
    model: str = ""
    budget: int = 0
    max_steps: int = 0
    max_budget: int = 0
    loop: str = ""
    thinking: int | None = None
    test_changes: tuple[str, ...] = ()
    """Test files and folders that the task may change."""


def add_task(
    project: Project, order: TaskOrder, terms: OrderTerms | None = None, events: Sequence[Event] = (), suffix: str = ""
) -> State:
    """Create a task after all checks of the order, with these events after it. `suffix`: what its id ends with."""
    return create_task(project, *prepare_order(project, order, terms, events, suffix))


def prepare_order(
    project: Project, order: TaskOrder, terms: OrderTerms | None = None, events: Sequence[Event] = (), suffix: str = ""
) -> tuple[Task, Sequence[Event]]:
    """Check an order; return the task and what is recorded with it. Nothing is stored. With terms, also check what concerns the
    person: model, goal and checks."""
    if not order.goal.strip():
        raise BadInput(
            "the goal is empty", next='describe the goal: afresh run "make the parser accept tabs"', safe=NOTHING_ADDED
        )
    project.queue.counts()  # a database that can't be read is named before anything else is asked for
    for need in order.place.needs:
        if not (known := find_ticket(project.queue, need)) or known.parent:
            raise BadInput(f"no such task to wait for: {need}", next="afresh status --all lists the tasks", safe=NOTHING_ADDED)
    allowed = [give_leave(project.paths.root, order.test_changes)] if order.test_changes else []
    refuse_unapproved_tools(project.settings, order.tools)
    title = next((event.issue.title for event in events if isinstance(event, IssueAttached)), "")
    task = make_task(project, order, title, suffix)
    refuse_unworkable_task(task, project.templates, project.instructions, project.settings.models)
    if terms:
        check_model(project, task, terms)
        check_goal(project, task, terms)
    if terms and terms.without_check:
        task = replace(task, checks=task.checks if order.checks else ())
    elif not task.checks and not task.report:
        task = replace(task, checks=find_task_checks(project))
        refuse_unworkable_task(task, project.templates, project.instructions, project.settings.models)
    if terms:
        start = next((event.start.base for event in events if isinstance(event, StartChosen)), "")
        check_commands(project, task, terms, start or "HEAD")
    return task, [*allowed, *file_order(order.place), *events]


def file_order(place: QueuePlace) -> list[Event]:
    """What is recorded of labels, due time and project of an order."""
    filed = place.labels or place.due or place.project
    return [PlaceChanged(place.needs, labels=place.labels, due=place.due, project=place.project)] if filed else []


def make_task(project: Project, order: TaskOrder, title: str = "", suffix: str = "") -> Task:
    """Return the task as ordered, with the defaults of the settings, AGENT.md and its type; it is not stored. The title of an
    issue names no file for a report."""
    settings = project.settings
    type = order.type or settings.type or "implement_feature"
    merged = merge_task_type(type, project.templates)
    asked = order.goal.replace(title, re.sub(r"\W+", " ", title))
    report = choose_report_path(merged.family, asked, lambda path: (project.paths.root / path).is_file())
    defaults = project.instructions.defaults((merged.family, type))
    model = order.model or (OFFLINE_SPEC if merged.family == FIX_VIOLATION_TYPE else settings.model)
    checks = order.checks or (() if report else settings.checks or ((defaults.test_command,) if defaults.test_command else ()))
    usual = settings.budget or choose_ceiling(make_template(merged), order, settings, model)
    return Task(
        id=make_task_id(redact_secrets(order.goal), suffix),
        goal=redact_secrets(order.goal),
        type=type,
        checks=tuple(Check(command, settings.check_timeout) for command in checks),
        priority=order.place.priority,
        needs=order.place.needs,
        tools=order.tools,
        model=make_spec_absolute(model),
        budget=order.budget or min(usual, order.max_budget or usual),
        max_steps=order.max_steps or settings.max_steps or defaults.max_steps or DEFAULT_MAX_STEPS,
        project=project.paths.root.name,
        family=merged.family if merged.family != type else "",
        report=report,
        max_budget=order.max_budget or order.budget or settings.max_budget or settings.budget,
        loop=order.loop or settings.loop or "",
        parts=settings.delegation.parts if settings.delegation.offer else 0,
        thinking=order.thinking,
        require_tests=bool(defaults.require_tests) and not report and merged.family not in TYPES_WITHOUT_NEW_TESTS,
    )


def create_task(project: Project, task: Task, events: Sequence[Event] = ()) -> State:
    """Start a task's journal, with another id if the commit finds it taken."""
    for _ in range(MAX_TAKEN_IDS):
        try:
            return record_events(project, None, task.id, [TaskCreated(task), *events])
        except Conflict:
            task = replace(task, id=make_task_id(task.goal))
    return record_events(project, None, task.id, [TaskCreated(task), *events])


def choose_ceiling(style: Template, order: TaskOrder, settings: Settings, model: str) -> int:
    """Return the template's ceiling plus the model's thinking budget, so that prompts keep their size; at most what the model's
    context window permits."""
    asked = max([style.thinking, *[phase.thinking for phase in style.phases]]) if order.thinking is None else order.thinking
    usual = style.ceiling + (asked if order.thinking or (model and is_provider(model, settings.models)) else 0)
    return min(usual, find_window_and_framing(model, settings.models)[0] // MODEL_WINDOW_DIVISOR)


def find_task_checks(project: Project) -> tuple[Check, ...]:
    """Return checks from the project's files that are known to find tests. They are run when the task starts, not here."""
    from afresh.app.orders.choose_checks import ProjectWithSettings, choose_checks

    chosen = choose_checks(ProjectWithSettings(project.paths, project.settings), limit=0)
    return tuple(Check(command, project.settings.check_timeout) for command in chosen.checks)


def find_task(project: Project, name: str | None, wanted: Callable[[QueueTicket], object] | None = None) -> str:
    """Find a task as `find_task_id` does."""
    return find_task_id(project.queue, project.paths.folder / "export", name, wanted)


def order_limits(project: Project, task: str, budget: int, max_budget: int) -> State:
    """Give a task that waits other limits for its calls; 0: as it is. One that waits because no prompt fits goes on."""
    with project.storage.transaction():
        state = project.store.load(task)
        refuse_fixed_place(project, state)
        highest = max_budget or budget or state.task.max_budget
        changed = replace(state.task, budget=budget or min(state.task.budget, max_budget), max_budget=highest)
        refuse_unworkable_limits(changed, project.settings.models)
        resumes = 0 < state.dialogue.limit <= changed.budget_limit
        event = LimitsOrdered(changed.budget, changed.max_budget, find_author_name(project.paths.root), resumes)
        return record_events(project, state, task, [event])


def end_task(project: Project, task: str, status: TaskStatus, reason: str, commit: str = "") -> State:
    return record_events(project, project.store.load(task), task, [TaskEnded(status, reason, commit)])


def block_task(project: Project, task: str, question: QuestionAsked, why: str = "") -> State:
    """Block the task with a question, and release it."""
    state = project.store.load(task)
    ended = TaskEnded(TaskStatus.BLOCKED, why or question.question)
    return record_events(project, state, task, [offer_acceptance(question, state), ended])


def record_events(project: Project, state: State | None, task: str, events: Sequence[Event]) -> State:
    """Record events from outside of a run, such as a person's."""
    entries = link_events(task, state.head if state else JournalHead(), project.clock.now(), events)
    after = fold_entries(state, entries)
    with project.view_writer.writing(task):
        project.store.append(entries, (), after)
        project.facts.saw(after, entries)
        project.view_writer.saw(after, entries)
    return after


def make_task_id(goal: str, suffix: str = "") -> str:
    letters = re.sub(r"[\u0300-\u036f]", "", unicodedata.normalize("NFKD", goal.casefold()))
    words = re.findall(r"[a-z0-9]+", letters)
    slug = shorten(" ".join(words), MAX_SLUG_CHARACTERS, placeholder="").replace(" ", "-")
    slug = slug or "".join(words[:1])[:MAX_SLUG_CHARACTERS] or "task"
    return f"{slug}-{suffix or secrets.token_hex(ID_SUFFIX_BYTES)}"


def refuse_part_of_task(state: State) -> None:
    if parent := state.task.parent:
        raise BadInput(
            f"{state.task.id} is a subtask of {parent}; its result is part of that task",
            next=f"afresh show {parent} shows its state",
            safe="nothing was changed",
        )
