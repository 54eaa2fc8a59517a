"""How a model's own count of a request compares with ours: learnt from the usage that its provider reports."""

from dataclasses import dataclass, replace
from math import ceil

KEPT = 32
MODELS = 4
UNLEARNT = 1.15
MARGIN = 1.03
"""The factor before anything is known, and what is added to the highest ratio seen: see docs/decisions.md for the figures."""
LOWEST = 0.5
HIGHEST = 4.0
"""No vocabulary in use is outside of this for any text: a report that says so is a mistake of whoever counted."""


@dataclass(frozen=True, slots=True)
class Meter:
    """Reported tokens per piece of our pre-split, for one model; the newest stand last."""

    model: str = ""
    ratios: tuple[float, ...] = ()
    samples: int = 0
    """In all, also those that are no longer kept."""
    doubted: int = 0
    """Reports that were not believed."""

    @property
    def factor(self) -> float:
        """Covers all that was seen lately, and a little more. In hundredths, so that windows don't shift with every call."""
        if not self.ratios:
            return UNLEARNT
        return ceil(min(max(max(self.ratios), LOWEST), HIGHEST) * MARGIN * 100) / 100


UNTAUGHT = Meter()


def ratio(pieces: int, framing: int, reported: int) -> float | None:
    """Reported tokens per piece, beyond what the provider adds to any request; None for a report that can't be believed."""
    found = (reported - framing) / pieces if pieces > 0 else 0.0
    return found if LOWEST <= found <= HIGHEST else None


def taught(meter: Meter, pieces: int, framing: int, reported: int) -> Meter:
    found = ratio(pieces, framing, reported)
    if found is None:
        return replace(meter, doubted=meter.doubted + 1)
    return replace(meter, ratios=(*meter.ratios, round(found, 4))[-KEPT:], samples=meter.samples + 1)


def meter_of(meters: tuple[Meter, ...], model: str) -> Meter:
    return next((meter for meter in meters if meter.model == model), Meter(model))


def kept(meters: tuple[Meter, ...], new: Meter) -> tuple[Meter, ...]:
    """The models that were asked last."""
    return (*[meter for meter in meters if meter.model != new.model], new)[-MODELS:]


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What earlier tasks of the project have learnt about the model's count: this task starts from it."""

    meter: Meter


@dataclass(frozen=True, slots=True)
class Breached:
    """The provider counted more than the ceiling allows. Both figures are kept; the factor is higher from now on."""

    step: int
    estimated: int
    reported: int
    reserve: int
    budget: int


@dataclass(frozen=True, slots=True)
class Doubted:
    """A usage report that makes no sense: nothing is learnt from it."""

    step: int
    estimated: int
    reported: int
