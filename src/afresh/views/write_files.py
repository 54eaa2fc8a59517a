"""Writes a task's view files after every commit, from its state and new entries; reads the journal only if a log is torn."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import unquote

from afresh.core.event import CheckpointWritten, JournalEntry, is_in_decision_log
from afresh.core.progress_event import ProgressEvent
from afresh.core.project_facts import EMPTY_FACT_INDEX
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.task import TaskStatus, TicketOrder, TicketQuery
from afresh.ports.storage import FactIndex, JournalStore, StepJournal, TaskQueue
from afresh.views import (
    context_index,
    continuity_file,
    decision_log,
    file_io,
    project_memory_file,
    session_file,
    task_history,
    tasks,
)
from afresh.views.project_memory_file import read_rules_and_corrections
from afresh.views.task_history import update_history
from afresh.views.task_list import QueueHead, read_queue_head

OVER_TICKETS = TicketQuery(
    tuple(status for status in TaskStatus if status.over), order=TicketOrder.TOUCHED, most=task_history.MAX_HISTORY_TASKS
)
MARK_FOLDER = "writing"
"""Has a locked file for each task that a process commits to just now."""
ALL_TASKS = "*"
VIEW_FOLDERS = ("sessions", "sessions/archive", "decisions", "tasks", "checkpoints", "context")


def list_view_folders(folder: Path) -> list[Path]:
    """The folders that view files are written to."""
    return [folder, *(folder / name for name in (*VIEW_FOLDERS, MARK_FOLDER)), *(folder / "checkpoints").glob("*/")]


class ViewWriter:
    """A Watcher that writes view files. A file that cannot be written is reported once and rebuilt later."""

    def __init__(
        self, folder: Path, store: StepJournal, queue: TaskQueue,
        warn: Callable[[str], None] = lambda text: None, facts: FactIndex = EMPTY_FACT_INDEX,
    ) -> None:  # fmt: skip
        self.folder, self.store, self.queue, self.warn, self.facts = folder, store, queue, warn, facts
        self.warned = False
        self.cleared = False

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        with self._careful():
            self._clear_stale_files()
            self._write_task(state, entries)
            with file_io.lock_file(self.folder / "continuity.lock"):
                self._write_continuity(state, entries)
                if state.status.over:
                    write_memory_files(self.folder, self._history({state.task.id: state}), self.facts)

    def _write_task(self, state: State, entries: Sequence[JournalEntry]) -> None:
        file_io.refuse_symlinks(self.folder, *(self.folder / name for name in VIEW_FOLDERS))
        write_decision_log(self.folder, self.store, state, entries)
        write_task_files(self.folder, state)
        write_checkpoint_file(self.folder, state, entries[-1] if entries else None)
        write_context_file(self.folder, self.store, state, entries)

    def noted(self) -> None:
        """Update the files after a person has changed the project's facts; no task has changed."""
        with self._careful():
            file_io.refuse_symlinks(self.folder)
            with file_io.lock_file(self.folder / "continuity.lock"):
                write_continuity_file(self.folder, self._render_continuity(self.store.load, read_queue_head(self.queue)))
                write_memory_files(self.folder, self._history({}), self.facts)

    def _clear_stale_files(self) -> None:
        """Once in a process: what killed writers have left."""
        if not self.cleared:
            self.cleared = True
            file_io.clear_stale_files(*list_view_folders(self.folder))

    @contextmanager
    def _careful(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # the task itself is safe in the journal, whatever happens to these files
            if not self.warned:
                self.warned = True
                self.warn(
                    f"session files in {self.folder} are out of date: {error}. The task goes on and is safe in the journal; "
                    "`afresh doctor --rebuild` makes them again"
                )

    def follow(self, event: ProgressEvent) -> None:
        """Do nothing: only committed events are written."""

    @contextmanager
    def writing(self, task: str) -> Iterator[None]:
        """Stand around commits of a task or of ALL_TASKS. If the process is killed before it has written their files, its mark
        stays, and the next process that writes makes the files again."""
        if not self.cleared:
            self.write_again_after_kill()
        with ExitStack() as mark:
            with self._careful():
                file_io.refuse_symlinks(self.folder, self.folder / MARK_FOLDER)
                mark.enter_context(file_io.hold_mark(self.folder / MARK_FOLDER, file_io.file_name_from_task(task)))
            yield

    def write_again_after_kill(self) -> None:
        """Write the files of tasks whose writer was killed."""
        with self._careful(), file_io.take_dead_marks(self.folder / MARK_FOLDER) as names:
            if not names:
                return
            tasks = {unquote(name) for name in names}
            if ALL_TASKS in tasks:
                rebuild_view_files(self.store, self.queue, self.folder, self.facts)
                return
            known = tasks & {ticket.task for ticket in self.queue.tickets()}
            states = {task: self.store.load(task) for task in known}
            for task, state in states.items():
                self._write_task(state, list(self.store.journal(task, self.store.find_step(task, state.work.step))))
            with file_io.lock_file(self.folder / "continuity.lock"):
                write_continuity_file(self.folder, self._render_continuity(self.store.load, read_queue_head(self.queue)))
                write_memory_files(self.folder, self._history(states), self.facts)

    def _history(self, known: Mapping[str, State]) -> Sequence[task_history.HistoryLine]:
        old, over = file_io.read_text_file(self.folder / "history.jsonl"), self.queue.tickets(OVER_TICKETS)
        return task_history.update_history(old, known, over, self.store.load)

    def _render_continuity(self, load: Callable[[str], State], head: QueueHead) -> str:
        return continuity_file.render_continuity(head, load, read_rules_and_corrections(self.facts))

    def _write_continuity(self, state: State, entries: Sequence[JournalEntry]) -> None:
        old = file_io.read_text_file(self.folder / "continuity.json")
        text = continuity_file.update_continuity(old, state, entries, lambda: read_rules_and_corrections(self.facts))
        if text is None:
            load = lambda task: state if task == state.task.id else self.store.load(task)  # noqa: E731
            head = read_queue_head(self.queue)
            text = continuity_file.count_new_task(old, state, entries, head) or self._render_continuity(load, head)
        if text != old:
            write_continuity_file(self.folder, text)


def write_continuity_file(folder: Path, text: str) -> None:
    file_io.replace_file(folder / "continuity.json", text)


def write_task_files(folder: Path, state: State) -> None:
    """Write session and state file; the session file of an ended task moves to the archive."""
    name = file_io.file_name_from_task(state.task.id)
    active, archive = folder / "sessions", folder / "sessions" / "archive"
    here, elsewhere = (archive, active) if state.status.over else (active, archive)
    parts = session_file.render_session(state)
    for number, text in enumerate(parts, 1):
        file_io.replace_file(_part_path(here, name, number), text)
    _drop_parts(here, name, len(parts) + 1)
    _drop_parts(elsewhere, name, 1)
    file_io.replace_file(folder / "tasks" / f"{name}.json", tasks.render_task_file(state))


def write_checkpoint_file(folder: Path, state: State, last: JournalEntry | None) -> None:
    """Write the state after a commit that ends with a checkpoint; the oldest files beyond the bound are deleted."""
    if last and isinstance(last.event, CheckpointWritten):
        own = folder / "checkpoints" / file_io.file_name_from_task(state.task.id)
        file_io.refuse_symlinks(own)
        text = continuity_file.render_checkpoint(state, last.event.reason)
        file_io.replace_file(own / continuity_file.name_checkpoint_file(state.work.step), text)
        for path in sorted(own.glob("*.md"))[: -continuity_file.MAX_CHECKPOINT_FILES]:
            path.unlink()


def write_memory_files(folder: Path, lines: Sequence[task_history.HistoryLine], facts: FactIndex) -> None:
    """Write the history of finished tasks and project memory; neither if there is nothing to write. Needs the lock."""
    told = read_rules_and_corrections(facts)
    memory = project_memory_file.render_project_memory((one.line for one in lines), told, facts.known)
    for name, text in {"history.jsonl": task_history.render_history_file(lines), "project_memory.json": memory}.items():
        if lines or told.rules:
            file_io.replace_file(folder / name, text)
        else:
            (folder / name).unlink(missing_ok=True)


def write_context_file(folder: Path, store: JournalStore, state: State, entries: Sequence[JournalEntry]) -> None:
    """Write the context file from the call among the entries; without one, update only the part about files on disk."""
    path = folder / "context" / f"{file_io.file_name_from_task(state.task.id)}.json"
    if last := context_index.find_last_call(entries):
        return file_io.replace_file(path, context_index.render_context_index(state, last))
    old = file_io.read_text_file(path)
    text = context_index.update_context_index(old, state)
    if text is None:
        past = store.journal(state.task.id) if state.tokens.last_call.budget else ()
        text = context_index.render_context_index(
            state, context_index.find_last_call(entry for entry in past if entry.seq <= state.head.seq)
        )
    if text != old:
        file_io.replace_file(path, text)
    return None


def write_decision_log(folder: Path, store: JournalStore, state: State, entries: Sequence[JournalEntry]) -> None:
    """Append new lines if the log ends just before them; otherwise rebuild it."""
    path = folder / "decisions" / f"{file_io.file_name_from_task(state.task.id)}.jsonl"
    new = sum(is_in_decision_log(entry.event) for entry in entries)
    last = file_io.read_last_line(path) or {"n": -1, "seq": -1}
    number, seq = last["n"], last["seq"]
    if number == state.times.log_lines - new and (not entries or seq < entries[0].seq):
        if new:
            step, under = decision_log.find_step_before(state, entries), decision_log.find_next_parents(last)
            file_io.append_text(path, "".join(decision_log.render_log_lines(entries, step, number, under)))
    elif number != state.times.log_lines or seq > state.head.seq:
        past = (entry for entry in store.journal(state.task.id) if entry.seq <= state.head.seq)
        file_io.replace_file(path, "".join(decision_log.render_log_lines(past)))


def _part_path(folder: Path, name: str, number: int) -> Path:
    return folder / (f"{name}.md" if number == 1 else f"{name}.{number}.md")


def _drop_parts(folder: Path, name: str, number: int) -> None:
    """Delete from the last part down, so that a crash leaves no gap that would hide the others."""
    stale: list[Path] = []
    while (path := _part_path(folder, name, number)).exists():
        stale.append(path)
        number += 1
    for path in reversed(stale):
        path.unlink()


_VIEW_FILE_PATTERNS = (
    "sessions/*.md*",
    "sessions/archive/*.md*",
    "decisions/*.jsonl*",
    "tasks/*.json*",
    "checkpoints/*.md*",
    "checkpoints/*/*.md*",
    "checkpoints/*/.*.md*",
    "context/*.json*",
    "continuity.json",
    ".continuity.json.*",
    "history.jsonl",
    ".history.jsonl.*",
    "project_memory.json",
    ".project_memory.json.*",
)
"""Includes temporary files of a killed writer."""


def _find_view_files(folder: Path) -> set[Path]:
    return {path for pattern in _VIEW_FILE_PATTERNS for path in folder.glob(pattern)}


def list_view_files(folder: Path) -> list[Path]:
    """The view files, without temporary ones."""
    return [path for path in _find_view_files(folder) if path.is_file() and not path.name.startswith(".")]


def rebuild_view_files(store: JournalStore, queue: TaskQueue, folder: Path, facts: FactIndex = EMPTY_FACT_INDEX) -> int:
    """Delete and rebuild all view files; returns the number of tasks. Raises BadInput if a folder of ours is a link."""
    file_io.refuse_symlinks(folder, *(folder / name for name in VIEW_FOLDERS))
    for path in _find_view_files(folder):
        path.unlink()
    states = {ticket.task: _rebuild_task(store, ticket.task, folder) for ticket in queue.tickets()}
    with file_io.lock_file(folder / "continuity.lock"):
        head, told = read_queue_head(queue), read_rules_and_corrections(facts)
        write_continuity_file(folder, continuity_file.render_continuity(head, states.__getitem__, told))
        write_memory_files(folder, update_history("", {}, queue.tickets(OVER_TICKETS), states.__getitem__), facts)
    return len(states)


def _rebuild_task(store: JournalStore, task: str, folder: Path) -> State:
    entries, state, done = list(store.journal(task)), None, 0
    written = [place + 1 for place, entry in enumerate(entries) if isinstance(entry.event, CheckpointWritten)]
    for end in written:
        state, done = fold_entries(state, entries[done:end]), end
        write_checkpoint_file(folder, state, entries[end - 1])
    state = fold_entries(state, entries[done:])
    text = "".join(decision_log.render_log_lines(entries))
    if text:
        file_io.replace_file(folder / "decisions" / f"{file_io.file_name_from_task(task)}.jsonl", text)
    write_task_files(folder, state)
    file_io.replace_file(
        folder / "context" / f"{file_io.file_name_from_task(task)}.json",
        context_index.render_context_index(state, context_index.find_last_call(entries)),
    )
    return state
