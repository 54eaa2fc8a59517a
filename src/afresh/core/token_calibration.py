"""How a model's own count of a request compares with ours: learnt from the usage that its provider reports."""

from dataclasses import replace
from math import ceil

from afresh.core.fast_dataclass import dataclass

MAX_RATIOS = 32
MAX_MODELS = 4
DEFAULT_TOKENS_PER_PIECE = 1.15
CALIBRATION_MARGIN = 1.03
"""The factor before anything is known, and what is added to the highest ratio seen: see docs/internals/decisions.md for the
figures."""
MIN_TOKENS_PER_PIECE = 0.5
MAX_TOKENS_PER_PIECE = 4.0
"""No vocabulary in use is outside of this for any text: a report that says so is a mistake of whoever counted."""


@dataclass(frozen=True, slots=True)
class TokenCalibration:
    """Reported tokens per piece of our pre-split, for one model; the newest stand last."""

    model: str = ""
    ratios: tuple[float, ...] = ()
    samples: int = 0
    """Number of samples in all, even of those that were dropped."""
    doubted: int = 0
    """Reports that were not believed."""

    @property
    def factor(self) -> float:
        """Covers all that was seen lately, and a little more. In hundredths, so that windows don't shift with every call."""
        if not self.ratios:
            return DEFAULT_TOKENS_PER_PIECE
        return ceil(min(max(max(self.ratios), MIN_TOKENS_PER_PIECE), MAX_TOKENS_PER_PIECE) * CALIBRATION_MARGIN * 100) / 100


NO_CALIBRATION = TokenCalibration()


def compute_tokens_per_piece(pieces: int, framing: int, reported: int) -> float | None:
    """Reported tokens per piece, beyond what the provider adds to any request; None for a report that can't be believed."""
    found = (reported - framing) / pieces if pieces > 0 else 0.0
    return found if MIN_TOKENS_PER_PIECE <= found <= MAX_TOKENS_PER_PIECE else None


def add_sample(meter: TokenCalibration, pieces: int, framing: int, reported: int) -> TokenCalibration:
    piece = compute_tokens_per_piece(pieces, framing, reported)
    if piece is None:
        return replace(meter, doubted=meter.doubted + 1)
    return replace(meter, ratios=(*meter.ratios, round(piece, 4))[-MAX_RATIOS:], samples=meter.samples + 1)


def find_calibration(meters: tuple[TokenCalibration, ...], model: str) -> TokenCalibration:
    return next((meter for meter in meters if meter.model == model), TokenCalibration(model))


def replace_calibration(meters: tuple[TokenCalibration, ...], new: TokenCalibration) -> tuple[TokenCalibration, ...]:
    """The models that were asked last."""
    return (*[meter for meter in meters if meter.model != new.model], new)[-MAX_MODELS:]


@dataclass(frozen=True, slots=True)
class CalibrationLoaded:
    """What earlier tasks of the project have learnt about the model's count: this task starts from it."""

    meter: TokenCalibration


@dataclass(frozen=True, slots=True)
class CeilingBreached:
    """The provider counted more than the ceiling allows. Both figures are kept; the factor is higher from now on."""

    step: int
    estimated: int
    reported: int
    reserve: int
    budget: int


@dataclass(frozen=True, slots=True)
class UsageReportDoubted:
    """A usage report that makes no sense: nothing is learnt from it."""

    step: int
    estimated: int
    reported: int


@dataclass(frozen=True, slots=True)
class TokensCounted:
    """What the provider counted for a window that was not sent yet. One that is over is built again, smaller."""

    step: int
    model: str
    estimated: int
    counted: int
    reserve: int
    budget: int
    pieces: int
    framing: int

    @property
    def over(self) -> bool:
        """A count that can't be right says nothing."""
        believed = compute_tokens_per_piece(self.pieces, self.framing, self.counted) is not None
        return believed and self.counted + self.reserve > self.budget
