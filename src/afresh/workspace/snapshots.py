"""A git repository of our own beside the task's tree: its index says what the tree holds, its objects are the snapshots.

It borrows the user's objects and has none of the user's configuration, so no filter or monitor is known to it. Its
`info/attributes`, which wins over any .gitattributes, makes every file plain bytes.
"""

import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from afresh.errors import Damaged, UnreadableTree
from afresh.workspace.confined_path import MAX_PATH_CHARACTERS
from afresh.workspace.diff import path_from_bytes
from afresh.workspace.disk_files import (
    clear_path,
    has_link_on_path,
    list_parents,
    make_accessible,
    remove_all_but,
    sync_folder,
    walk_tree,
)
from afresh.workspace.git import Git, GitFailed, finish_git, read_git_version
from afresh.workspace.repository import Repository

RAW_ATTRIBUTES = "* -text !eol -ident !filter !working-tree-encoding !diff !merge !export-subst\n"
CHECKOUT_ATTRIBUTES = "* !filter\n"
BASE_RULES_FILE = "base-rules"
"""Ignore rules as they were in the base commit: a .gitignore that the model writes can't hide a file from a snapshot."""

_NOT_LISTED = re.compile(rb"could not open directory '([^'\n]+)")
"""Git's warning of a folder that it leaves out; it is cut off before the reason where the path is long."""
SHOWN_PATH_BYTES = 80
_TOUCHED_TAGS = (b"C", b"R", b"?")
"""Tags of changed, removed and new files in `git ls-files -t`."""


@dataclass(frozen=True, slots=True)
class TreeStatus:
    modes: Mapping[bytes, bytes]
    """Mode of each entry of the index, by name."""
    touched: Sequence[bytes]
    """Names of what may differ from the index: changed, gone or new. New is what base or current rules do not ignore."""
    unread: Sequence[bytes] = ()
    """Folders that git could not list."""


