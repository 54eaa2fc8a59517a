"""The uncommitted changes of the user's checkout: as a commit that a task begins with, and a task's result put beside them.

Neither touches the user's index, HEAD, stash or branches. The commit is made of a copy of the index, in a store of our own, so
that no filter runs that the repository configures.
"""

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from afresh.core.task import NOTHING_CHANGED
from afresh.errors import BadInput, NotPossible
from afresh.workspace.diff import path_from_bytes
from afresh.workspace.disk_files import clear_path, has_link_on_path, remove_tree, replace_file, sync_folder
from afresh.workspace.git import DURABLE_WRITE_CONFIG, Git, GitFailed, copy_objects
from afresh.workspace.repository import Repository, find_excludes_file, make_state_folder
from afresh.workspace.snapshots import ShadowRepository
from afresh.workspace.task_branch import read_identity

LINK_MODE = b"120000"
PROGRAM_MODE = b"100755"
FILE_MODE = b"100644"
SUBMODULE_MODE = b"160000"
OWN_FOLDER = b".afresh/"
FILTERS_CONVERT = {"filter", "working-tree-encoding", "ident"}
CARRIED_MESSAGE = "Uncommitted changes of the checkout\n\nTaken along by afresh; not part of a task's result.\n"


def commit_checkout(repository: Repository) -> str:
    """Write the checkout, with tracked and new files as they are on disk, as a commit on HEAD that no branch names yet. BadInput
    if there is nothing to take along, or it can't be taken as it is."""
    if repository.git.ask("ls-files", "--unmerged"):
        raise BadInput("your checkout has unmerged files", next="finish or abort the merge first", safe=NOTHING_CHANGED)
    head = repository.head
    shadow = ShadowRepository(make_state_folder(repository) / f"checkout-{os.getpid()}.git", repository.root)
    try:
        shadow.make(repository)
        shadow.index.write_bytes((repository.git_dir / "index").read_bytes())
        _refuse_converted(repository, _follow_checkout(shadow.git, repository))
        tree = shadow.write()
        if tree == repository.git.ask("rev-parse", head + "^{tree}"):
            raise BadInput("your checkout has no uncommitted changes", next="run it without --with-changes", safe=NOTHING_CHANGED)
        copy_objects(shadow.store, repository.git, tree, head)
    finally:
        remove_tree(shadow.folder)
    output = repository.git.run(
        "commit-tree", tree, "-p", head, "-F", "-",
        stdin=CARRIED_MESSAGE.encode(), config=DURABLE_WRITE_CONFIG, variables=read_identity(repository.root),
    )  # fmt: skip
    return output.decode().strip()


def _follow_checkout(git: Git, repository: Repository) -> list[bytes]:
    """Bring the copied index in line with the files on disk, but for submodules and our own folder; the names that differed."""
    with suppress(GitFailed):  # it fails where a file differs
        git.run("update-index", "-q", "--refresh", "--ignore-submodules")
    own = [name for name in _list_names(git, "--cached") if name.startswith(OWN_FOLDER)]
    modules = {entry.split(b"\t", 1)[1] for entry in _list_names(git, "--stage") if entry.startswith(SUBMODULE_MODE)}
    changed = {*_list_names(git, "--modified", "--deleted"), *_list_new_files(repository)} - modules
    names = sorted(name for name in changed if not name.startswith(OWN_FOLDER) and not name.endswith(b"/"))
    git.run("update-index", "-z", "--add", "--remove", "--replace", "--stdin", stdin=_join_names(names))
    _restore_from_head(git, repository, [*own, *modules])
    return names


def _list_names(git: Git, *which: str) -> list[bytes]:
    return git.run("ls-files", "-z", *which).split(b"\0")[:-1]


def _list_new_files(repository: Repository) -> list[bytes]:
    """By the rules of the repository and the user, which the store of our own does not know."""
    rules = find_excludes_file(repository)
    config = (f"core.excludesFile={rules}",) if rules else ()
    return repository.git.run("ls-files", "-z", "--others", "--exclude-standard", config=config).split(b"\0")[:-1]


def _restore_from_head(git: Git, repository: Repository, names: Iterable[bytes]) -> None:
    """Entries that do not come along, as HEAD has them."""
    wanted = set(names)
    if not wanted:
        return
    entries = (entry.split(b"\t", 1) for entry in repository.git.run("ls-tree", "-r", "-z", "HEAD").split(b"\0")[:-1])
    lines = [b"%s %s\t%s" % (*meta.split()[::2], name) for meta, name in entries if name in wanted]
    git.run("update-index", "-z", "--force-remove", "--stdin", stdin=_join_names(wanted))
    git.run("update-index", "-z", "--index-info", stdin=_join_names(lines))


