"""Readings in a file, one a line."""

import json
from collections.abc import Iterable
from pathlib import Path

from weather.sensor import Sensor


def save(path: Path, sensors: Iterable[Sensor]) -> None:
    lines = [json.dumps({"name": one.name, "unit": one.unit, "val": one.val}) for one in sensors]
    path.write_text("".join(line + "\n" for line in lines), "utf-8")


def load(path: Path) -> list[Sensor]:
    held = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [Sensor(one["name"], one["unit"], one["val"]) for one in held]
