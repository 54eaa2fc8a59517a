"""A git that does not answer."""

import stat
from pathlib import Path

import pytest

from afresh.workspace import git as git_module
from afresh.workspace.git import Git, GitHangs


@pytest.fixture
def hanging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git that sleeps."""
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(git_module, "find_git", lambda: str(program))
    monkeypatch.setattr(git_module, "GIT_TIMEOUT_SECONDS", 1.0)


def test_a_git_that_hangs_is_ended_and_said_to_hang(tmp_path: Path, hanging: None) -> None:
    with pytest.raises(GitHangs, match=r"git status has not answered for 1 s"):
        Git(tmp_path).run("status")


def test_a_git_that_hangs_is_not_taken_for_one_without_an_answer(tmp_path: Path, hanging: None) -> None:
    with pytest.raises(GitHangs):
        Git(tmp_path).ask("rev-parse", "HEAD")
