"""The code of the user's checkout, for commands that people run in it."""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from afresh.adapters.store.code import SqliteCode
from afresh.adapters.store.coverage import Measured
from afresh.adapters.workspace.history import history
from afresh.adapters.workspace.repository import located
from afresh.adapters.workspace.walk import Checkout
from afresh.app.tasks import Desk
from afresh.domain.history import History
from afresh.insight.churn import Churned
from afresh.insight.code import Code
from afresh.insight.held import HeldCode
from afresh.insight.index import refresh
from afresh.ports import CodeStore, Files

CHECKOUT = "checkout"
"""Name of the user's own tree among those that the store knows."""


@dataclass(frozen=True, slots=True)
class Home:
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
    def files(self) -> Checkout:
        return Checkout(self.root)


def home_of(where: Desk | Path) -> Home:
    """Of a project, or of the repository that a folder is in. BadInput if it is in none."""
    return Home(where.project.root if isinstance(where, Desk) else located(where.resolve()).root)


def opened(where: Desk | Path) -> Code:
    """The code as it is on disk now. Nothing is written into the repository but the state of a project that has one."""
    home = home_of(where)
    return view(home, home.files)


def view(home: Home, files: Files) -> Code:
    """With what git and a run of coverage.py have to tell, which they are asked for only when somebody wants to know."""
    return refresh(files, CHECKOUT, store_of(home), Churned(lambda: _history(home)), Measured(home.root))


def _history(home: Home) -> History:
    repository = located(home.root)
    return history(repository.git, repository.head, home.state)


def store_of(home: Home) -> CodeStore:
    """In memory where nothing can be written, as on a disk that is full or read-only."""
    try:
        home.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return HeldCode()
    return SqliteCode(home.state / "code.db")
