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
        self.path = Path(tempfile.mkdtemp()) / "stock.json"

    def say(self, *words):
        environment = dict(os.environ, STOCK=str(self.path))
        return subprocess.run([sys.executable, "-m", "stock", *words], cwd=HERE, env=environment, capture_output=True, text=True)

    def fill(self):
        for words in (("nail", "200", "0.05"), ("bolt", "3", "1.20"), ("nut", "10", "2")):
            self.say("add", *words)

    def test_json(self):
        self.fill()
        done = self.say("list", "--json")
        self.assertEqual(
            json.loads(done.stdout),
            [
                {"name": "bolt", "count": 3, "price": 120},
                {"name": "nail", "count": 200, "price": 5},
                {"name": "nut", "count": 10, "price": 200},
            ],
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_below(self):
        self.fill()
        self.assertEqual([line.split()[0] for line in self.say("list", "--below", "10").stdout.splitlines()], ["bolt"])
        self.assertEqual([one["name"] for one in json.loads(self.say("list", "--below", "11", "--json").stdout)], ["bolt", "nut"])

    def test_empty(self):
        self.assertEqual(json.loads(self.say("list", "--json").stdout), [])
        self.assertEqual(self.say("list", "--below", "3").stdout, "nothing in stock\n")

    def test_bad_numbers(self):
        for odd in ("-1", "few", "1.5", ""):
            done = self.say("list", f"--below={odd}")
            self.assertEqual((done.returncode, done.stdout), (2, ""), odd)
            self.assertIn("below", done.stderr)

    def test_the_table_is_as_before(self):
        self.fill()
        self.assertEqual(self.say("list").stdout.splitlines()[0], f"{'bolt':<20}{3:>6}{'1.20':>10}")

    def test_the_readme_says_so(self):
        text = (HERE / "README.md").read_text()
        self.assertTrue("--json" in text and "--below" in text)
