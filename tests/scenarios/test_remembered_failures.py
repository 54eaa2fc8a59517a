"""What failed is remembered with the output that says why, and with the lines of it."""

import sys

import pytest
from story import tell

from afresh.app.project import open_project
from afresh.core.fact import FactKind

CHECK = f"{sys.executable} -m unittest -q test_small"
TEST = """import unittest

import small


class Small(unittest.TestCase):
    def test_one(self):
        self.assertEqual(small.one(), 1)

    def test_two(self):
        self.assertEqual(small.two(), 2)
"""
FILES = {"small.py": "def one():\n    return 1\n\n\ndef two():\n    return 3\n", "test_small.py": TEST}
BREAK = (
    "read and spoil",
    [("read", {"path": "small.py"}), ("edit", {"path": "small.py", "old": "return 1", "new": "return 11"})],
)
GARBLE = ("garble", [("edit", {"path": "small.py", "old": "return 1", "new": "return ("})])
HALF = ("half", [("edit", {"path": "small.py", "old": "return 3", "new": "return 4"})])
MORE = ("more", [("edit", {"path": "small.py", "old": "return 4", "new": "return 5"})])
DONE = ("claim", [("complete", {"summary": "done"})])
AGAIN = ("try", [("run", {"command": "echo cannot load settings; exit 3"})])
LOOK = ("look", [("read", {"path": "small.py"})])


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("failures")
    windows = tell(folder, "mend small.two", [BREAK, GARBLE, HALF, DONE, AGAIN, AGAIN, MORE, LOOK], FILES, CHECK)
    project = open_project(folder / "repo")
    [ticket] = project.queue.tickets()
    return windows, project.store.load(ticket.task), project.store


def evidence(fact, store) -> str:
    return "\n".join(store.read(fact.block).splitlines()[fact.lines[0] - 1 : fact.lines[1]])


def test_a_change_that_was_undone_is_remembered_with_the_lines_that_say_why(told):
    _, state, store = told
    broke, garbled = [fact for fact in state.memory.facts if fact.kind is FactKind.FAILED_APPROACH]
    assert broke.subject == "edit small.py (return 1 → return 11)", "what was only read was not tried"
    assert "test_one" in broke.text and "AssertionError: 11 != 1" in evidence(broke, store)
    assert "does not compile" in garbled.text and "SyntaxError" in evidence(garbled, store)


def test_a_refused_completion_is_known_after_later_steps_and_not_told_twice(told):
    windows, state, store = told
    [refused] = [fact for fact in state.memory.facts if fact.subject == "complete"]
    assert refused.text.startswith("refused: ") and "AssertionError: 4 != 2" in evidence(refused, store)
    assert "complete: refused" in windows[-1].sections["verification"]
    assert "complete: refused" not in windows[4].text, "the verdict says so"


def test_a_command_that_fails_the_same_way_again_is_told_as_such(told):
    windows, state, store = told
    [failed] = [fact for fact in state.memory.facts if fact.source.startswith("echo")]
    assert failed.text == "exit 3: cannot load settings (as in step 5, nothing changed since)"
    assert evidence(failed, store) == "cannot load settings"
    assert failed.text in windows[6].sections["verification"] and failed.text not in windows[5].text
