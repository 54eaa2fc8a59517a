"""The user's repository: what it is, what is wrong with it, and where a task's things live in it."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from afresh.core.task import NOTHING_CHANGED
from afresh.core.text import is_encodable
from afresh.errors import BadInput
from afresh.workspace.git import SAFE_GIT_CONFIG, Git, GitFailed, find_git, run_git_as_user

PLACES_ASKED = 4
"""Lines before the ids in git's answer."""
OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
SHOWN_ANSWER_CHARACTERS = 80
WORKTREES_FOLDER = "worktrees"
CHECKOUT_FILE = ".checkout"
"""Beside the worktrees of a checkout: its path."""


@dataclass(frozen=True)
class Repository:
    root: Path
    """Top of the user's checkout."""
    git_dir: Path
    common_dir: Path
    """Where objects and branches are; differs from `git_dir` when the checkout is itself a linked worktree."""

    @classmethod
    def find(cls, path: Path | str) -> "Repository":
        """The repository that holds `path`. BadInput if there is none, or none that can be worked on."""
        folder = Path(path).resolve()
        if not folder.is_dir():
            raise BadInput(f"{folder} is not a folder", next="give the folder of a git repository", safe=NOTHING_CHANGED)
        repository, head, state = _locate_with_head(folder)
        _refuse_task_tree(repository)
        _refuse_state_links(repository.root)
        _refuse_no_commit(repository, head)
        _refuse_tracked_state(state)
        return repository

    @cached_property
    def git(self) -> Git:
        return Git(self.git_dir, self.root)

    @property
    def state(self) -> Path:
        return self.root / ".afresh" / "state"

    @property
    def head(self) -> str:
        return self.git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")

    @property
    def current_branch(self) -> str:
        """Empty when HEAD is detached."""
        return self.git.ask("symbolic-ref", "--quiet", "--short", "HEAD")

    def commit(self, ref: str) -> str:
        """The commit that a branch or id names, or nothing."""
        if ref.startswith("-"):
            raise BadInput(f"{ref!r} can't be the name of a branch or commit", safe=NOTHING_CHANGED)
        return self.git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}")

    def contains(self, ancestor: str, descendant: str) -> bool:
        try:
            self.git.run("merge-base", "--is-ancestor", ancestor, descendant)
        except GitFailed as fault:
            if fault.killed:
                raise
            return False
        return True


def make_state_folder(repository: Repository) -> Path:
    """`.afresh/state`, hidden from git by its own .gitignore, so that the user's stays as it is; readable by its owner only."""
    _refuse_state_links(repository.root)
    try:
        repository.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        ignore = repository.state / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
    except OSError as fault:
        raise BadInput(
            f"{repository.state} can't be used: {fault.strerror}",
            next="`.afresh` and `.afresh/state` must be folders that you can write to",
            safe=NOTHING_CHANGED,
        ) from fault
    return repository.state


def find_excludes_file(repository: Repository) -> Path | None:
    """The user's own ignore rules for all repositories."""
    try:
        answer = run_git_as_user(repository.root, "config", "--type=path", "--get", "core.excludesFile").decode().strip()
    except GitFailed:
        answer = ""
    place = Path(answer) if answer else Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "git" / "ignore"
    return place if place.is_file() else None


_KEYS_WITHOUT_FILES = ("branch.", "color.", "init.", "lfs.", "pull.", "push.", "remote.", "submodule.", "url.", "user.")


def list_obeyed_paths(root: Path) -> tuple[str, ...]:
    """What of the checkout the user's git runs or takes settings from, by its own answer: the folder of hooks, included
    configuration, and files that a setting names."""
    try:
        entries = os.fsdecode(run_git_as_user(root, "config", "--list", "-z", "--show-origin")).split("\0")
    except GitFailed:
        return ()
    found = list[str]()
    for origin, entry in zip(entries[::2], entries[1::2], strict=False):
        key, _, value = entry.partition("\n")
        source = root / origin.removeprefix("file:")
        words = [] if key.startswith(_KEYS_WITHOUT_FILES) else re.split(r"""[\s"'=:;|&()!]+""", value)
        files = [place for place in (source, *(root / word for word in words)) if os.path.isfile(place)]
        files += [source.parent / value] if key.startswith("include") else []  # whether it exists yet or not
        found += [path for place in files for path in _list_paths_inside(root, place)]
        if key == "core.hookspath":
            found += [f"{path}/" for path in _list_paths_inside(root, root / value)]
    return tuple(dict.fromkeys(filter(is_encodable, found)))


def _list_paths_inside(root: Path, place: Path) -> Iterator[str]:
    """The path from the root, as it is written and where links lead, if that is among the user's files."""
    for real in dict.fromkeys((Path(os.path.normpath(place)), Path(os.path.realpath(place)))):
        if real.is_relative_to(root) and real.relative_to(root).parts[:1] not in ((), (".git",)):
            yield real.relative_to(root).as_posix()


def describe_git_end(code: int) -> str:
    return f"it was killed by signal {-code}" if code < 0 else f"it ended with {code} and said nothing"


def locate_repository(folder: Path) -> Repository:
    return _locate_with_head(folder)[0]


