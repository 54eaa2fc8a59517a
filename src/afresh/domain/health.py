"""One thing that was looked at to see whether the machine and the state are sound."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    state: str
    """ok, warn or fail."""
    detail: str
    remedy: str = ""
