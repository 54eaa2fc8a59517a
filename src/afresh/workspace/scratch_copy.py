"""A copy of the user's checkout as it is now, to try things in: what is done to it reaches nothing else."""

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp

from afresh.errors import BadInput
from afresh.workspace.disk_files import has_link_on_path, remove_tree
from afresh.workspace.environment_files import copy_import_files, find_import_files
from afresh.workspace.repository import Repository, make_state_folder

MAX_CHECKOUT_BYTES = 1 << 30


@contextlib.contextmanager
def make_scratch_copy(repository: Repository, names: Sequence[str]) -> Iterator[Path]:
    """With these files, and those that imports need beside them. BadInput if they are too large to be copied."""
    folder = Path(mkdtemp(prefix="trial-", dir=make_state_folder(repository)))
    try:
        named = [name for name in names if not has_link_on_path(repository.root, name)]
        _refuse_large(repository.root, named)
        for name in named:
            _copy_file(repository.root / name, folder / name)
        copy_import_files(repository.root, folder, find_import_files(repository))
        yield folder
    finally:
        remove_tree(folder)


def _refuse_large(root: Path, names: list[str]) -> None:
    size = sum((root / name).lstat().st_size for name in names if os.path.lexists(root / name))
    if size > MAX_CHECKOUT_BYTES:
        raise BadInput(f"the checkout has {size >> 20:,} MB, too much for a copy to try things in", next="pass --check yourself")


def _copy_file(source: Path, target: Path) -> None:
    if source.is_symlink() or source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
