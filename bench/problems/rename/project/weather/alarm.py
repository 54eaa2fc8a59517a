"""Who must be told."""

from collections.abc import Iterable, Mapping

from weather.sensor import Sensor


def alarms(sensors: Iterable[Sensor], limits: Mapping[str, tuple[float, float]]) -> list[str]:
    found = []
    for sensor in sensors:
        low, high = limits.get(sensor.name, (float("-inf"), float("inf")))
        if not low <= sensor.val <= high:
            found.append(f"{sensor.text()} is not within {low:g} and {high:g}")
    return found
