import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from todo.cli import main


class Lists(unittest.TestCase):
    def setUp(self):
        self.path = Path(tempfile.mkdtemp()) / "todo.json"
        patch = mock.patch.dict(os.environ, {"TODO": str(self.path)})
        patch.start()
        self.addCleanup(patch.stop)

    def say(self, *words):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(words)
        return code, out.getvalue(), err.getvalue()

    def test_a_day(self):
        self.assertEqual(self.say("add", "buy", "milk"), (0, "1\n", ""))
        self.say("add", "call Ada")
        self.say("done", "1")
        self.say("drop", "2")
        self.assertEqual(self.say("list")[1], "  1 [x] buy milk\n")

    def test_no_such_item(self):
        self.assertEqual(self.say("done", "7"), (1, "", "todo: there is no item 7\n"))

    def test_numbers_are_not_given_twice(self):
        self.say("add", "a")
        self.say("drop", "1")
        self.assertEqual(self.say("add", "b")[1], "2\n")
