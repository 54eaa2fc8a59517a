"""Tasks come in and are found again."""

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from afresh.adapters.exports.layout import promise
from afresh.adapters.instructions import InstructionFiles, instructions_for
from afresh.adapters.models import anchored, is_provider
from afresh.adapters.queue.sqlite import SqliteQueue
from afresh.adapters.store.database import Database
from afresh.adapters.store.ledger import SqliteLedger
from afresh.adapters.store.lore import SqliteLore
from afresh.adapters.store.notebook import SqliteNotebook
from afresh.adapters.store.sqlite import SqliteStore
from afresh.adapters.templates import Shelf, make, merged_type, shelf_for
from afresh.adapters.time import SystemClock
from afresh.adapters.workspace.repository import Repository, make_state
from afresh.app.acceptance import refuse_unworkable
from afresh.app.project import Project
from afresh.app.settings import Settings, settings
from afresh.domain.chain import link
from afresh.domain.event import Asked, Created, Ended, Event, Head
from afresh.domain.fold import fold
from afresh.domain.notes import USER
from afresh.domain.report import place
from afresh.domain.state import State
from afresh.domain.task import Check, Status, Task
from afresh.domain.template import Template
from afresh.engine.questions import over_ceiling
from afresh.errors import BadInput
from afresh.ports import Clock, Ticket
from afresh.projections.writer import ProjectionWriter


@dataclass(frozen=True, slots=True)
class Order:
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


@dataclass(frozen=True, slots=True)
class Desk:
    """A project with its store and queue open."""

    project: Project
    database: Database
    store: SqliteStore
    queue: SqliteQueue
    settings: Settings
    projections: ProjectionWriter
    clock: Clock
    templates: Shelf
    notebook: SqliteNotebook
    lore: SqliteLore
    instructions: InstructionFiles
    ledger: SqliteLedger
    """Of all the user's projects; opened when somebody asks it."""


def open_desk(path: Path) -> Desk:
    """The project that `path` is in; its state folder is made when missing."""
    repository = Repository.find(path)
    make_state(repository)
    project = Project(repository.root)
    database = Database(project.database)
    clock = SystemClock()
    store, queue = SqliteStore(database), SqliteQueue(database, clock)
    notebook = SqliteNotebook(database, clock)
    lore = SqliteLore(project.state / "memory.db", store, books(notebook, clock))
    projections = ProjectionWriter(project.state, store, queue.tickets, lore=lore)
    shelf = shelf_for(project.root)
    written = instructions_for(project.root, shelf)
    given = settings(project)
    return Desk(project, database, store, queue, given, projections, clock, shelf, notebook, lore, written, users_ledger())


def books(notebook: SqliteNotebook, clock: Clock) -> Callable[[], list[SqliteNotebook]]:
    """The project's and, as soon as there is one, the user's own, which is opened once."""
    own: list[SqliteNotebook] = []

    def current() -> list[SqliteNotebook]:
        own.extend(() if own else users_own(clock))
        return [notebook, *own]

    return current


def users_own(clock: Clock, make: bool = False) -> list[SqliteNotebook]:
    """The notebook that all projects of the user share, once there is one."""
    from platformdirs import user_data_path

    path = user_data_path("afresh") / "user.db"
    if make:
        path.parent.mkdir(parents=True, exist_ok=True)
    return [SqliteNotebook(Database(path), clock, USER)] if make or path.exists() else []


def users_ledger() -> SqliteLedger:
    from platformdirs import user_data_path

    return SqliteLedger(user_data_path("afresh") / "ledger.db")


