"""View files as they are written, commit by commit."""

import json
from pathlib import Path

from journals import on_disk

from afresh.core import event as happened
from afresh.core.task import Task
from afresh.storage.sql.fact_index import SqlFactIndex
from afresh.views.write_files import ViewWriter, rebuild_view_files


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class ViewFolder:
    """A writer with a journal behind it."""

    def __init__(self, folder: Path) -> None:
        folder.parent.mkdir(exist_ok=True)
        self.folder, self.project, self.complaints = folder, on_disk(folder.parent), list[str]()
        self.store, self.queue = self.project.store, self.project.queue
        self.writer = ViewWriter(folder, self.store, self.queue, self.complaints.append)

    def add(self, task: str, **order: object) -> None:
        self.commit(task, happened.TaskCreated(Task(id=task, **{"goal": "a goal", **order})))

    def commit(self, task: str, *events: happened.Event, at: float = 1_700_000_000.0) -> None:
        state, entries = self.project.commit(task, events, at)
        if isinstance(self.writer.facts, SqlFactIndex):
            self.writer.facts.saw(state, entries)
        self.writer.saw(state, entries)

    def json(self, name: str) -> dict:
        return json.loads((self.folder / name).read_text())

    def log(self, task: str) -> list[dict]:
        return [json.loads(line) for line in (self.folder / "decisions" / f"{task}.jsonl").read_text().splitlines()]

    def continuity(self) -> dict:
        return self.json("continuity.json")

    def rebuilt(self) -> dict[str, bytes]:
        rebuild_view_files(self.store, self.queue, self.folder)
        return files(self.folder)
