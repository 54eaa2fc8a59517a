"""A command that fails for lack of a file ends with what a person can do about it."""

from pathlib import Path

import pytest

from afresh.core.action import CommandRun
from afresh.sandbox.missing_files import explain_missing_files
from afresh.sandbox.mounts import Mounts


@pytest.fixture
def mounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mounts:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    at, tree = tmp_path / "repository", tmp_path / "tree"
    for folder in (at / "packages/a/dist", at / "node_modules", tree / "packages/a", tmp_path / "home/.tools/data"):
        folder.mkdir(parents=True)
    (at / "packages/a/dist/index.js").touch()
    (at / "node_modules/a").symlink_to("../packages/a")
    (tmp_path / "home/.tools/data/words").touch()
    return Mounts(tree, at, ("node_modules",))


def explain(output: str, mounts: Mounts, code: int = 1) -> str:
    done = explain_missing_files(CommandRun("npm test", code, output, 1.0), mounts)
    return done.output.removeprefix(output.rstrip()).strip()


@pytest.mark.parametrize(
    "said",
    [
        "Error: Cannot find module '{at}/node_modules/a/dist/index.js'. Please verify that package.json has a valid entry",
        "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '{at}/packages/a/dist/index.js' imported from {at}/test.mjs",
        "Error: Failed to load url ../packages/a/dist/index (resolved id: ../packages/a/dist/index). Does the file exist?",
        "  code: 'ENOENT',\n  Error: ENOENT: no such file or directory, open 'packages/a/dist/index.js'",
    ],
)
def test_an_ignored_folder_that_tests_need_is_named(mounts: Mounts, said: str) -> None:
    told = explain(said.format(at=mounts.at), mounts)
    assert "packages/a/dist is in your checkout but not in the task's tree" in told and 'copy = ["packages/a/dist"]' in told


def test_twin_a_folder_that_the_tree_has_is_not_named(mounts: Mounts) -> None:
    (mounts.tree / "packages/a/dist").mkdir()
    (mounts.tree / "packages/a/dist/index.js").touch()
    assert explain("Error: Cannot find module './packages/a/dist/index.js'", mounts) == ""


def test_a_hidden_folder_of_the_home_is_named(mounts: Mounts, tmp_path: Path) -> None:
    told = explain(f"cat: {tmp_path}/home/.tools/data/words: No such file or directory", mounts)
    assert 'readable = ["~/.tools/data"]' in told
    assert explain(f"cat: {tmp_path}/home/.tools/data/other: No such file or directory", mounts) == "", "nor is it on the machine"


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("Error: ENOSYS: function not implemented, watch '.'", "without a watcher"),
        ("error: rustup could not choose a version of cargo to run, because one wasn't specified", "rustup default"),
        ("sums_test.go:6:2: no required module provides package example.com/leaf; to add it:", "go mod download"),
        ("[ERROR] Failed to execute goal on project s: Could not resolve dependencies for project e:s:jar:1", "mvn dependency"),
        ("Error: Cannot find module 'left-pad'\nRequire stack:", "npm, pnpm or yarn install"),
        ("error: no matching package named `rand` found\nlocation searched: crates.io index", "cargo fetch"),
        ("> No cached version of junit:junit:4.13 available for offline mode.", "gradle"),
    ],
)
def test_what_was_never_downloaded_is_said(mounts: Mounts, said: str, remedy: str) -> None:
    assert remedy in explain(said, mounts)
    assert explain(said, mounts, code=0) == "", "a command that succeeds needs no explanation"


def test_a_failing_test_is_not_explained(mounts: Mounts) -> None:
    assert explain("AssertionError: expected src/a.js to equal 3\n1 failed", mounts) == ""


def test_a_cache_beside_the_packages_is_explained(mounts: Mounts) -> None:
    said = "Serialized Error: { errno: -2, code: 'ENOENT', syscall: 'mkdir', path: 'node_modules/.vite' }"
    assert "--no-cache" in explain(said, mounts) and "mkdir node_modules/.vite" in explain(said, mounts)
