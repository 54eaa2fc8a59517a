"""One thing that was looked at to see whether the machine and the state are sound."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    level: Level
    detail: str
    remedy: str = ""
