"""A copy of the user's checkout as it is now, to try things in: what is done to it reaches nothing else."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

from afresh.adapters.workspace.environment import copy_needed, needed_files
from afresh.adapters.workspace.files import TreeFiles
from afresh.adapters.workspace.repository import Repository, excludes_file, make_state
from afresh.adapters.workspace.trees import remove_tree, through_link
from afresh.errors import BadInput

LARGEST = 1 << 30


def listed(repository: Repository) -> tuple[str, ...]:
    """Tracked and new files of the checkout, without ignored ones and what is afresh's own, sorted."""
    excludes = excludes_file(repository)
    config = (f"core.excludesFile={excludes}",) if excludes else ()
    said = repository.git.run("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", config=config)
    names = {os.fsdecode(name) for name in said.split(b"\0")[:-1]}
    return tuple(sorted(name for name in names if name.isprintable() and not name.startswith(".afresh/") and not name.endswith("/")))


def checkout_files(repository: Repository) -> TreeFiles:
    """The Files port over the user's checkout, for looking only."""
    names = listed(repository)
    present = tuple(name for name in names if os.path.lexists(repository.root / name))
    return TreeFiles(repository.root, lambda: present)


@contextlib.contextmanager
def scratch(repository: Repository) -> Iterator[Path]:
    """BadInput if the checkout is too large to be copied."""
    folder = Path(mkdtemp(prefix="trial-", dir=make_state(repository)))
    try:
        names = [name for name in listed(repository) if not through_link(repository.root, name)]
        _refuse_large(repository.root, names)
        for name in names:
            _copy(repository.root / name, folder / name)
        copy_needed(repository.root, folder, needed_files(repository))
        yield folder
    finally:
        remove_tree(folder)


def _refuse_large(root: Path, names: list[str]) -> None:
    size = sum((root / name).lstat().st_size for name in names if os.path.lexists(root / name))
    if size > LARGEST:
        raise BadInput(f"the checkout has {size >> 20:,} MB, too much for a copy to try things in", next="pass --check yourself")


def _copy(source: Path, target: Path) -> None:
    if source.is_symlink() or source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
