"""Real repositories to work on."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from afresh.workspace.repository import Repository
from afresh.workspace.worktree import GitWorkspace

Shell = Callable[..., str]


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n")
    return home


@pytest.fixture
def git(tmp_path: Path) -> Shell:
    """Git as the user would call it in the checkout."""

    def call(*arguments: str, cwd: Path | None = None) -> str:
        done = subprocess.run(["git", *arguments], cwd=cwd or tmp_path / "repo", capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode(errors="surrogateescape").strip()

    return call


@pytest.fixture
def checkout(tmp_path: Path, git: Shell) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git("init", "-q")
    (root / "keep.txt").write_text("keep\n")
    (root / "change.txt").write_text("before\n")
    (root / "tool.sh").write_text("#!/bin/sh\n")
    (root / "tool.sh").chmod(0o755)
    (root / "pkg").mkdir()
    (root / "pkg" / "module.py").write_text("value = 1\n")
    (root / ".gitignore").write_text("*.log\n/build/\n")
    git("add", "-A")
    git("commit", "-qm", "First")
    return root


@pytest.fixture
def repository(checkout: Path) -> Repository:
    return Repository.find(checkout)


@pytest.fixture
def workspace(repository: Repository) -> GitWorkspace:
    return GitWorkspace(repository, "t1")


@pytest.fixture
def opened(workspace: GitWorkspace) -> GitWorkspace:
    workspace.open()
    return workspace
