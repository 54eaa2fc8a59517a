"""Whether tasks went worse since a policy was adopted: a test that looks at a few fixed points only, so that it is not fooled by
noise, however often it is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, log
from random import Random

from afresh.core.policy_history import PolicyOutcomeNoted

LOOKS = (6, 12, 24, 48)
"""It is judged when so many tasks have ended under it, by these and no others."""
MAX_CHANCE = 0.004
"""Of each of twelve tests, three at each look: one roll-back in twenty for no reason, at most."""
MIN_CONTROL_TASKS = 6
MIN_GROWTH = 1.1
"""Steps or cost that are a tenth more on average."""
PERMUTATIONS = 2_000
MAX_CONTROL_TASKS = 60
"""The latest before it, and beside it."""


@dataclass(frozen=True, slots=True)
class Regression:
    what: str
    """`verified success`, `steps` or `cost`."""
    before: float
    after: float
    chance: float
    """Probability that noise alone would do this."""

    def __str__(self) -> str:
        return f"{self.what}: {self.before:.3g} before, {self.after:.3g} with it (chance of noise {self.chance:.2g})"


def find_look(tasks: int) -> int:
    """The last point of judgement that was reached; 0 before the first."""
    return max((look for look in LOOKS if look <= tasks), default=0)


def detect_regression(control: Sequence[PolicyOutcomeNoted], treated: Sequence[PolicyOutcomeNoted]) -> Regression | None:
    """What went worse beyond noise under a policy; None if nothing did, or too few tasks have ended."""
    look, before = find_look(len(treated)), control[-MAX_CONTROL_TASKS:]
    if not look or len(before) < MIN_CONTROL_TASKS:
        return None
    after = treated[:look]
    lower = compare_success(before, after)
    if lower.chance < MAX_CHANCE:
        return lower
    for what in ("steps", "cost"):
        higher = compare_growth(
            what, [getattr(outcome, what) for outcome in before], [getattr(outcome, what) for outcome in after]
        )
        if higher.chance < MAX_CHANCE and higher.after >= MIN_GROWTH * higher.before:
            return higher
    return None


def compare_success(control: Sequence[PolicyOutcomeNoted], treated: Sequence[PolicyOutcomeNoted]) -> Regression:
    """Fisher's exact test, one-sided: as few verified tasks among the treated, given how many there are in all."""
    total, verified = len(control) + len(treated), sum(outcome.verified for outcome in (*control, *treated))
    seen = sum(outcome.verified for outcome in treated)
    ways = sum(
        comb(verified, hits) * comb(total - verified, len(treated) - hits)
        for hits in range(seen + 1)
        if len(treated) - hits <= total - verified
    )
    before = sum(outcome.verified for outcome in control) / len(control)
    return Regression("verified success", before, seen / len(treated), ways / comb(total, len(treated)))


def compare_growth(what: str, control: Sequence[float], treated: Sequence[float]) -> Regression:
    """A permutation test of the logarithms, one-sided, with a fixed seed."""
    logs = [log(1 + max(0.0, value)) for value in (*control, *treated)]
    size, rng = len(treated), Random(0)
    seen = sum(logs[len(control) :])
    larger = 0
    for _ in range(PERMUTATIONS):
        larger += sum(rng.sample(logs, size)) >= seen - 1e-9
    means = [sum(values) / len(values) for values in (control, treated)]
    return Regression(what, means[0], means[1], (larger + 1) / (PERMUTATIONS + 1))