@dataclass(frozen=True, slots=True)
class ShadowRepository:
    folder: Path
    tree: Path
    """The work tree that it watches."""

    @property
    def git(self) -> Git:
        return Git(self.folder, self.tree)

    @property
    def store(self) -> Git:
        """Git for objects and index only; the tree need not exist."""
        return Git(self.folder)

    @property
    def index(self) -> Path:
        return self.folder / "index"

    def make(self, repository: Repository) -> None:
        """Make it, or restore what is missing; existing objects stay."""
        ready = self.folder / "ready"
        if not ready.exists():
            shape = repository.git.ask("rev-parse", "--show-object-format") or "sha1"
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / "config").unlink(missing_ok=True)  # git can't set again what the lines below have set a second time
            self.store.run("init", "--quiet", "--bare", "--template=", f"--object-format={shape}")
            with (self.folder / "config").open("a") as config:
                config.write(
                    "".join(f"[core]\n\t{line}\n" for line in ("bare = false", "logAllRefUpdates = false", *_fsync_config()))
                )
        (self.folder / "info").mkdir(exist_ok=True)
        (self.folder / "info" / "attributes").write_text(RAW_ATTRIBUTES)
        (self.folder / "objects" / "info").mkdir(parents=True, exist_ok=True)
        (self.folder / "objects" / "info" / "alternates").write_bytes(os.fsencode(repository.common_dir / "objects") + b"\n")
        ready.touch()

    def ignore(self, always: Sequence[str], base: Sequence[str]) -> None:
        """`always` are rules beside any .gitignore; `base` are those of the base commit's .gitignore files."""
        (self.folder / "info" / "exclude").write_bytes(_join_lines(always))
        (self.folder / BASE_RULES_FILE).write_bytes(_join_lines([*always, *base]))

    def forget(self, tree: str) -> None:
        """Make the index new from a snapshot. Stat data of an earlier process is not used: power may have been lost since."""
        for name in ("index", "index.lock"):
            (self.folder / name).unlink(missing_ok=True)
        self.store.run("read-tree", tree)
        if self.tree.is_dir():
            self.git.ask("update-index", "-q", "--refresh")

    def look(self) -> TreeStatus:
        """The index and the tree side by side. What git can't look into is made accessible first."""
        entries, data = self._listed()
        if b"Permission denied" in data:
            make_accessible(self.tree)
            entries, data = self._listed()
        touched = {name for tag, _, name in entries if tag in _TOUCHED_TAGS and not name.startswith(b".afresh/state/")}
        modes = {name: mode for tag, mode, name in entries if tag not in _TOUCHED_TAGS}
        return TreeStatus(modes, sorted(touched), _NOT_LISTED.findall(data))

    def _listed(self) -> tuple[list[tuple[bytes, bytes, bytes]], bytes]:
        """Tag, mode and name of each entry, and what git complained of."""
        asked = (
            ("--stage", "--others", "--modified", "--deleted", f"--exclude-from={self.folder / BASE_RULES_FILE}"),
            ("--others", "--exclude-standard"),
        )
        running = [(options, self.git.start("ls-files", "-z", "-t", *options)) for options in asked]
        ended = [finish_git(process, ("ls-files", *options)) for options, process in running]
        entries = [_read_listed_entry(entry) for output, _ in ended for entry in output.split(b"\0")[:-1]]
        return entries, b"".join(data for _, data in ended)

    def keep(self, known: str = "", whole: bool = False, now: TreeStatus | None = None) -> str:
        """Write the snapshot: the id of a git tree, on disk when this returns. `known` is that of the index, if known; `now`:
        what `look` has just found. A path that is too long for git is not in it, or UnreadableTree if it is to be `whole`."""
        since = time.time_ns()
        if not self.follow(whole=whole, now=now):
            return known or self.write()
        snapshot = self.write()
        _sync_objects(self.folder / "objects", since)
        return snapshot

    def follow(self, *how: str, whole: bool = False, now: TreeStatus | None = None) -> bool:
        """Bring the index in line with the tree; whether there was anything to do."""
        now = now or self.look()
        long = [*now.unread, *(name for name in now.touched if len(name) > MAX_PATH_CHARACTERS)] if whole else []
        if long:
            raise UnreadableTree(f"a path in the tree is too long: {path_from_bytes(long[0][:SHOWN_PATH_BYTES])}…")
        kept, gone = _split_present_and_gone(self.tree, now.touched)
        if gone:
            self.git.run("update-index", "-z", "--force-remove", "--stdin", stdin=_join_nul(gone))
        if kept:
            self._add(kept, *how)
        return bool(kept or gone)

    def _add(self, names: Sequence[bytes], *how: str) -> None:
        add = ("update-index", "-z", "--add", "--remove", "--replace", *how, "--stdin")
        try:
            self.git.run(*add, stdin=_join_nul(names))
        except GitFailed:  # a file that its owner may not read
            make_accessible(self.tree)
            self.git.run(*add, stdin=_join_nul(names))

    def put_back(self, snapshot: str) -> None:
        """Make the tree what the snapshot says; ignored files stay where they are not in the way."""
        make_accessible(self.tree)
        if self._is_empty():
            self.index.unlink(missing_ok=True)  # else each name would be looked for and removed, one by one
        else:
            now = self.look()
            self.follow("--info-only", now=now)  # an object left unsynced here would pass for a durable one in a later snapshot
            self._drop_nested((*now.modes, *now.touched))
        self.git.run("read-tree", "--reset", "-u", snapshot)
        now = self.look()
        self._clear_unread(now.unread)
        wrong = (self.look() if self._drop_nested(now.modes) else now).touched
        if wrong:
            for name in wrong:
                clear_path(self.tree, os.fsdecode(name).rstrip("/"))
            self.git.run("checkout-index", "--all", "--force", "--index", "--quiet")
        if wrong and self.look().touched:
            raise Damaged(
                f"the task's tree at {self.tree} can't be put back: {os.fsdecode(wrong[0])!r} is in the way",
                next="find out what else writes there, then resume the task",
                safe="your checkout and all snapshots are intact",
            )

    def check_out(self, names: Sequence[bytes]) -> list[str]:
        """Write these files of the index by the attributes of the tree; those that then differ from the index. Opening
        a task writes our own attributes anew, so a crash here is harmless."""
        if not names:
            return []
        attributes = self.folder / "info" / "attributes"
        try:
            attributes.write_text(CHECKOUT_ATTRIBUTES)
            with self.git.with_index("index.checkout") as git:
                git.run("read-tree", self.write())  # without stat data, by which a file would be left as it is
                git.run("checkout-index", "-z", "--force", "--quiet", "--stdin", stdin=_join_nul(names))
        finally:
            attributes.write_text(RAW_ATTRIBUTES)
        return [path_from_bytes(name) for name in self.look().touched if name in names]

    def _clear_unread(self, unread: Sequence[bytes]) -> None:
        """Remove the folders that git can't list, each from the first folder on that holds no file of the index."""
        folders = {parent for name in self.names() for parent in list_parents(os.fsdecode(name))} if unread else set[str]()
        for name in map(os.fsdecode, unread):
            if free := [one for one in (name, *list_parents(name)) if one not in folders]:
                clear_path(self.tree, free[-1])

    def _is_empty(self) -> bool:
        return {entry.name for entry in os.scandir(self.tree)} <= {".git"}

    def clear_strays(self, snapshot: str) -> None:
        """Remove all that is not in the snapshot, ignored files too, and let no stat data say that a file is as it was: the next
        `put_back` compares every file by its content. Cheaper than an empty tree, which is written whole."""
        make_accessible(self.tree)
        self.forget(snapshot)
        kept = {os.fsdecode(name) for name in self.names()}
        folders = {parent for name in kept for parent in list_parents(name)}
        remove_all_but(self.tree, kept | {".git"}, folders)

    def _drop_nested(self, names: Iterable[bytes]) -> bool:
        """Clear away a .git inside the tree, and an ignored link that has taken the place of a folder; whether there was one."""
        nested = self._nested(names)
        for place in nested:
            clear_path(self.tree, place)
        return bool(nested)

    def _nested(self, names: Iterable[bytes]) -> list[str]:
        folders = {name.rpartition(b"/")[0] for name in names} - {b""}
        places = (os.fsdecode(folder) + "/.git" for folder in folders)
        return [place for place in places if has_link_on_path(self.tree, place) or os.path.lexists(self.tree / place)]

    def is_untouched(self, now: TreeStatus) -> bool:
        """The tree is what the index says, and nothing hides in it."""
        return not now.touched and not now.unread and not self._nested(now.modes)

    def without(self, tree: str, names: Sequence[bytes]) -> str:
        """The snapshot of a commit or tree less these entries. The index is left at it."""
        self.forget(tree)
        if names:
            self.store.run("update-index", "-z", "--force-remove", "--stdin", stdin=_join_nul(names))
        return self.write()

    def write(self) -> str:
        return self.store.write_tree()

    def mixed(self, snapshot: str, chosen: Callable[[bytes], bool]) -> str:
        """The tree of the index, with the chosen names as in the snapshot."""
        with self.store.with_index("index.mixed") as git:
            shutil.copyfile(self.index, self.folder / "index.mixed")
            entries = (entry.split(b"\t", 1) for entry in git.run("ls-tree", "-r", "-z", snapshot).split(b"\0")[:-1])
            wanted = [b"%s %s\t%s" % (*meta.split()[::2], name) for meta, name in entries if chosen(name)]
            git.run("update-index", "-z", "--force-remove", "--stdin", stdin=_join_nul(filter(chosen, self.names())))
            git.run("update-index", "-z", "--index-info", stdin=_join_nul(wanted))
            return git.write_tree()

    def list_present(self, now: TreeStatus) -> set[bytes]:
        """Regular files in the tree: tracked or new, not ignored."""
        touched, known = set(now.touched), {name for name, mode in now.modes.items() if mode.startswith(b"100")}
        return {name for name in known | touched if name not in touched or _is_file(self.tree, name)}

    def names(self) -> list[bytes]:
        return self.store.run("ls-files", "-z", "--cached").split(b"\0")[:-1]


