"""What a model's input costs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens: read for the first time, and read again from the provider's cache."""

    input: float
    cached: float
    source: str = ""
