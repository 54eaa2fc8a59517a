"""Writes a task's projections after every commit, from its state and new entries; only a torn log makes it read the journal."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from afresh.domain.event import CheckpointWritten, JournalEntry, is_in_decision_log
from afresh.domain.state import State
from afresh.ports import EMPTY_FACT_INDEX, FactIndex, JournalStore, QueueTicket
from afresh.projections import (
    checkpoint,
    context_index,
    continuity,
    decisions,
    files,
    history,
    project_memory,
    session,
    task_file,
)
from afresh.projections.told import read_rules_and_corrections

VIEW_FOLDERS = ("sessions", "sessions/archive", "decisions", "tasks", "checkpoints", "context")


class ViewWriter:
    """A Watcher. A file that can't be written is no reason to stop: it is reported once and made again later."""

    def __init__(
        self, folder: Path, store: JournalStore, tickets: Callable[[], Sequence[QueueTicket]],
        warn: Callable[[str], None] = lambda text: None, lore: FactIndex = EMPTY_FACT_INDEX,
    ) -> None:  # fmt: skip
        self.folder, self.store, self.tickets, self.warn, self.lore = folder, store, tickets, warn, lore
        self.warned = False

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        with self._careful():
            files.refuse_symlinks(self.folder, *(self.folder / name for name in VIEW_FOLDERS))
            write_decision_log(self.folder, self.store, state, entries)
            write_task_files(self.folder, state)
            write_checkpoint_file(self.folder, state, entries[-1] if entries else None)
            write_context_file(self.folder, self.store, state, entries)
            with files.lock_file(self.folder / "continuity.lock"):
                self._write_continuity(state, entries)
                if state.status.over:
                    write_memory_files(self.folder, self._history({state.task.id: state}, self.tickets()), self.lore)

    def noted(self) -> None:
        """After a person has changed what the project remembers: no task has moved, what is told of them all has."""
        with self._careful():
            files.refuse_symlinks(self.folder)
            with files.lock_file(self.folder / "continuity.lock"):
                tickets = self.tickets()
                write_continuity_file(
                    self.folder, continuity.render_continuity(tickets, self.store.load, read_rules_and_corrections(self.lore))
                )
                write_memory_files(self.folder, self._history({}, tickets), self.lore)

    @contextmanager
    def _careful(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # the task itself is safe in the journal, whatever befalls these files
            if not self.warned:
                self.warned = True
                self.warn(
                    f"session files in {self.folder} are out of date: {error}. The task goes on and is safe in the journal; "
                    "`afresh rebuild` makes them again"
                )

    def doing(self, what: str) -> None:
        """Only what has happened is written down."""

    def _history(self, known: Mapping[str, State], tickets: Sequence[QueueTicket]) -> Sequence[history.HistoryLine]:
        return history.update_history(files.read_text_file(self.folder / "history.jsonl"), known, tickets, self.store.load)

    def _write_continuity(self, state: State, entries: Sequence[JournalEntry]) -> None:
        old = files.read_text_file(self.folder / "continuity.json")
        text = continuity.update_continuity(old, state, entries, lambda: read_rules_and_corrections(self.lore))
        if text is None:
            load = lambda task: state if task == state.task.id else self.store.load(task)  # noqa: E731
            text = continuity.render_continuity(self.tickets(), load, read_rules_and_corrections(self.lore))
        if text != old:
            write_continuity_file(self.folder, text)


def write_continuity_file(folder: Path, text: str) -> None:
    files.replace_file(folder / "continuity.json", text)


def write_task_files(folder: Path, state: State) -> None:
    """Session file and state file; an ended task's session file moves to the archive."""
    name = files.file_name_from_task(state.task.id)
    active, archive = folder / "sessions", folder / "sessions" / "archive"
    here, elsewhere = (archive, active) if state.status.over else (active, archive)
    parts = session.render_session(state)
    for number, text in enumerate(parts, 1):
        files.replace_file(_part_path(here, name, number), text)
    _drop_parts(here, name, len(parts) + 1)
    _drop_parts(elsewhere, name, 1)
    files.replace_file(folder / "tasks" / f"{name}.json", task_file.render_task_file(state))


def write_checkpoint_file(folder: Path, state: State, last: JournalEntry | None) -> None:
    """Of the state right after a commit that ends with one; the next takes its place."""
    if last and isinstance(last.event, CheckpointWritten):
        text = checkpoint.render_checkpoint(state, last.event.reason)
        files.replace_file(folder / "checkpoints" / f"{files.file_name_from_task(state.task.id)}.md", text)


def write_memory_files(folder: Path, lines: Sequence[history.HistoryLine], lore: FactIndex) -> None:
    """The history of finished tasks, and project memory from it; neither while there is nothing to tell. Only under the lock."""
    told = read_rules_and_corrections(lore)
    memory = project_memory.render_project_memory((one.line for one in lines), told, lore.known)
    for name, text in {"history.jsonl": history.render_history_file(lines), "project_memory.json": memory}.items():
        if lines or told.rules:
            files.replace_file(folder / name, text)
        else:
            (folder / name).unlink(missing_ok=True)


def write_context_file(folder: Path, store: JournalStore, state: State, entries: Sequence[JournalEntry]) -> None:
    """Of a call when there is one among the entries; otherwise only what lies on disk is new."""
    path = folder / "context" / f"{files.file_name_from_task(state.task.id)}.json"
    if last := context_index.find_last_call(entries):
        return files.replace_file(path, context_index.render_context_index(state, last))
    old = files.read_text_file(path)
    text = context_index.update_context_index(old, state)
    if text is None:
        past = store.journal(state.task.id) if state.reading.budget else ()
        text = context_index.render_context_index(
            state, context_index.find_last_call(entry for entry in past if entry.seq <= state.head.seq)
        )
    if text != old:
        files.replace_file(path, text)
    return None


def write_decision_log(folder: Path, store: JournalStore, state: State, entries: Sequence[JournalEntry]) -> None:
    """Add the new lines if the log ends just before them; otherwise make it again."""
    path = folder / "decisions" / f"{files.file_name_from_task(state.task.id)}.jsonl"
    new = sum(is_in_decision_log(entry.event) for entry in entries)
    last = files.read_last_line(path) or {"n": -1, "seq": -1}
    number, seq = last["n"], last["seq"]
    if number == state.logged - new and (not entries or seq < entries[0].seq):
        if new:
            step, under = decisions.find_step_before(state, entries), decisions.find_next_parents(last)
            files.append_text(path, "".join(decisions.render_log_lines(entries, step, number, under)))
    elif number != state.logged or seq > state.head.seq:
        past = (entry for entry in store.journal(state.task.id) if entry.seq <= state.head.seq)
        files.replace_file(path, "".join(decisions.render_log_lines(past)))


def _part_path(folder: Path, name: str, number: int) -> Path:
    return folder / (f"{name}.md" if number == 1 else f"{name}.{number}.md")


def _drop_parts(folder: Path, name: str, number: int) -> None:
    """From the last one down, so that a crash leaves no gap that would hide the rest."""
    stale: list[Path] = []
    while (path := _part_path(folder, name, number)).exists():
        stale.append(path)
        number += 1
    for path in reversed(stale):
        path.unlink()