def _refuse_converted(repository: Repository, names: Sequence[bytes]) -> None:
    """BadInput for a changed file that git stores otherwise than it is on disk, as with Git LFS."""
    if not names:
        return
    words = repository.git.run("check-attr", "-z", "--stdin", *sorted(FILTERS_CONVERT), stdin=_join_names(names)).split(b"\0")
    for name, value in zip(words[0::3], words[2::3], strict=False):
        if value not in (b"unspecified", b"unset"):
            raise BadInput(
                f"{path_from_bytes(name)} goes through a filter of git, so it can't be taken along as it is",
                next="commit it first, or run without --with-changes", safe=NOTHING_CHANGED,
            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file as a commit has it; without a mode it has none."""

    mode: bytes = b""
    data: bytes = b""

    def is_same(self, other: "FileVersion") -> bool:
        """By content; whether it may be executed does not count, since it is set apart from the content."""
        return self.data == other.data and self.kind == other.kind

    @property
    def kind(self) -> bytes:
        return FILE_MODE if self.mode == PROGRAM_MODE else self.mode


NO_FILE = FileVersion()
UNUSABLE_FILE = FileVersion(b"?")
"""A folder, a pipe, or what lies behind a link."""


def apply_to_checkout(repository: Repository, carried: str, between: str, commit: str) -> list[str]:
    """Write what the task changed into the files of the checkout, beside the changes that it took along; the paths. NotPossible,
    with nothing written, if one of these files is no longer as the task had it. Repeating it after a crash completes it."""
    names = repository.git.run("diff-tree", "-r", "-z", "--no-renames", "--name-only", "--end-of-options", carried, commit).split(
        b"\0"
    )[:-1]
    versions = [_read_versions(repository, one, names) for one in (carried, between, commit)]
    for name in names:
        known = [version[name] for version in versions]
        if not any(_read_file(repository.root, name).is_same(version) for version in known):
            raise NotPossible(
                f"{path_from_bytes(name)} is not as it was when the task took your changes along",
                next=f"put it back, or merge by hand: git diff {carried[:12]} {commit[:12]} | git apply -3",
                safe="your checkout is as it was, and the task's branch is whole",
            )
    for name in names:
        if _read_file(repository.root, name) != versions[2][name]:
            _write_file(repository.root, name, versions[2][name])
    return [path_from_bytes(name) for name in names]


def _read_versions(repository: Repository, commit: str, names: Sequence[bytes]) -> Mapping[bytes, FileVersion]:
    versions = dict.fromkeys(names, NO_FILE)
    for entry in repository.git.run("ls-tree", "-r", "-z", "--end-of-options", commit).split(b"\0")[:-1]:
        meta, name = entry.split(b"\t", 1)
        if name in versions:
            mode, kind, blob = meta.split()
            versions[name] = FileVersion(mode, repository.git.run("cat-file", "blob", blob.decode()) if kind == b"blob" else b"")
    return versions


def _read_file(root: Path, name: bytes) -> FileVersion:
    place = root / os.fsdecode(name)
    if has_link_on_path(root, os.fsdecode(name)):
        return UNUSABLE_FILE
    if not os.path.lexists(place):
        return NO_FILE
    mode = place.lstat().st_mode
    if stat.S_ISLNK(mode):
        return FileVersion(LINK_MODE, os.fsencode(os.readlink(place)))
    if not stat.S_ISREG(mode):
        return UNUSABLE_FILE
    return FileVersion(PROGRAM_MODE if mode & stat.S_IXUSR else FILE_MODE, place.read_bytes())


def _write_file(root: Path, name: bytes, version: FileVersion) -> None:
    """A file is replaced in one move, so a crash leaves the old one or the new one."""
    path = os.fsdecode(name)
    place = root / path
    if not version.mode:
        place.unlink(missing_ok=True)
        with suppress(OSError):
            place.parent.rmdir()  # as git does with a folder that became empty
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    if version.mode == LINK_MODE:
        clear_path(root, path)
        place.symlink_to(os.fsdecode(version.data))
    else:
        replace_file(place, version.data)
        rights = stat.S_IMODE(place.stat().st_mode)
        place.chmod(rights | (rights & 0o444) >> 2 if version.mode == PROGRAM_MODE else rights & ~0o111)
    sync_folder(place.parent)


def _join_names(names: Iterable[bytes]) -> bytes:
    return b"".join(name + b"\0" for name in names)
