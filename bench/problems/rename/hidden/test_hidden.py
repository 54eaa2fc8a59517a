import ast
import json
import tempfile
import unittest
import warnings
from pathlib import Path

import weather
from weather.saved import load, save
from weather.sensor import Sensor
from weather.station import mean, survey

HERE = Path(__file__).resolve().parents[1]


class Hidden(unittest.TestCase):
    def test_new_names(self):
        found = weather.take_reading("a", "m", lambda: 3)
        self.assertEqual((found.reading, Sensor("a", "m", reading=3.0)), (3.0, found))

    def test_old_names_warn_at_the_callers_line(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            one = weather.read_val("a", "m", lambda: 3)
            value = one.val
        self.assertEqual(value, 3.0)
        self.assertEqual([entry.category for entry in caught], [DeprecationWarning] * 2)
        self.assertTrue("take_reading" in str(caught[0].message) and "reading" in str(caught[1].message))
        self.assertEqual([Path(entry.filename).name for entry in caught], ["test_hidden.py"] * 2)

    def test_the_package_itself_is_silent(self):
        path = Path(tempfile.mkdtemp()) / "saved"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sensors = survey({"a": ("m", lambda: 1)})
            save(path, sensors)
            self.assertEqual((load(path), mean(sensors), sensors[0].text()), (sensors, 1.0, "a: 1 m"))

    def test_old_files(self):
        path = Path(tempfile.mkdtemp()) / "saved"
        path.write_text(json.dumps({"name": "a", "unit": "m", "val": 4.0}) + "\n")
        self.assertEqual(load(path), [Sensor("a", "m", 4.0)])
        save(path, load(path))
        self.assertEqual(json.loads(path.read_text()), {"name": "a", "unit": "m", "reading": 4.0})

    def test_equal_and_hashed_by_what_they_hold(self):
        self.assertEqual(len({Sensor("a", "m", 1.0), Sensor("a", "m", 1.0)}), 1)
        self.assertNotIn("val", repr(Sensor("a", "m", 1.0)))
