"""Which commits are asked about, and what is known before each."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from commits import Repository, cases
from localize import Tally


@pytest.fixture
def repository(tmp_path: Path):
    def git(*arguments: str, when: int) -> None:
        settings = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]
        dated = {
            "GIT_AUTHOR_DATE": f"{when} +0000",
            "GIT_COMMITTER_DATE": f"{when} +0000",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
        }
        subprocess.run(["git", *settings, *arguments], cwd=tmp_path, check=True, capture_output=True, env=dated)

    def commit(message: str, when: int, **texts: str) -> None:
        for name, text in texts.items():
            (tmp_path / name.replace("__", ".")).write_text(text)
        git("add", "-A", when=when)
        git("commit", "-qm", message, when=when)

    git("init", "-q", when=1_000_000_000)
    commit("A start of it all", 1_000_000_001, a__py="1", b__py="1", notes__md="1")
    commit("Fix typo", 1_000_000_002, a__py="2")
    commit("Mend the second file\n\nSigned-off-by: Ada <ada@example.org>", 1_000_000_003, b__py="2", notes__md="2")
    commit("Only words have changed", 1_000_000_004, notes__md="3")
    commit("One more file b.py to the others", 1_000_000_005, c__py="1", b__py="3")
    commit("Six files at the same time", 1_000_000_006, **{f"{name}__py": "9" for name in "abcdef"})
    made = Repository(tmp_path / ".git")
    yield made
    made.close()


def test_commits_are_asked_about_by_one_rule(repository: Repository):
    found = cases(repository, 10)
    assert [(case.text, case.wanted, case.named) for case in found] == [
        ("One more file b.py to the others", ("b.py",), True),
        ("Mend the second file", ("b.py",), False),
    ]
    assert cases(repository, 1, skip=1) == found[1:]


def test_a_tree_and_its_history_end_before_the_commit(repository: Repository):
    (newest, _) = cases(repository, 10)
    tree = repository.tree(newest.before)
    assert sorted(tree) == ["a.py", "b.py"] and repository.blob(tree["b.py"]) == "2"
    assert [past.message.split("\n")[0] for past in repository.history(newest.before, 3)] == [
        "Only words have changed", "Mend the second file", "Fix typo",
    ]  # fmt: skip


def test_measures_are_shares_of_what_was_wanted():
    tally = Tally()
    tally.add(["x", "a", *"mnopqrst", "b"], ["a", "b"], 0.1)
    tally.add(["x"], ["a"], 0.3)
    assert tally.figures() == {"recall": 0.25, "hit": 0.5, "mrr": 0.25, "cpu_seconds": 0.2}
