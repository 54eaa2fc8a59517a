"""The user's own test command beside an open task: it finds the user's tests, and not those of the task's tree."""

import re
import shutil
import subprocess

import pytest
from person import Person

from afresh.app.doctor import examine_worktrees
from afresh.app.project import open_project

pytestmark = [pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"), pytest.mark.reported]
TEST = "const test = require('node:test');\nconst assert = require('node:assert');\n" + "".join(
    f"test('{word}', () => assert.ok(require('../sums').add(1, 2)));\n" for word in ("one", "two", "three")
)
NOTE = ("note", {"subject": "sums", "text": "add is used by one test file"})


@pytest.fixture
def node_project(person: Person) -> Person:
    person.write("sums.js", "exports.add = (a, b) => a + b;\n")
    person.write("test/sums.test.js", TEST)
    person.write("package.json", '{"name": "sums", "scripts": {"test": "node --test"}}')
    person.commit("node")
    return person


def count_own_tests(person: Person) -> int:
    done = subprocess.run(["node", "--test"], cwd=person.repo, capture_output=True, text=True, check=False)
    found = re.search(r"^# tests (\d+)$", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    return int(found[1])


def open_task(person: Person) -> None:
    """Run a task to a stop that leaves its tree: the script ends, and it waits for more."""
    person.types("run", "Explain add", "--type", "fix_bug", "--check", "true", "--model", person.script([NOTE]))
    assert [tree for tree in person.trees.iterdir() if (tree / "test" / "sums.test.js").exists()]


def test_the_users_own_runner_does_not_collect_the_tree_of_a_task(node_project: Person) -> None:
    assert count_own_tests(node_project) == 3
    open_task(node_project)
    assert count_own_tests(node_project) == 3
    assert list(examine_worktrees(open_project(node_project.repo))) == []
