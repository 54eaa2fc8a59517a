import copy
import json
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from shop.defaults import DEFAULTS
from shop.errors import SettingsError
from shop.settings import settings


class Hidden(unittest.TestCase):
    def test_deep_names(self):
        made = settings((), {"SHOP_DATABASE__POOL__SIZE": "9", "SHOP_DATABASE__HOST": "db", "HOME": "/x"})
        self.assertEqual(made["database"], {"host": "db", "port": 5432, "pool": {"size": 9, "wait": 2.5}})

    def test_types(self):
        made = settings((), {"SHOP_DATABASE__POOL__WAIT": "4", "SHOP_LANGUAGES": "de,fr", "SHOP_TITLE": "1"})
        self.assertEqual((made["database"]["pool"]["wait"], made["languages"], made["title"]), (4.0, ["de", "fr"], "1"))
        self.assertIsInstance(made["database"]["pool"]["wait"], float)

    def test_truth(self):
        for text, value in (("true", True), ("YES", True), ("1", True), ("No", False), ("0", False), ("FALSE", False)):
            self.assertIs(settings((), {"SHOP_DEBUG": text})["debug"], value)

    def test_the_environment_is_uppermost(self):
        path = Path(tempfile.mkdtemp()) / "a.json"
        path.write_text(json.dumps({"database": {"port": 1}}))
        self.assertEqual(settings([path], {"SHOP_DATABASE__PORT": "2"})["database"]["port"], 2)
        self.assertEqual(settings([path], {})["database"]["port"], 1)

    def test_faults_name_the_variable(self):
        for name, value in (
            ("SHOP_DATABASE__PORT", "many"), ("SHOP_DEBUG", "perhaps"), ("SHOP_NOTHING", "1"), ("SHOP_DATABASE__POOL__X", "1"),
            ("SHOP_DATABASE", "x"), ("SHOP_TITLE__DEEP", "x"), ("SHOP_DATABASE__POOL__WAIT", "long"),
        ):
            with self.assertRaisesRegex(SettingsError, name):
                settings((), {name: value})

    def test_defaults_stay_as_they_are(self):
        before = copy.deepcopy(DEFAULTS)
        settings((), {"SHOP_DATABASE__POOL__SIZE": "9", "SHOP_LANGUAGES": "xx"})
        self.assertEqual(DEFAULTS, before)

    def test_nothing_is_read_behind_ones_back(self):
        with mock.patch.dict(os.environ, {"SHOP_TITLE": "wrong"}):
            self.assertEqual(settings()["title"], "Shop")
