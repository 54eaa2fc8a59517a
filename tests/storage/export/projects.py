"""Projects that share a repository and have a database each: a project on several machines."""

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from afresh.app.project import Project, open_project
from afresh.storage.sqlite.storage import open_sqlite_storage
from afresh.views.write_files import ViewWriter


class Projects:
    def __init__(self, folder: Path) -> None:
        self.folder, self.numbers = folder, count()
        repo = folder / "repo"
        repo.mkdir()
        (repo / "a.py").write_text("a = 1\n")
        identity = ("-c", "user.name=t", "-c", "user.email=t@t")
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
            subprocess.run(["git", *identity, *command], cwd=repo, check=True)
        self.first = open_project(repo)

    def fresh(self) -> Project:
        """An empty store."""
        return project_on(self.place() / "afresh.db", self.first)

    def place(self) -> Path:
        folder = self.folder / str(next(self.numbers))
        folder.mkdir()
        return folder


def project_on(path: Path, like: Project) -> Project:
    """The same project, with its journals in this file's folder."""
    storage = open_sqlite_storage(path.parent, path.parent / "user", like.clock)
    writer = ViewWriter(like.paths.state, storage.journal, storage.queue, facts=storage.facts)
    return replace(like, storage=storage, view_writer=writer)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def kept(project: Project) -> tuple[Sequence[object], dict[str, list[str]], dict[str, object]]:
    """All that a store says of its tasks."""
    tickets = project.queue.tickets()
    journals = {ticket.task: [entry.hash for entry in project.store.journal(ticket.task)] for ticket in tickets}
    return tickets, journals, {ticket.task: project.store.load(ticket.task) for ticket in tickets}
