"""Whatever is done to a tree, a snapshot of it can be put back; and our ignore rules are git's."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afresh.workspace.disk_files import clear_path
from afresh.workspace.ignore_rules import flatten_ignore_files
from afresh.workspace.worktree import GitWorkspace
from support.workspace_contract import hash_tree

NAMES = st.sampled_from(
    ["a", "b", "pkg", "pkg/module.py", "pkg/a", "pkg/a/b", "a/b/c", "keep.txt", "a b", "é", "x.log", ".gitignore"]
)
ACTIONS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.binary(max_size=6)),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("rename"), NAMES, NAMES),
    st.tuples(st.just("link"), NAMES, NAMES),
    st.tuples(st.just("mode"), NAMES),
    st.tuples(st.just("snapshot")),
    st.tuples(st.just("restore"), st.integers(0, 5)),
)
FEW = settings(max_examples=settings.default.max_examples * 3 // 5)


def act(tree: Path, action: tuple) -> None:
    kind, name, *rest = action
    place = tree / name
    if any(parent.is_symlink() for parent in place.parents if parent != tree):
        return
    if kind == "delete":
        clear_path(tree, name)
    elif kind == "mode":
        if place.is_file() and not place.is_symlink():
            place.chmod(place.stat().st_mode ^ 0o100)
    elif kind == "rename":
        source = tree / rest[0]
        if os.path.lexists(source) and not source.is_relative_to(place) and not place.is_relative_to(source):
            clear_path(tree, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(source, place)
    else:
        clear_path(tree, name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(rest[0]) if kind == "write" else place.symlink_to(rest[0])


@FEW
@given(actions=st.lists(ACTIONS, min_size=3, max_size=12))
def test_any_snapshot_can_be_put_back(opened: GitWorkspace, actions: list[tuple]):
    base = opened.open().snapshot
    opened.restore(base)
    kept = [(base, seen(opened))]
    for action in actions:
        if action[0] == "snapshot":
            kept.append((opened.snapshot(), seen(opened)))
        elif action[0] == "restore":
            opened.restore(kept[action[1] % len(kept)][0])
        else:
            act(opened.root, action)
    for snapshot, content in kept:
        opened.restore(snapshot)
        assert seen(opened) == content
        assert opened.snapshot() == snapshot


def seen(workspace: GitWorkspace) -> dict[str, tuple[str, str]]:
    """Without what is ignored: `*.log`, be it a folder."""
    found = hash_tree(workspace.root, without=(".git",))
    return {name: held for name, held in found.items() if not any(part.endswith(".log") for part in name.split("/"))}


PATTERNS = st.sampled_from(
    [
        "*.log",
        "/a",
        "a/",
        "b",
        "!a",
        "!*.log",
        "a/b",
        "**/c",
        "/*",
        "c/**",
        "# no",
        "",
        "\\#x",
        "\\!y",
        "b ",
        "[ab]",
        "?",
        "!/a/b",
    ]
)
FILES = [
    "a",
    "b",
    "x.log",
    "#x",
    "!y",
    "c/a",
    "c/b/x.log",
    "a[1]/b/c",
    "a[1]/a/b",
    "a[1]/x.log",
    "a[1]/c/d",
    "d/a/b",
    "d/b/a/x.log",
]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("plain")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    for name in [name for name in FILES if name not in ("a", "b")] + ["a", "b"]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    return root


@given(rules=st.dictionaries(st.sampled_from(["", "a[1]/", "d/", "d/b/"]), st.lists(PATTERNS, max_size=4)))
def test_flattened_rules_ignore_what_git_ignores(plain: Path, rules: dict[str, list[str]]):
    for folder in ("", "a[1]/", "d/", "d/b/"):
        (plain / folder / ".gitignore").write_text("\n".join(rules.get(folder, [])))
    texts = [(folder + ".gitignore", "\n".join(lines)) for folder, lines in rules.items()]
    (plain / ".git" / "flat").write_text("\n".join(flatten_ignore_files(texts)) + "\n")
    ours = others(plain, "--exclude-from=.git/flat")
    assert ours == others(plain, "--exclude-per-directory=.gitignore")


def others(root: Path, *options: str) -> bytes:
    return subprocess.run(["git", "ls-files", "-z", "--others", *options], cwd=root, capture_output=True, check=True).stdout
