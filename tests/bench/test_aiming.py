"""Which goals the bench of first windows asks about, and what it says where history is missing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

import aim
from aiming.cases import from_history, repository_at

DATES = {"GIT_AUTHOR_DATE": "2026-01-01T12:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T12:00:00Z"}
"""The halves go by the ids of commits, so these must be the same in each run."""
GIT = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]


def commit(root: Path, message: str, **texts: str) -> None:
    for name, text in texts.items():
        path = root / name.replace("__", "/").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run([*GIT, "add", "-A"], cwd=root, check=True, capture_output=True)
    subprocess.run([*GIT, "commit", "-qm", message], cwd=root, check=True, capture_output=True, env={**os.environ, **DATES})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    subprocess.run([*GIT, "init", "-q"], cwd=root, check=True, capture_output=True)
    commit(
        root,
        "A start of it all, with two files",
        src__cart_py='"""`shop cart`: what is in it."""\n',
        tests__test_cart_py="x = 1\n",
    )
    commit(root, "Too few words", src__cart_py="a = 0\n")
    commit(root, "Tests of the cart, of all that it can do so far", src__cart_py="a = 1\n")
    commit(root, "Only the tests have been changed by this one here too", tests__test_cart_py="x = 2\n")
    for number in range(12):
        text = f'"""`shop cart`: what is in it."""\n\n\ndef total(prices):\n    return {number}\n'
        commit(root, f"`shop cart` shows the total of its prices in the currency number {number}", src__cart_py=text)
    return root


def test_goals_are_commits_about_the_product_and_wanted_is_what_was_there_before(project: Path):
    repository = repository_at(project)
    found = from_history(repository, 3)
    assert {case.wanted for case in found} == {("src/cart.py",)} and all(case.goal.startswith("`shop cart`") for case in found)
    assert all(case.before in repository.commits and not case.before.startswith(case.name) for case in found)


def test_the_figures_of_any_repository_are_printed_and_not_kept(project: Path, capsys, monkeypatch, tmp_path: Path):
    monkeypatch.setattr(aim, "RESULTS", tmp_path / "aim.json")
    aim.main([str(project), "--commits", "2", "--json"])
    groups = json.loads(capsys.readouterr().out)["groups"]
    assert set(groups) == {"commits, tuned on", "commits, held out"} and not (tmp_path / "aim.json").exists()
    assert all(one["top5"] == 1.0 and one["4000"]["named"] == 1.0 for one in groups.values())


def test_a_clone_without_its_history_is_told_so(project: Path, tmp_path: Path):
    subprocess.run([*GIT, "clone", "-q", "--depth", "1", f"file://{project}", str(tmp_path / "shallow")], check=True)
    with pytest.raises(SystemExit, match=r"history is missing here: 1 commits, 0 of them fit \(a shallow clone"):
        aim.main([str(tmp_path / "shallow")])
    (tmp_path / "none").mkdir()
    with pytest.raises(SystemExit, match="is no git repository"):
        aim.main([str(tmp_path / "none")])
