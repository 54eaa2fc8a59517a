"""One thing that was looked at to see whether the machine and the state are sound."""

from dataclasses import dataclass
from typing import Literal

HealthLevel = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class HealthFinding:
    name: str
    level: HealthLevel
    detail: str
    remedy: str = ""
