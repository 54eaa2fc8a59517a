"""What a detector has found."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StallSign:
    """`count` is held against the user's thresholds."""

    count: int
    evidence: str
    keys: tuple[str, ...] = ()


def list_step_numbers(numbers: Sequence[int]) -> str:
    """`steps 3, 5 and 8`; of many the last ones."""
    shown = [f"{number}" for number in sorted(set(numbers))][-6:]
    if len(shown) == 1:
        return f"step {shown[0]}"
    return f"steps {', '.join(shown[:-1])} and {shown[-1]}"


def find_strongest_sign(found: Sequence[StallSign]) -> StallSign | None:
    return max(found, key=lambda one: one.count, default=None)
