import tempfile
import unittest
from pathlib import Path

from weather.alarm import alarms
from weather.saved import load, save
from weather.sensor import Sensor
from weather.station import mean, survey

WARM = Sensor("air", "°C", 31.5)


class Weather(unittest.TestCase):
    def test_text(self):
        self.assertEqual(WARM.text(), "air: 31.5 °C")

    def test_there_and_back(self):
        path = Path(tempfile.mkdtemp()) / "saved"
        save(path, [WARM])
        self.assertEqual(load(path), [WARM])

    def test_alarm(self):
        self.assertEqual(alarms([WARM], {"air": (0, 30)}), ["air: 31.5 °C is not within 0 and 30"])

    def test_survey(self):
        self.assertEqual(mean(survey({"a": ("m", lambda: 1), "b": ("m", lambda: 2)})), 1.5)