def _locate_with_head(folder: Path) -> tuple[Repository, str, str]:
    """The repository, its commit, and the tree of its tracked `.afresh/state`, asked of git at once; what is not there is
    empty."""
    places = ("--is-bare-repository", "--git-dir", "--git-common-dir", "--show-toplevel")
    asked = ("rev-parse", "--path-format=absolute", *places, "--revs-only", "HEAD^{commit}", "HEAD:.afresh/state")
    try:
        answer = os.fsdecode(run_git_as_user(folder, *asked, config=SAFE_GIT_CONFIG))
    except GitFailed as failure:
        raise _make_repository_error(folder, failure.output or describe_git_end(failure.code)) from failure
    lines = answer.split("\n")
    _refuse_unknown_answer(folder, lines)
    bare, git_dir, common_dir, root, *found = lines
    if bare == "true" or not folder.is_relative_to(root):
        raise _make_repository_error(folder, "bare")
    head, state, *_ = (*found, "", "")
    return Repository(Path(root), Path(git_dir), Path(common_dir)), head, state


def _refuse_unknown_answer(folder: Path, lines: list[str]) -> None:
    """BadInput if git did not answer with a word, three paths and at most two ids: one path in two lines, or no git at all."""
    if "\n" in str(folder):
        raise BadInput(
            f"the path of {str(folder)!r} contains a line break, which git can't answer with",
            next="rename that folder", safe=NOTHING_CHANGED,
        )  # fmt: skip
    if not is_encodable(str(folder)):
        raise BadInput(f"the path {os.fsencode(folder)!r} is not UTF-8", next="rename that folder", safe=NOTHING_CHANGED)
    bare, paths, ids = lines[0], lines[1:4], [line for line in lines[4:] if line]
    if bare == "true" and len(lines) < PLACES_ASKED:
        raise _make_repository_error(folder, "bare")
    known = bare in ("true", "false") and len(paths) == PLACES_ASKED - 1 and all(os.path.isabs(path) for path in paths)
    if not known or not all(OBJECT_ID.fullmatch(line) for line in ids):
        text = " ".join("\n".join(lines).split())[:SHOWN_ANSWER_CHARACTERS] or "nothing"
        raise BadInput(
            f"{find_git()} does not answer as git does: asked for the repository at {folder}, it said {text!r}",
            next="see what `git rev-parse --show-toplevel` says there, and which program `git` is", safe=NOTHING_CHANGED,
        )  # fmt: skip


def _make_repository_error(folder: Path, text: str) -> BadInput:
    if "dubious ownership" in text:
        return BadInput(
            f"{folder} belongs to another user, and git does not trust it",
            next=f"git config --global --add safe.directory {folder}", safe=NOTHING_CHANGED,
        )  # fmt: skip
    if "bare" in text or "must be run in a work tree" in text:
        return BadInput(
            f"{folder} has no checkout to work from: it is a bare repository or the inside of a .git folder",
            next="clone it, and run afresh in the clone", safe=NOTHING_CHANGED,
        )  # fmt: skip
    if "not a git repository" in text:
        return BadInput(
            f"{folder} is not in a git repository",
            next="run `git init` there and commit, or change to a repository", safe=NOTHING_CHANGED,
        )  # fmt: skip
    return BadInput(
        f"git can't read the repository at {folder}: {text.strip()}", next="try `git status` there", safe=NOTHING_CHANGED
    )


def _refuse_task_tree(repository: Repository) -> None:
    if home := find_checkout_of_tree(repository.root):
        raise BadInput(f"{repository.root} is the worktree of a task", next=f"run afresh in {home}", safe=NOTHING_CHANGED)


def find_checkout_of_tree(tree: Path) -> Path | None:
    """The checkout whose task has its worktree here; None for any other folder."""
    parts = tree.parts
    for at in range(len(parts) - 2):
        if parts[at : at + 3] == (".afresh", "state", WORKTREES_FOLDER):
            return Path(*parts[:at])
    note = tree.parent / CHECKOUT_FILE
    return Path(note.read_text().strip()) if tree.parts[-3:-2] == (WORKTREES_FOLDER,) and note.is_file() else None


def _refuse_state_links(root: Path) -> None:
    if (root / ".afresh/.git").exists():
        raise BadInput(
            ".afresh is a repository of its own, such as a submodule; what it holds was written by someone else",
            next="remove the submodule: git rm .afresh, and commit", safe=NOTHING_CHANGED,
        )  # fmt: skip
    for place in (".afresh", ".afresh/state", ".afresh/state/worktrees", ".afresh/state/shadow"):
        if (root / place).is_symlink():
            raise BadInput(
                f"{place} is a symlink; afresh would write wherever it leads",
                next=f"look at what it points to, then remove it: rm {root / place}", safe=NOTHING_CHANGED,
            )  # fmt: skip


def _refuse_no_commit(repository: Repository, head: str) -> None:
    if not head:
        files = repository.git.ask("status", "--porcelain")
        raise BadInput(
            f"{repository.root} has no commit yet, so there is nothing to start from",
            next=f"git {'add -A && git commit' if files else 'commit --allow-empty'} -m 'First commit'", safe=NOTHING_CHANGED,
        )  # fmt: skip


def _refuse_tracked_state(state: str) -> None:
    # state that came with a clone was written by someone else, and would be trusted
    if state:
        raise BadInput(
            "the repository tracks .afresh/state, which must be this machine's own",
            next="git rm -r --cached .afresh/state, remove the folder and commit", safe=NOTHING_CHANGED,
        )  # fmt: skip
