"""Tasks come in and are found again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from afresh.app.clock import SystemClock
from afresh.app.settings import ProjectPaths, Settings, load_settings
from afresh.config.instructions.find_instructions import InstructionFiles, instructions_for_project
from afresh.config.templates.template_files import TemplateLayers, layers_for_project
from afresh.core.fact import USER_JOURNAL
from afresh.ports.watch import Clock
from afresh.storage.sqlite.database import Database
from afresh.storage.sqlite.fact_index import SqliteFactIndex
from afresh.storage.sqlite.journal import SqliteJournal
from afresh.storage.sqlite.ledger import SqliteLedger
from afresh.storage.sqlite.notebook import SqliteNotebook
from afresh.storage.sqlite.queue import SqliteQueue
from afresh.views.write_files import ViewWriter
from afresh.views.write_files import rebuild_view_files as rebuild_projections
from afresh.workspace.repository import Repository, make_state_folder


@dataclass(frozen=True, slots=True)
class Project:
    """A project with its store and queue open."""

    project: ProjectPaths
    database: Database
    store: SqliteJournal
    queue: SqliteQueue
    settings: Settings
    projections: ViewWriter
    clock: Clock
    templates: TemplateLayers
    notebook: SqliteNotebook
    lore: SqliteFactIndex
    instructions: InstructionFiles
    ledger: SqliteLedger
    """Of all the user's projects; opened when somebody asks it."""


def open_project(path: Path) -> Project:
    """The project that `path` is in; its state folder is made when missing."""
    repository = Repository.find(path)
    make_state_folder(repository)
    project = ProjectPaths(repository.root)
    database = Database(project.database)
    clock = SystemClock()
    store, queue = SqliteJournal(database), SqliteQueue(database, clock)
    notebook = SqliteNotebook(database, clock)
    lore = SqliteFactIndex(project.state / "memory.db", store, list_notebooks(notebook, clock))
    projections = ViewWriter(project.state, store, queue.tickets, lore=lore)
    shelf = layers_for_project(project.root)
    written = instructions_for_project(project.root, shelf)
    given = load_settings(project)
    return Project(project, database, store, queue, given, projections, clock, shelf, notebook, lore, written, open_user_ledger())


def list_notebooks(notebook: SqliteNotebook, clock: Clock) -> Callable[[], list[SqliteNotebook]]:
    """The project's and, as soon as there is one, the user's own, which is opened once."""
    own: list[SqliteNotebook] = []

    def current() -> list[SqliteNotebook]:
        own.extend(() if own else open_user_notebook(clock))
        return [notebook, *own]

    return current


def open_user_notebook(clock: Clock, make: bool = False) -> list[SqliteNotebook]:
    """The notebook that all projects of the user share, once there is one."""
    from platformdirs import user_data_path

    path = user_data_path("afresh") / "user.db"
    if make:
        path.parent.mkdir(parents=True, exist_ok=True)
    return [SqliteNotebook(Database(path), clock, USER_JOURNAL)] if make or path.exists() else []


def open_user_ledger() -> SqliteLedger:
    from platformdirs import user_data_path

    return SqliteLedger(user_data_path("afresh") / "ledger.db")


CONFIG_TEMPLATE = """\
# Settings of this repository for afresh. Models, keys and the sandbox are the user's, not the repository's.
# checks = ["python -m pytest -q"]   # must exit 0 before a task counts as done
# type = "implement_feature"         # kind of task when none is named
# budget = 4000                      # ceiling in tokens for each call, whatever the type says
# max_steps = 60
# check_timeout = 600                # seconds after which a check is killed
"""


def init_project(desk: Project) -> Sequence[str]:
    """What was made or found, one line each. Safe to repeat."""
    config = desk.project.folder / "config.toml"
    made = "kept" if config.exists() else "made"
    if not config.exists():
        config.write_text(CONFIG_TEMPLATE, "utf-8")
    from afresh.app.choose_checks import ChosenChecks, ProjectWithSettings, choose_checks

    settled = desk.settings.checks
    chosen = ChosenChecks(settled) if settled else choose_checks(ProjectWithSettings(desk.project, desk.settings))
    found = ", ".join(chosen.checks) or "none found: pass --check, or set checks in the config"
    return [
        f"{made} {config.relative_to(desk.project.root)} (yours to commit)",
        f"state in {desk.project.state.relative_to(desk.project.root)} (ignored by git)",
        f"checks: {found}" + (f" ({chosen.told})" if chosen.told else ""),
        f"instructions: {list_instruction_files(desk.instructions) or 'none; write .afresh/AGENT.md if there is something to say'}",
        'next: afresh doctor, then afresh run "what is to be done"',
    ]


def rebuild_views(desk: Project) -> int:
    desk.lore.rebuild()
    return rebuild_projections(desk.store, desk.queue.tickets(), desk.project.state, desk.lore)


def hash_project_root(root: Path) -> str:
    """The same for as long as it stays where it is."""
    return sha256(str(root.absolute()).encode()).hexdigest()[:16]


def list_instruction_files(files: InstructionFiles) -> str:
    """The files that count for any task here, for a person who sets a repository up."""
    return ", ".join(source.file for source in files.look((), ()).sources)
