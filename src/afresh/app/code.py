"""The code of the user's checkout, for commands that people run in it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from afresh.adapters.store.code import SqliteCode
from afresh.adapters.workspace.files import TreeFiles
from afresh.adapters.workspace.git import HARMLESS, as_user
from afresh.adapters.workspace.repository import located
from afresh.app.tasks import Desk
from afresh.insight.code import Code
from afresh.insight.held import HeldCode
from afresh.insight.index import refresh
from afresh.ports import CodeStore, Files

CHECKOUT = "checkout"
"""Name of the user's own tree among those that the store knows."""


@dataclass(frozen=True, slots=True)
class Checkout:
    root: Path

    @property
    def state(self) -> Path:
        """Where the index lies: with the project's state where there is one, else in the user's data folder, so that looking at a
        repository leaves nothing in it."""
        from platformdirs import user_data_path

        own = self.root / ".afresh" / "state"
        name = f"{self.root.name}-{sha256(os.fsencode(self.root)).hexdigest()[:12]}"
        return own if own.is_dir() and not own.is_symlink() else user_data_path("afresh") / "code" / name

    @property
    def files(self) -> TreeFiles:
        return TreeFiles(self.root, lambda: present(self.root))


def checkout_of(where: Desk | Path) -> Checkout:
    """Of a project, or of the repository that a folder is in. BadInput if it is in none."""
    return Checkout(where.project.root if isinstance(where, Desk) else located(where.resolve()).root)


def opened(where: Desk | Path) -> Code:
    """The code as it is on disk now. Nothing is written into the repository but the state of a project that has one."""
    checkout = checkout_of(where)
    return view(checkout, checkout.files)


def view(checkout: Checkout, files: Files) -> Code:
    return refresh(files, CHECKOUT, store_of(checkout))


def store_of(checkout: Checkout) -> CodeStore:
    """In memory where nothing can be written, as on a disk that is full or read-only."""
    try:
        checkout.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return HeldCode()
    return SqliteCode(checkout.state / "code.db")


def present(root: Path) -> Sequence[str]:
    """Files that are tracked or new, without ignored ones, links and what afresh itself keeps; sorted."""
    listed = os.fsdecode(as_user(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", config=HARMLESS))
    names = {name for name in listed.split("\0") if name and not name.startswith(".afresh/")}
    return tuple(sorted(name for name in names if (root / name).is_file() and not (root / name).is_symlink()))
