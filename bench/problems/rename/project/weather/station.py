"""All sensors of a station at once."""

from collections.abc import Callable, Mapping

from weather import sensor
from weather.sensor import Sensor


def survey(sources: Mapping[str, tuple[str, Callable[[], float]]]) -> list[Sensor]:
    return [sensor.read_val(name, unit, source) for name, (unit, source) in sources.items()]


def mean(sensors: list[Sensor]) -> float:
    attribute = "val"
    return sum(getattr(one, attribute) for one in sensors) / len(sensors)
