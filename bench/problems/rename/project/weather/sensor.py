"""One sensor and what it says."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Sensor:
    name: str
    unit: str
    val: float

    def text(self) -> str:
        return f"{self.name}: {self.val:g} {self.unit}"


def read_val(name: str, unit: str, source: Callable[[], float]) -> Sensor:
    """A sensor with what its source says now."""
    return Sensor(name, unit, float(source()))
