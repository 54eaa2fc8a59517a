"""The code of the user's checkout, for commands that people run in it."""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from afresh.adapters.store.code import SqliteCodeIndex
from afresh.adapters.store.coverage import CoverageMap
from afresh.adapters.workspace.history import read_commit_history
from afresh.adapters.workspace.repository import locate_repository
from afresh.adapters.workspace.walk import CheckoutFiles
from afresh.app.tasks import Project
from afresh.domain.history import CommitHistory
from afresh.insight.churn import LazyChurn
from afresh.insight.code import CodeIndex
from afresh.insight.held import MemoryCodeStore
from afresh.insight.index import refresh_code_index
from afresh.ports import CodeIndexStore, FileTree

CHECKOUT_TREE_NAME = "checkout"
"""Name of the user's own tree among those that the store knows."""


@dataclass(frozen=True, slots=True)
class IndexedCheckout:
    """A checkout of the user's, and where what is known of it lies."""

    root: Path

    @property
    def state(self) -> Path:
        """With the project's state where there is one, else in the user's data folder, so that looking at a repository leaves
        nothing in it."""
        from platformdirs import user_data_path

        own = self.root / ".afresh" / "state"
        name = f"{self.root.name}-{sha256(os.fsencode(self.root)).hexdigest()[:12]}"
        return own if own.is_dir() and not own.is_symlink() else user_data_path("afresh") / "code" / name

    @property
    def files(self) -> CheckoutFiles:
        return CheckoutFiles(self.root)


def find_indexed_checkout(where: Project | Path) -> IndexedCheckout:
    """Of a project, or of the repository that a folder is in. BadInput if it is in none."""
    return IndexedCheckout(where.project.root if isinstance(where, Project) else locate_repository(where.resolve()).root)


def open_checkout_code(where: Project | Path) -> CodeIndex:
    """The code as it is on disk now. Nothing is written into the repository but the state of a project that has one."""
    home = find_indexed_checkout(where)
    return refresh_checkout_code(home, home.files)


def refresh_checkout_code(home: IndexedCheckout, files: FileTree) -> CodeIndex:
    """With what git and a run of coverage.py have to tell, which they are asked for only when somebody wants to know."""
    return refresh_code_index(
        files,
        CHECKOUT_TREE_NAME,
        open_checkout_store(home),
        LazyChurn(lambda: _read_checkout_history(home)),
        CoverageMap(home.root),
    )


def _read_checkout_history(home: IndexedCheckout) -> CommitHistory:
    repository = locate_repository(home.root)
    return read_commit_history(repository.git, repository.head, home.state)


def open_checkout_store(home: IndexedCheckout) -> CodeIndexStore:
    """In memory where nothing can be written, as on a disk that is full or read-only."""
    try:
        home.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return MemoryCodeStore()
    return SqliteCodeIndex(home.state / "code.db")