def _read_listed_entry(entry: bytes) -> tuple[bytes, bytes, bytes]:
    """Tag, mode and name; a new file has no mode."""
    tag, rest = entry[:1], entry[2:]
    if tag == b"?":
        return tag, b"", rest
    numbers, name = rest.split(b"\t", 1)
    return tag, numbers[:6], name


def _fsync_config() -> tuple[str, ...]:
    """Objects reach the disk before a snapshot is named. `batch` pays one flush for all of a snapshot's blobs."""
    if read_git_version() < (2, 36):
        return ("fsyncObjectFiles = true",)
    return ("fsync = objects", "fsyncMethod = batch")


def _split_present_and_gone(tree: Path, names: Sequence[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Names that git can look at, and names that must be removed: a folder, pipe or socket has replaced the file."""
    kept: list[bytes] = []
    gone: list[bytes] = []
    for name in names:
        if name.endswith(b"/"):
            kept += _list_nested_files(tree, name)
            continue
        (kept if _is_file_or_link(tree, name) else gone).append(name)
    return kept, gone


def _is_file_or_link(tree: Path, name: bytes) -> bool:
    if has_link_on_path(tree, os.fsdecode(name)):
        return False
    try:
        mode = os.lstat(os.fsencode(tree) + b"/" + name).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return True
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def _is_file(tree: Path, name: bytes) -> bool:
    try:
        return stat.S_ISREG(os.lstat(os.fsencode(tree) + b"/" + name).st_mode)
    except OSError:
        return False


def _list_nested_files(tree: Path, nested: bytes) -> list[bytes]:
    """Files of a repository within the tree: kept as files, its .git is not."""
    top = os.fsencode(tree) + b"/"
    entries = chain.from_iterable(walk_tree(top + nested))
    kept = (entry.path for entry in entries if entry.is_symlink() or entry.is_file(follow_symlinks=False))
    return [path.removeprefix(top) for path in kept if b"/.git/" not in path + b"/"]


def _sync_objects(objects: Path, since: int) -> None:
    """The folders that gained an object; git syncs the files, and not every file system keeps a name for that alone."""
    tick = 20_000_000
    for entry in os.scandir(objects):
        if len(entry.name) == 2 and entry.stat().st_mtime_ns >= since - tick:
            sync_folder(Path(entry.path))
    sync_folder(objects)


def _join_nul(names: Iterable[bytes]) -> bytes:
    return b"".join(name + b"\0" for name in names)


def _join_lines(rules: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(rule) + b"\n" for rule in rules)
