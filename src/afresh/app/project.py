"""An open project: its paths, storage and settings."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from afresh.app.queue.read_tasks import SystemClock, find_user_folder
from afresh.app.settings import ProjectPaths, Settings, load_settings
from afresh.config.instructions.find_instructions import InstructionFiles, instructions_for_project
from afresh.config.templates.template_files import TemplateLayers, layers_for_project
from afresh.core.codec import to_canonical_json
from afresh.core.known_secrets import remember_environment_secrets
from afresh.ports.storage import FactStore, LedgerStore, Notebook, StepJournal, Storage, TaskQueue
from afresh.ports.watch import Clock
from afresh.storage.choose_storage import (
    describe_store,
    enter_project_again,
    find_shared_remote,
    find_store_address,
    ignore_warning,
    open_storage,
)
from afresh.views.write_files import ViewWriter, rebuild_view_files
from afresh.workspace.disk_files import write_durable_file
from afresh.workspace.repository import Repository

if TYPE_CHECKING:
    from afresh.app.orders.choose_checks import ChosenChecks


@dataclass(frozen=True, slots=True)
class Project:
    """A project with its storage open."""

    paths: ProjectPaths
    storage: Storage
    settings: Settings
    view_writer: ViewWriter
    clock: Clock
    templates: TemplateLayers
    instructions: InstructionFiles
    remote: str = ""
    """Address of the git remote that carries the work of its tasks from one machine to another; empty: it stays on this one."""

    @property
    def store(self) -> StepJournal:
        return self.storage.journal

    @property
    def queue(self) -> TaskQueue:
        return self.storage.queue

    @property
    def facts(self) -> FactStore:
        return self.storage.facts

    @property
    def notebook(self) -> Notebook:
        return self.storage.notebook

    @property
    def ledger(self) -> LedgerStore:
        """The ledger of all projects of the user."""
        return self.storage.ledger


def open_project(path: Path, warn: Callable[[str], None] = ignore_warning) -> Project:
    """Open the project around `path`; writes nothing to it. From now on no key of the environment is recorded.
    `warn` shows that files beside the database can't be written."""
    remember_environment_secrets(os.environ)
    paths = ProjectPaths(Repository.find(path).root)
    if find_store_address():  # a worker writes files of its tasks here, and no database
        paths.make_state()
    clock = SystemClock()
    storage = open_storage(paths.root, find_user_folder(), clock, warn)
    templates = layers_for_project(paths.root)
    writer = ViewWriter(paths.state, storage.journal, storage.queue, warn, storage.facts)
    return Project(
        paths=paths,
        storage=storage,
        settings=load_settings(paths),
        view_writer=writer,
        clock=clock,
        templates=templates,
        instructions=instructions_for_project(paths.root, templates),
        remote=find_shared_remote(paths.root),
    )


def reopen_project(project: Project) -> Project:
    """The same project with connections of its own, for another thread."""
    storage = open_storage(project.paths.root, find_user_folder(), project.clock)
    writer = ViewWriter(project.paths.state, storage.journal, storage.queue, facts=storage.facts)
    return replace(project, storage=storage, view_writer=writer)


CONFIG_TEMPLATE = """\
# Settings of this repository for afresh. Models, keys and the sandbox are the user's, not the repository's.
# checks = [{check}]   # must exit 0 before a task counts as done
# type = "implement_feature"         # kind of task when none is named
# budget = 4000                      # ceiling in tokens for each call, whatever the type says
# max_steps = 60
# check_timeout = 600                # seconds after which a check is killed
"""


def init_project(project: Project) -> Sequence[str]:
    """Set up the repository. Returns one line for each thing created or found. Safe to repeat."""
    project.paths.make_state()
    enter_project_again(project.paths.root)
    config = project.paths.folder / "config.toml"
    made = "kept" if config.exists() else "made"
    from afresh.app.orders.choose_checks import ProjectWithSettings, choose_checks, suggest_check, try_set_checks

    place = ProjectWithSettings(project.paths, project.settings)
    chosen = try_set_checks(place) if project.settings.checks else choose_checks(place)
    if not config.exists():
        check = to_canonical_json((*chosen.checks, suggest_check(place))[0])
        write_durable_file(config, CONFIG_TEMPLATE.replace("{check}", check))
    from afresh.app.code.explore_code import describe_missing_grammars
    from afresh.workspace.checkout_files import CheckoutFiles

    unread = describe_missing_grammars(CheckoutFiles(project.paths.root).paths())
    found = ", ".join(chosen.checks) or "none works yet, so no result could be verified"
    return [
        f"{made} {config.relative_to(project.paths.root)} (commit it if you like)",
        f"state in {project.paths.state.relative_to(project.paths.root)} (ignored by git)",
        *describe_shared_places(project.paths.root),
        f"checks: {found}" + (f" ({chosen.told})" if chosen.told and not (chosen.failed and not chosen.checks) else ""),
        *[f"  {one}" for one in chosen.failed],
        f"instructions: {list_instruction_files(project.instructions) or 'none; add your own in .afresh/AGENT.md'}",
        *([f"languages: {unread}"] if unread else []),
        f"next: {suggest_next_step(project, chosen)}",
    ]


def suggest_next_step(project: Project, chosen: "ChosenChecks") -> str:
    """Advise what brings the user to a task that can be verified."""
    if chosen.checks:
        return f'{"" if project.settings.model else "afresh setup chooses a model; then "}afresh run "GOAL"'
    if any(" -m pytest" in one or " -m unittest" in one for one in chosen.failed) and not (project.paths.root / ".venv").exists():
        return (
            "install what the tests need (python3 -m venv .venv; .venv/bin/python -m pip install -e . pytest), then afresh init "
            "again; or pass --check"
        )
    return "pass --check COMMAND with each task, or set checks in the config"


def describe_shared_places(root: Path) -> Sequence[str]:
    """Where tasks and their code are if workers on many machines share them; empty if they are here."""
    if not (store := describe_store()):
        return []
    remote = find_shared_remote(root)
    cloned = f"{remote}: workers clone it and push results" if remote else "none, so no worker takes its tasks; add `origin`"
    return [f"tasks in {store}", f"remote {cloned}"]


def rebuild_views(project: Project) -> int:
    project.facts.rebuild()
    if project.storage.copy:
        project.storage.copy.rebuild()
    return rebuild_view_files(project.store, project.queue, project.paths.state, project.facts)


def list_instruction_files(files: InstructionFiles) -> str:
    """List the instruction files that apply to every task, and those of the project that are not read."""
    found = files.look((), ())
    return "; ".join(filter(None, [", ".join(source.file for source in found.sources), *found.notes]))
