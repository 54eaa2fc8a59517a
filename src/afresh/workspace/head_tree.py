"""A folder with the files of HEAD, to run something in that leaves the checkout alone."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp

from afresh.workspace.disk_files import remove_tree
from afresh.workspace.environment_files import copy_import_files, find_import_files, list_wanted_files
from afresh.workspace.repository import Repository
from afresh.workspace.worktree_location import make_worktrees_folder


@contextlib.contextmanager
def make_head_tree(repository: Repository, wanted: Sequence[str] = ()) -> Iterator[Path]:
    """The files of HEAD, and ignored ones that imports need or that are wanted. There is no repository in it."""
    folder = Path(mkdtemp(prefix="trial-", dir=make_worktrees_folder(repository)))
    try:
        with repository.git.with_index(f"afresh-{folder.name}.index") as git:
            git.run("read-tree", "HEAD")
            git.run("checkout-index", "--all", "--quiet", f"--prefix={folder}/")
        needed = (*find_import_files(repository), *list_wanted_files(repository, wanted))
        copy_import_files(repository.root, folder, tuple(dict.fromkeys(needed)))
        yield folder
    finally:
        remove_tree(folder)