def add(desk: Desk, order: Order) -> State:
    given = desk.settings
    if not order.goal.strip():
        raise BadInput("the goal is empty", next='say what is to be done: afresh run "make the parser accept tabs"')
    known = {ticket.task for ticket in desk.queue.tickets() if not ticket.parent}
    if missing := [need for need in order.needs if need not in known]:
        raise BadInput(f"there is no task {missing[0]} to wait for", next="afresh list shows the tasks", safe="nothing was added")
    type = order.type or given.type or "implement_feature"
    merged = merged_type(type, desk.templates)
    report = place(merged.family, order.goal, lambda path: (desk.project.root / path).is_file())
    checks = order.checks or (() if report else given.checks)
    task = Task(
        id=new_id(order.goal),
        goal=order.goal,
        type=type,
        checks=tuple(Check(command, given.check_timeout) for command in checks),
        priority=order.priority,
        needs=order.needs,
        model=anchored(order.model or given.model),
        budget=order.budget or given.budget or roomy(make(merged), order, given),
        max_steps=order.max_steps or given.max_steps,
        project=desk.project.root.name,
        family=merged.family if merged.family != type else "",
        report=report,
        max_budget=order.max_budget or given.max_budget,
        loop=order.loop or given.loop or "",
        parts=given.delegation.parts if given.delegation.offer else 0,
        thinking=order.thinking,
    )
    refuse_unworkable(task, desk.templates, desk.instructions, given.models)
    if not checks and not report:
        task = replace(task, checks=found_checks(desk))
        refuse_unworkable(task, desk.templates, desk.instructions, given.models)
    return note(desk, None, task.id, [Created(task)])


def roomy(style: Template, order: Order, given: Settings) -> int:
    """The ceiling of the type, with what its model may think with on top of it: windows stay as large as they are without."""
    model = order.model or given.model
    asked = max([style.thinking, *[phase.thinking for phase in style.phases]]) if order.thinking is None else order.thinking
    return style.ceiling + (asked if not model or is_provider(model, given.models) else 0)


def found_checks(desk: Desk) -> tuple[Check, ...]:
    """As the project's own files say, and seen to find tests. They are run when the task begins: not here, too."""
    from afresh.app.checks import Place, choose_checks

    chosen = choose_checks(Place(desk.project, desk.settings), limit=0)
    return tuple(Check(command, desk.settings.check_timeout) for command in chosen.checks)


def find(desk: Desk, name: str | None) -> str:
    """A task by its id or the beginning of it; without a name the one that was touched last."""
    tickets = desk.queue.tickets()
    if name is None:
        return latest(desk, tickets)
    fits = [ticket.task for ticket in tickets if ticket.task == name] or begins(tickets, name)
    if len(fits) == 1:
        return fits[0]
    what = f"{name!r} fits {len(fits)} tasks: {', '.join(fits[:5])}" if fits else f"there is no task {name!r}"
    raise BadInput(what, next=offer(desk) or "afresh list shows the tasks")


def begins(tickets: Sequence[Ticket], name: str) -> list[str]:
    """Ids that begin so. Those of its parts begin as a task's own does, and are not meant unless they alone fit."""
    fits = [ticket for ticket in tickets if ticket.task.startswith(name)]
    return [ticket.task for ticket in fits if not ticket.parent] or [ticket.task for ticket in fits]


def latest(desk: Desk, tickets: Sequence[Ticket]) -> str:
    tickets = [ticket for ticket in tickets if not ticket.parent]
    if not tickets:
        raise BadInput("there is no task yet", next=offer(desk) or 'give one: afresh run "what is to be done"')
    states = [desk.store.load(ticket.task) for ticket in tickets[-50:]]
    return max(states, key=lambda state: state.updated).task.id


def offer(desk: Desk) -> str:
    """What an export could bring back where there is nothing: the database was lost, or this is a fresh clone."""
    return "" if desk.queue.tickets() else promise(desk.project.folder / "export")


def end(desk: Desk, task: str, status: Status, reason: str) -> State:
    return note(desk, desk.store.load(task), task, [Ended(status, reason)])


def block(desk: Desk, task: str, why: str, question: Asked | None = None) -> State:
    """The task can't go on by itself: it waits for a person and is in nobody's way."""
    return note(desk, desk.store.load(task), task, [question or over_ceiling(why), Ended(Status.BLOCKED, why)])


def note(desk: Desk, state: State | None, task: str, events: Sequence[Event]) -> State:
    """Events from outside a run: a person's."""
    entries = link(task, state.head if state else Head(), desk.clock.now(), events)
    after = fold(state, entries)
    desk.store.append(entries, (), after)
    desk.lore.saw(after, entries)
    desk.projections.saw(after, entries)
    return after


def new_id(goal: str) -> str:
    words = re.findall(r"[a-z0-9]+", goal.lower())
    slug = "-".join(words)[:28].strip("-") or "task"
    return f"{slug}-{secrets.token_hex(2)}"
