"""What tests need beside the tracked files: installed environments, and small generated files that imports rely on."""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

from afresh.core.task import NOTHING_CHANGED
from afresh.errors import BadInput, ModelMistake
from afresh.workspace.confined_path import open_path_inside
from afresh.workspace.disk_files import remove_tree, walk_tree
from afresh.workspace.repository import Repository, find_excludes_file
from afresh.workspace.worktree_location import make_worktrees_folder

ENVIRONMENT_FOLDER_NAMES = {"node_modules", ".tox", ".nox", "__pypackages__", ".bundle", ".pixi", "bower_components"}
ENVIRONMENT_MARKERS = ("pyvenv.cfg", "conda-meta")
GENERATED_FILE_NAMES = ("_version.py", "version.py", "_version.pyi", "__version__.py")
COMPILED_SUFFIXES = (".so", ".pyd", ".dylib")
MAX_COPIED_BYTES = 20_000_000
MAX_FOLDER_DEPTH = 2
KEY_FILE = re.compile(r"(?:^|/)(?:\.env[^/]*|\.npmrc|\.netrc|id_[a-z0-9]+|[^/]*\.(?:pem|key|p12|pfx|keystore))$")
"""Never copied: a command, and so a model, could read it."""


def find_environment_folders(repository: Repository) -> tuple[str, ...]:
    """Untracked folders of the checkout that hold an environment, at most two levels deep. One may be a link."""
    environments = sorted(_walk_environments(repository.root, "", MAX_FOLDER_DEPTH))
    tracked = repository.git.run("ls-files", "-z", "--", *environments).split(b"\0") if environments else []
    used = {os.fsdecode(name) for name in tracked}
    return tuple(name for name in environments if not any(path == name or path.startswith(name + "/") for path in used))


def _walk_environments(folder: Path, prefix: str, depth: int) -> Iterator[str]:
    for entry in _list_folders(folder):
        name = prefix + entry.name
        if _is_environment(entry, name):
            yield name
        elif depth > 1 and not entry.is_symlink() and not _is_repository(entry):
            yield from _walk_environments(Path(entry.path), name + "/", depth - 1)


def _list_folders(folder: Path) -> "list[os.DirEntry[str]]":
    try:
        return [entry for entry in os.scandir(folder) if entry.name not in (".git", ".afresh") and entry.is_dir()]
    except OSError:
        return []


def _is_repository(entry: "os.DirEntry[str]") -> bool:
    """Whether a folder is another repository. A submodule, which is part of this one, has a file `.git`."""
    return os.path.isdir(os.path.join(entry.path, ".git"))


def _is_environment(entry: "os.DirEntry[str]", name: str) -> bool:
    return (
        entry.name in ENVIRONMENT_FOLDER_NAMES
        or name == "vendor/bundle"
        or any(os.path.lexists(os.path.join(entry.path, mark)) for mark in ENVIRONMENT_MARKERS)
    )


def find_import_files(repository: Repository) -> tuple[str, ...]:
    """Ignored files of the checkout that Python imports need: metadata of editable installs, compiled modules, versions."""
    excludes = find_excludes_file(repository)
    config = (f"core.excludesFile={excludes}",) if excludes else ()
    listed = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    names = [os.fsdecode(name) for name in repository.git.run(*listed, config=config).split(b"\0")[:-1]]
    files = [file for name in names if not name.startswith(".afresh/") for file in _list_import_files(repository.root, name)]
    return tuple(sorted(files))


def _list_import_files(root: Path, name: str) -> Iterator[str]:
    if name.endswith(".egg-info/"):
        yield from _list_files_below(root, name)
    elif name.endswith(COMPILED_SUFFIXES) or (
        name.rpartition("/")[2] in GENERATED_FILE_NAMES and (root / name).with_name("__init__.py").exists()
    ):
        yield name


def list_wanted_files(repository: Repository, wanted: Sequence[str]) -> tuple[str, ...]:
    """Files of the checkout, by the names of files and folders that the repository's settings list and git does not track.
    BadInput for a name that leads out of the checkout or may hold a key."""
    for name in wanted:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or parts[0] in (".git", ".afresh"):
            raise BadInput(f"`copy` lists {name!r}", next="list files and folders inside the repository", safe=NOTHING_CHANGED)
    files = [file for name in wanted for file in _list_below(repository.root, name.rstrip("/"))]
    tracked = repository.git.run("ls-files", "-z", "--", *wanted).split(b"\0") if files else []
    used = {os.fsdecode(name) for name in tracked}
    return tuple(sorted(file for file in files if file not in used and not KEY_FILE.search(file)))


def _list_below(root: Path, name: str) -> Iterator[str]:
    if os.path.isfile(root / name):
        yield name
    yield from _list_files_below(root, name)


def _list_files_below(root: Path, name: str) -> Iterator[str]:
    for entries in walk_tree(str(root / name)):
        yield from (os.path.relpath(entry.path, root) for entry in entries if not entry.is_dir())


def copy_import_files(root: Path, tree: Path, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Copy them into the task's tree, smallest first, up to 20 MB in all: those copied, and those left out."""
    copied: list[str] = []
    left: list[str] = []
    room = MAX_COPIED_BYTES
    for name in sorted(names, key=lambda name: (root / name).lstat().st_size):
        size = (root / name).lstat().st_size
        if (root / name).is_symlink() or size > room or not _copy_file(root / name, tree, name):
            left.append(name)
        else:
            room -= size
            copied.append(name)
    return copied, left


def _copy_file(source: Path, tree: Path, name: str) -> bool:
    try:
        with open_path_inside(tree, name, create=True) as place:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
            with source.open("rb") as original, os.fdopen(os.open(place.name, flags, dir_fd=place.folder), "wb") as copy:
                shutil.copyfileobj(original, copy)
    except (OSError, ModelMistake):
        return False
    return True


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
