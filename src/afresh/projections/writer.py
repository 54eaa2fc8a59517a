"""Writes a task's projections after every commit, from its state and new entries; only a torn log makes it read the journal."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from afresh.domain.event import Checkpointed, Entry, logged
from afresh.domain.state import State
from afresh.ports import UNTOLD, Lore, Store, Ticket
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
from afresh.projections.told import told_by

FOLDERS = ("sessions", "sessions/archive", "decisions", "tasks", "checkpoints", "context")


class ProjectionWriter:
    """A Watcher. A file that can't be written is no reason to stop: it is reported once and made again later."""

    def __init__(
        self, folder: Path, store: Store, tickets: Callable[[], Sequence[Ticket]],
        warn: Callable[[str], None] = lambda text: None, lore: Lore = UNTOLD,
    ) -> None:  # fmt: skip
        self.folder, self.store, self.tickets, self.warn, self.lore = folder, store, tickets, warn, lore
        self.warned = False

    def saw(self, state: State, entries: Sequence[Entry]) -> None:
        with self._careful():
            files.refuse_links(self.folder, *(self.folder / name for name in FOLDERS))
            write_log(self.folder, self.store, state, entries)
            write_task(self.folder, state)
            write_checkpoint(self.folder, state, entries[-1] if entries else None)
            write_context(self.folder, self.store, state, entries)
            with files.locked(self.folder / "continuity.lock"):
                self._write_continuity(state, entries)
                if state.status.over:
                    write_memory(self.folder, self._history({state.task.id: state}, self.tickets()), self.lore)

    def noted(self) -> None:
        """After a person has changed what the project remembers: no task has moved, what is told of them all has."""
        with self._careful():
            files.refuse_links(self.folder)
            with files.locked(self.folder / "continuity.lock"):
                tickets = self.tickets()
                write_continuity(self.folder, continuity.render(tickets, self.store.load, told_by(self.lore)))
                write_memory(self.folder, self._history({}, tickets), self.lore)

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

    def _history(self, known: Mapping[str, State], tickets: Sequence[Ticket]) -> Sequence[history.Written]:
        return history.history(files.read(self.folder / "history.jsonl"), known, tickets, self.store.load)

    def _write_continuity(self, state: State, entries: Sequence[Entry]) -> None:
        old = files.read(self.folder / "continuity.json")
        text = continuity.updated(old, state, entries, lambda: told_by(self.lore))
        if text is None:
            load = lambda task: state if task == state.task.id else self.store.load(task)  # noqa: E731
            text = continuity.render(self.tickets(), load, told_by(self.lore))
        if text != old:
            write_continuity(self.folder, text)


def write_continuity(folder: Path, text: str) -> None:
    files.replace(folder / "continuity.json", text)


def write_task(folder: Path, state: State) -> None:
    """Session file and state file; an ended task's session file moves to the archive."""
    name = files.file_name(state.task.id)
    active, archive = folder / "sessions", folder / "sessions" / "archive"
    here, elsewhere = (archive, active) if state.status.over else (active, archive)
    parts = session.render(state)
    for number, text in enumerate(parts, 1):
        files.replace(_part(here, name, number), text)
    _drop_parts(here, name, len(parts) + 1)
    _drop_parts(elsewhere, name, 1)
    files.replace(folder / "tasks" / f"{name}.json", task_file.render(state))


def write_checkpoint(folder: Path, state: State, last: Entry | None) -> None:
    """Of the state right after a commit that ends with one; the next takes its place."""
    if last and isinstance(last.event, Checkpointed):
        text = checkpoint.render(state, last.event.reason)
        files.replace(folder / "checkpoints" / f"{files.file_name(state.task.id)}.md", text)


def write_memory(folder: Path, lines: Sequence[history.Written], lore: Lore) -> None:
    """The history of finished tasks, and project memory from it; neither while there is nothing to tell. Only under the lock."""
    told = told_by(lore)
    memory = project_memory.render((one.line for one in lines), told, lore.known)
    for name, text in {"history.jsonl": history.file(lines), "project_memory.json": memory}.items():
        if lines or told.rules:
            files.replace(folder / name, text)
        else:
            (folder / name).unlink(missing_ok=True)


def write_context(folder: Path, store: Store, state: State, entries: Sequence[Entry]) -> None:
    """Of a call when there is one among the entries; otherwise only what lies on disk is new."""
    path = folder / "context" / f"{files.file_name(state.task.id)}.json"
    if last := context_index.last_call(entries):
        return files.replace(path, context_index.render(state, last))
    old = files.read(path)
    text = context_index.updated(old, state)
    if text is None:
        past = store.journal(state.task.id) if state.reading.budget else ()
        text = context_index.render(state, context_index.last_call(entry for entry in past if entry.seq <= state.head.seq))
    if text != old:
        files.replace(path, text)
    return None


def write_log(folder: Path, store: Store, state: State, entries: Sequence[Entry]) -> None:
    """Add the new lines if the log ends just before them; otherwise make it again."""
    path = folder / "decisions" / f"{files.file_name(state.task.id)}.jsonl"
    new = sum(logged(entry.event) for entry in entries)
    last = files.last_line(path) or {"n": -1, "seq": -1}
    number, seq = last["n"], last["seq"]
    if number == state.logged - new and (not entries or seq < entries[0].seq):
        if new:
            step, under = decisions.step_before(state, entries), decisions.leads(last)
            files.append(path, "".join(decisions.lines(entries, step, number, under)))
    elif number != state.logged or seq > state.head.seq:
        past = (entry for entry in store.journal(state.task.id) if entry.seq <= state.head.seq)
        files.replace(path, "".join(decisions.lines(past)))


def _part(folder: Path, name: str, number: int) -> Path:
    return folder / (f"{name}.md" if number == 1 else f"{name}.{number}.md")


def _drop_parts(folder: Path, name: str, number: int) -> None:
    """From the last one down, so that a crash leaves no gap that would hide the rest."""
    stale: list[Path] = []
    while (path := _part(folder, name, number)).exists():
        stale.append(path)
        number += 1
    for path in reversed(stale):
        path.unlink()
