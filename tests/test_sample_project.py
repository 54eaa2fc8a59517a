import json
import os
import subprocess
import sys
from hashlib import sha256

import pytest

from afresh.app.demo import copy_sample, lend_sample
from afresh.code.code_insight import CodeInsight
from afresh.core.fact import Fact, FactKind
from afresh.core.state import State
from afresh.core.states.memory_state import MemoryState
from afresh.core.task import Task
from afresh.errors import BadInput
from afresh.workspace.repository import Repository
from afresh.workspace.worktree_location import make_worktrees_folder


class Checkout:
    def __init__(self, root):
        self.root = root

    def read(self, path):
        return (self.root / path).read_bytes().decode()

    def write(self, path, text):
        (self.root / path).write_bytes(text.encode())

    def paths(self):
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=self.root, capture_output=True, text=True)
        return listed.stdout.split()

    def stamps(self):
        return {path: sha256((self.root / path).read_bytes()).hexdigest() for path in sorted(self.paths())}


def passes(root, tests=()):
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=root, capture_output=True, env=environment).returncode == 0


def test_the_sample_is_the_same_commit_everywhere(tmp_path):
    heads = set()
    for name in ("one", "two"):
        root = copy_sample(tmp_path / name)
        heads.add(subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True).stdout)
        status = subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True)
        assert status.stdout == ""
        assert (root / ".gitignore").exists() and not (root / "gitignore").exists()
    assert len(heads) == 1


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(BadInput):
        copy_sample(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_demo_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with lend_sample() as sample:
        worktrees = make_worktrees_folder(Repository.find(sample))
        (worktrees / "task").mkdir()
        assert worktrees.is_relative_to(tmp_path)
    assert not sample.exists() and not worktrees.exists()


def test_the_suggestions_bring_the_sample_to_zero_violations_with_one_detour(tmp_path):
    root = copy_sample(tmp_path / "sample")
    files, insight, failed = Checkout(root), CodeInsight(), []
    task = Task(id="t", goal="bring every function to a complexity of at most 10", type="fix_violation")
    current = State(task=task)
    assert insight.measure(current, files) == 6
    for _ in range(12):
        offers = [look for look in insight.looks(current, files) if look.kind == "suggestion"]
        if not offers:
            break
        before = {path: files.read(path) for path in files.paths() if path.startswith("src/")}
        edits = json.loads(offers[0].text.split("\n")[1])
        for edit in edits:
            text = files.read(edit["path"])
            assert text.count(edit["old"]) == 1
            files.write(edit["path"], text.replace(edit["old"], edit["new"]))
        if not passes(root, insight.tests_for([edits[0]["path"]], files)):
            failed.append(offers[0].text.partition("\n")[0])
            for path, text in before.items():
                files.write(path, text)
            tried = offers[0].subject
            fact = Fact(FactKind.FAILED_APPROACH, f"apply {tried}", "tests failed", suggestion=tried)
            facts = (*current.memory.facts, fact)
            current = State(task=task, memory=MemoryState(facts=facts))
    assert insight.measure(current, files) == 0
    assert passes(root)
    assert [" of quote in " in head for head in failed] == [True]
