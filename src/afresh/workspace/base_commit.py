"""What a task starts from: the base commit, its special entries, and what of the checkout is not in it."""

import os
import re
from contextlib import suppress
from dataclasses import dataclass

from afresh.workspace.diff import path_from_bytes, read_blobs
from afresh.workspace.git import Git, GitFailed
from afresh.workspace.ignore_rules import TOOL_CACHE_PATTERNS, flatten_ignore_files
from afresh.workspace.repository import Repository, find_excludes_file
from afresh.workspace.snapshots import ShadowRepository


@dataclass(frozen=True, slots=True)
class BaseCommit:
    commit: str
    submodules: tuple[tuple[str, bytes], ...]
    """(commit, path) of each."""
    ignores: tuple[tuple[str, str], ...]
    """(path, text) of each .gitignore."""
    pointers: tuple[str, ...]
    """Patterns of files that are kept in Git LFS."""


def read_base_commit(git: Git, commit: str) -> BaseCommit:
    entries = [entry.split(b"\t", 1) for entry in git.run("ls-tree", "-r", "-z", "--end-of-options", commit).split(b"\0")[:-1]]
    modules = tuple((meta.split()[2].decode(), path) for meta, path in entries if meta.startswith(b"160000"))
    rules = {
        os.fsdecode(path): meta.split()[2]
        for meta, path in entries
        if path.rpartition(b"/")[2] in (b".gitignore", b".gitattributes") and meta.startswith(b"100")
    }
    texts = dict(zip(rules, map(os.fsdecode, read_blobs(git, rules.values())), strict=True))
    ignores = tuple((path, text) for path, text in texts.items() if path.endswith(".gitignore"))
    pointers = {pattern for text in texts.values() for pattern in re.findall(r"^(\S+)[^\n]*\bfilter=lfs\b", text, re.MULTILINE)}
    return BaseCommit(commit, modules, ignores, tuple(sorted(pointers)))


def set_ignore_rules(shadow: ShadowRepository, repository: Repository, base: BaseCommit, unseen: tuple[str, ...]) -> None:
    """Ignore what the user's own rules ignore, what tools leave behind, and what was put in from the checkout."""
    own = [find_excludes_file(repository), repository.common_dir / "info" / "exclude"]
    lines = [line for file in own if file and file.is_file() for line in os.fsdecode(file.read_bytes()).splitlines()]
    put_in = ["/" + re.sub(r"([*?\[\]\\ ])", r"\\\1", name) for name in unseen]
    shadow.ignore([*TOOL_CACHE_PATTERNS, *lines, *put_in, "/.afresh/state/"], flatten_ignore_files(base.ignores))


def list_uncommitted_files(shadow: ShadowRepository, repository: Repository, commit: str) -> tuple[str, ...]:
    """Files of the checkout that differ from the commit, without our own, found through a copy of its index, so that no filter of
    its runs."""
    copy = shadow.folder / "index.checkout"
    try:
        copy.write_bytes((repository.git_dir / "index").read_bytes())
        git = Git(shadow.folder, repository.root, (("GIT_INDEX_FILE", str(copy)),))
        with suppress(
            GitFailed
        ):  # it fails where a file does differ; times and inodes of a copied checkout are brought up to date
            git.run("update-index", "-q", "--refresh", "--ignore-submodules")
        differ = git.run("diff-index", "-z", "--name-only", "--ignore-submodules=all", "--end-of-options", commit)
        new = git.run("ls-files", "-z", "--others", "--exclude-standard")
    except (OSError, GitFailed):
        return ()
    finally:
        copy.unlink(missing_ok=True)
    names = {path_from_bytes(name) for output in (differ, new) for name in output.split(b"\0")[:-1]}
    return tuple(sorted(name for name in names if not name.startswith(".afresh/")))


def describe_base(base: BaseCommit, dirty: tuple[str, ...], copied: list[str], left: list[str]) -> str:
    """What the user should know about what is, and what is not, in the task's tree."""
    lines: list[str] = []
    if dirty:
        stay = "1 uncommitted change stays" if len(dirty) == 1 else f"{len(dirty)} uncommitted changes stay"
        lines.append(f"{stay} in your checkout, outside the task: {_name_some(dirty)}.")
    if base.submodules:
        lines.append(
            "Submodules are left as they are, without content: "
            f"{_name_some([path_from_bytes(path) for _, path in base.submodules])}."
        )
    if base.pointers:
        lines.append(f"Files in Git LFS are left as pointers: {_name_some(base.pointers)}.")
    if copied:
        folders = dict.fromkeys(path.partition("/")[0] for path in copied)
        lines.append(f"Copied from your checkout, since imports need them: {_name_some([*folders])}.")
    if left:
        lines.append(f"Not copied, though imports may need them: {_name_some(left)}.")
    return " ".join(lines)


def _name_some(names: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(name.encode(errors="backslashreplace").decode() for name in names[:3]) + more
