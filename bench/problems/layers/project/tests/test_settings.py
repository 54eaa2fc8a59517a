import json
import tempfile
import unittest
from pathlib import Path

from shop.defaults import DEFAULTS
from shop.errors import SettingsError
from shop.settings import settings


class Settings(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())

    def file(self, name, **values):
        path = self.folder / name
        path.write_text(json.dumps(values))
        return path

    def test_defaults(self):
        self.assertEqual(settings(), DEFAULTS)

    def test_the_last_file_is_uppermost(self):
        made = settings([self.file("a", title="A", debug=True), self.file("b", title="B")])
        self.assertEqual((made["title"], made["debug"]), ("B", True))

    def test_a_broken_file_is_named(self):
        with self.assertRaisesRegex(SettingsError, "none.json"):
            settings([self.folder / "none.json"])
