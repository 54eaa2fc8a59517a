"""The code of the user's checkout, for commands that people run in it."""

import os
from collections.abc import Sequence
from pathlib import Path

from afresh.adapters.workspace.files import TreeFiles
from afresh.adapters.workspace.git import HARMLESS, as_user
from afresh.adapters.workspace.repository import located
from afresh.app.tasks import Desk
from afresh.insight.code import Code, code_of


def opened(where: Desk | Path) -> Code:
    """The code as it is on disk now: of a project, or of the repository that a folder is in. Nothing is written into it."""
    root = where.project.root if isinstance(where, Desk) else located(where.resolve()).root
    return code_of(TreeFiles(root, lambda: present(root)))


def present(root: Path) -> Sequence[str]:
    """Files that are tracked or new, without ignored ones, links and what afresh itself keeps; sorted."""
    listed = os.fsdecode(as_user(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", config=HARMLESS))
    names = {name for name in listed.split("\0") if name and not name.startswith(".afresh/")}
    return tuple(sorted(name for name in names if (root / name).is_file() and not (root / name).is_symlink()))
