import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from stock.cli import main


class Commands(unittest.TestCase):
    def setUp(self):
        path = Path(tempfile.mkdtemp()) / "stock.json"
        patch = mock.patch.dict(os.environ, {"STOCK": str(path)})
        patch.start()
        self.addCleanup(patch.stop)

    def say(self, *words):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(words)
        return code, out.getvalue(), err.getvalue()

    def test_list(self):
        self.say("add", "nail", "200", "0.05")
        self.say("add", "bolt", "3", "1.20")
        code, out, _ = self.say("list")
        self.assertEqual((code, [line.split() for line in out.splitlines()]), (0, [["bolt", "3", "1.20"], ["nail", "200", "0.05"]]))

    def test_nothing_to_list(self):
        self.assertEqual(self.say("list")[1], "nothing in stock\n")

    def test_taking_too_much(self):
        code, _, err = self.say("take", "nut", "1")
        self.assertEqual((code, err), (1, "stock: there are only 0 of nut\n"))
