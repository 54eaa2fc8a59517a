"""Brings back what `check_state` found damaged. The old database is kept; everything else is derived and is written again."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from socket import gethostname

from afresh.app.project import Project, open_project, rebuild_views
from afresh.app.queue.read_tasks import find_user_folder
from afresh.app.spending.spending_ledger import restore_missing_calls
from afresh.app.stored_state.check_state import StateReport, list_leftovers
from afresh.app.stored_state.export_import import find_export_folder, import_lost_tasks
from afresh.core.archived_block import Block, find_block_ids
from afresh.core.reducer import fold_entries
from afresh.core.task import describe_worker
from afresh.core.text import format_count
from afresh.errors import BadInput, Damaged, NotPossible
from afresh.ports.storage import Storage
from afresh.storage.export.copy_files import list_copied_tasks
from afresh.storage.export.manifest import find_copy_folder, read_manifest
from afresh.storage.sql.schema import JOURNAL_FILE_NAME
from afresh.storage.sqlite.storage import open_sqlite_storage
from afresh.workspace.disk_files import remove_tree, sync_folder

DATABASE_AREAS = ("database", "journals", "tickets")
"""Their problems are in the database of the project."""
COPY_FOLDER = "fsck.new"


def list_exported_tasks(project: Project) -> frozenset[str]:
    """Tasks that the project's copy or export can bring back."""
    export = find_export_folder(project)
    tasks = set(list_copied_tasks(find_copy_folder(export)))
    with suppress(BadInput, Damaged):
        tasks.update(row.id for row in read_manifest(export).tasks)
    return frozenset(tasks)


def repair_state(project: Project, report: StateReport, tell: Callable[[str], None] = lambda what: None) -> list[str]:
    """Repair all that can be; returns a line for each thing that was done. NotPossible while a worker runs."""
    refuse_running_worker(project)
    done: list[str] = []
    if any(problem.repairable for name in DATABASE_AREAS for problem in report.find_area(name).problems):
        tell("copying the tasks that are whole")
        copied, old = copy_whole_tasks(project, report.damaged)
        done.append(f"copied {format_count(copied, 'task')} into a new database; the old one is {old}")
        project = open_project(project.paths.root)
        lost = list_exported_tasks(project) - {ticket.task for ticket in project.queue.tickets()}
        if lost:
            tell("importing from the export")
            back = [outcome.task for outcome in import_lost_tasks(project) if outcome.added]
            done.append(f"restored from the export: {', '.join(filter(None, back))}")
    for path in list_leftovers(project):
        if path.is_dir():
            remove_tree(path)
        else:
            path.unlink(missing_ok=True)
        done.append(f"removed {path}")
    tell("writing derived files again")
    done.append(f"wrote the files of {format_count(rebuild_views(project), 'task')} and the fact index again")
    if calls := restore_missing_calls(project):
        done.append(f"entered {calls} missing calls in the spending ledger")
    return done


def refuse_running_worker(project: Project) -> None:
    owners = [ticket.owner for ticket in project.queue.tickets() if ticket.owner]
    if owners:
        raise NotPossible(
            f"{describe_worker(owners[0], gethostname())} is working on a task of this project",
            next="stop it, then repair",
            safe="nothing was changed",
        )


def copy_whole_tasks(project: Project, damaged: Sequence[str]) -> tuple[int, Path]:
    """Copy journals, blocks and the notebook into a new database, which then takes the place of the old one. The old one gets a
    second name first, so that no crash in between loses it."""
    state = project.paths.state
    folder = state / COPY_FOLDER
    remove_tree(folder)
    folder.mkdir(mode=0o700)
    copy = open_sqlite_storage(folder, find_user_folder(), project.clock)
    tasks = [ticket.task for ticket in project.queue.tickets() if ticket.task not in damaged]
    kept: set[str] = set()
    with copy.transaction():
        pass  # where no task is whole, the new database is empty, but there
    for task in tasks:
        _copy_task(project.storage, copy, task, kept)
    with suppress(Damaged):
        if notes := list(project.notebook.entries()):
            copy.notebook.extend(notes)
    copy.close()
    project.storage.close()
    old = _choose_old_name(state)
    for suffix in ("", "-wal"):
        with suppress(FileNotFoundError):
            os.link(state / f"{JOURNAL_FILE_NAME}{suffix}", f"{old}{suffix}")
    sync_folder(state)
    for suffix in ("-wal", "-shm"):  # a log of the old file would be read as one of the new file
        (state / f"{JOURNAL_FILE_NAME}{suffix}").unlink(missing_ok=True)
    (folder / JOURNAL_FILE_NAME).rename(state / JOURNAL_FILE_NAME)
    sync_folder(state)
    remove_tree(folder)
    return len(tasks), old


def _copy_task(source: Storage, target: Storage, task: str, kept: set[str]) -> None:
    entries = list(source.journal.journal(task))
    blocks: list[Block] = []
    for name in dict.fromkeys(name for entry in entries for name in find_block_ids(entry.body)):
        if name not in kept:
            with suppress(KeyError, Damaged):
                blocks.append(Block(name, source.journal.read(name)))
                kept.add(name)
    target.journal.append(entries, blocks, fold_entries(None, entries))


def _choose_old_name(state: Path) -> Path:
    number = 1
    while (old := state / f"{JOURNAL_FILE_NAME}.damaged-{number}").exists():
        number += 1
    return old
