import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]


class Hidden(unittest.TestCase):
    def setUp(self):
        self.path = Path(tempfile.mkdtemp()) / "todo.json"

    def say(self, *words):
        done = subprocess.run(
            [sys.executable, "-m", "todo", *words], cwd=HERE, env=dict(os.environ, TODO=str(self.path)), capture_output=True, text=True
        )
        return done.returncode, done.stdout, done.stderr

    def listed(self):
        return self.say("list")[1]

    def test_there_and_back(self):
        seen = [self.listed()]
        for words in (("add", "buy milk"), ("add", "call"), ("done", "1"), ("drop", "2")):
            self.assertEqual(self.say(*words)[0], 0)
            seen.append(self.listed())
        for before in reversed(seen[:-1]):
            self.assertEqual(self.say("undo")[0], 0)
            self.assertEqual(self.listed(), before)
        for after in seen[1:]:
            self.assertEqual(self.say("redo")[0], 0)
            self.assertEqual(self.listed(), after)

    def test_nothing_left(self):
        code, out, err = self.say("undo")
        self.assertTrue(code == 1 and not out and "undo" in err)
        self.say("add", "a")
        before = self.path.read_bytes()
        code, out, err = self.say("redo")
        self.assertTrue(code == 1 and not out and "redo" in err)
        self.assertEqual(self.path.read_bytes(), before)

    def test_a_new_change_ends_redo(self):
        self.say("add", "a")
        self.say("undo")
        self.say("add", "b")
        self.assertEqual(self.say("redo")[0], 1)
        self.assertIn("b", self.listed())

    def test_a_change_that_fails_ends_nothing(self):
        self.say("add", "a")
        self.say("undo")
        self.assertEqual(self.say("done", "9")[0], 1)
        self.assertEqual(self.say("redo")[0], 0)

    def test_numbers_are_never_given_twice(self):
        self.say("add", "a")
        self.say("undo")
        self.assertEqual(self.say("add", "b")[1], "2\n")
        self.say("undo")
        self.assertEqual(self.say("add", "c")[1], "3\n")

    def test_history(self):
        self.assertEqual(self.say("history")[0], 0)
        for words in (("add", "buy milk"), ("done", "1"), ("drop", "1")):
            self.say(*words)
        self.assertEqual(self.say("history")[1].splitlines(), ["drop: buy milk", "done: buy milk", "add: buy milk"])
        self.say("undo")
        self.assertEqual(self.say("history")[1].splitlines(), ["done: buy milk", "add: buy milk"])

    def test_old_files(self):
        self.path.write_text(json.dumps({"items": [{"number": 4, "text": "old", "done": False}], "last": 6}))
        self.assertEqual(self.say("undo")[0], 1)
        self.assertEqual(self.say("add", "new")[1], "7\n")
        self.say("undo")
        self.assertEqual(self.listed(), "  4 [ ] old\n")

    def test_readme(self):
        text = (HERE / "README.md").read_text()
        self.assertTrue(all(word in text for word in ("todo undo", "todo redo", "todo history")))
