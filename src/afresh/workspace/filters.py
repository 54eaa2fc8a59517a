"""Filters of the user's configuration (git-lfs, for example) that a merge would need and that are not installed."""

import shutil

from afresh.core.task import NOTHING_CHANGED
from afresh.errors import NotPossible
from afresh.workspace.git import GitFailed, run_git_as_user
from afresh.workspace.repository import Repository

FILTER_SETTINGS = r"^filter\..*\.(process|smudge|clean|required)$"
ATTRIBUTES_NAME = ".gitattributes"


def refuse_missing_filters(repository: Repository, head: str, commit: str) -> None:
    """NotPossible if a changed file needs a filter that can't run: git would stop with half of the files written."""
    missing = list_missing_filters(repository)
    if not missing:
        return
    names = repository.git.run("diff", "--name-only", "-z", head, commit).decode(errors="surrogateescape").split("\0")
    used = _list_used_filters(repository, [name for name in names if name], commit)
    for name in sorted(used & missing.keys()):
        raise NotPossible(
            f"a changed file needs the filter {name!r}, and {missing[name]} is not installed",
            next=f"install {missing[name]}, or remove the filter from .gitattributes, then apply again",
            safe=NOTHING_CHANGED,
        )


def list_missing_filters(repository: Repository) -> dict[str, str]:
    """Required filters by name, with the program that is not there."""
    try:
        said = run_git_as_user(repository.root, "config", "--get-regexp", FILTER_SETTINGS).decode(errors="replace")
    except GitFailed:
        return {}
    missing, required = dict[str, str](), set[str]()
    for line in said.splitlines():
        key, _, value = line.partition(" ")
        name, kind = key.removeprefix("filter.").rsplit(".", 1)
        program = value.split()[0] if value.split() else ""
        if kind == "required" and value.strip() == "true":
            required.add(name)
        elif kind != "required" and program and not shutil.which(program):
            missing[name] = program
    return {name: program for name, program in missing.items() if name in required}


def _list_used_filters(repository: Repository, names: list[str], commit: str) -> set[str]:
    """Filters of these files by the attributes of the checkout, and those that changed attributes name."""
    stdin = "".join(f"{name}\0" for name in names).encode(errors="surrogateescape")
    rows = run_git_as_user(repository.root, "check-attr", "-z", "--stdin", "filter", stdin=stdin).decode(errors="replace")
    used = set(rows.split("\0")[2::3])
    for name in names:
        if name.rpartition("/")[2] == ATTRIBUTES_NAME:
            text = repository.git.ask("cat-file", "blob", f"{commit}:{name}")
            used |= {word.removeprefix("filter=") for word in text.split() if word.startswith("filter=")}
    return used
