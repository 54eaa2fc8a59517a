"""How what is sent grows with the steps of a task. Flat is the promise."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SLOPE_STEPS = 100
MIN_STEPS_FOR_SLOPE = 20
"""Steps that a task must have come for a slope to be told: over fewer it is noise."""


@dataclass(frozen=True, slots=True)
class TokenGrowth:
    calls: int
    average: int
    """Tokens that were sent in a call."""
    slope: float | None
    """Tokens by which a call is larger a hundred steps later in the same task; None where no task has come far enough to tell."""


def measure_token_growth(calls: Sequence[tuple[str, int, int]]) -> TokenGrowth:
    """Of calls as task, step and tokens. Tasks differ in size, so that each is held against its own mean only."""
    by_task: dict[str, list[tuple[int, int]]] = {}
    for task, step, tokens in calls:
        by_task.setdefault(task, []).append((step, tokens))
    together, apart = 0.0, 0.0
    long = [points for points in by_task.values() if max(points)[0] - min(points)[0] >= MIN_STEPS_FOR_SLOPE]
    for points in long:
        middle, mean = _compute_mean(step for step, _ in points), _compute_mean(tokens for _, tokens in points)
        together += sum((step - middle) * (tokens - mean) for step, tokens in points)
        apart += sum((step - middle) ** 2 for step, _ in points)
    average = round(_compute_mean(tokens for _, _, tokens in calls)) if calls else 0
    return TokenGrowth(len(calls), average, SLOPE_STEPS * together / apart if apart else None)


def _compute_mean(values: Iterable[int]) -> float:
    found = list(values)
    return sum(found) / len(found)
