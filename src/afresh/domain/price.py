"""What a model costs."""

from dataclasses import dataclass

from afresh.domain.action import Usage

NANO_PER_MICRO_DOLLAR = 1_000
"""A dollar for a million tokens is so many nano-dollars for one."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens: read for the first time, read again from the provider's cache, written there, and replied."""

    input: float
    cached: float
    source: str = ""
    output: float = 0.0
    written: float = 0.0
    """0: writing to the cache costs no more than reading."""

    def worst(self, tokens: int, reserve: int) -> int:
        """Nano-dollars for a call of which nothing is cached and whose reply takes all it may."""
        return to_nano_dollars(tokens * max(self.input, self.written) + reserve * self.output)

    def read(self, usage: Usage) -> int:
        """Nano-dollars for what was sent."""
        new = usage.input - usage.cached - usage.written
        return to_nano_dollars(new * self.input + usage.cached * self.cached + usage.written * (self.written or self.input))

    def said(self, usage: Usage) -> int:
        """Nano-dollars for the reply."""
        return to_nano_dollars(usage.output * self.output)


@dataclass(frozen=True, slots=True)
class UserPrice:
    """What the user says that a model costs, in dollars for a million tokens. What is cached costs like the rest unless told."""

    input: float = 0.0
    output: float = 0.0
    cached: float | None = None
    written: float = 0.0

    @property
    def price(self) -> Price:
        cached = self.input if self.cached is None else self.cached
        return Price(self.input, cached, "your config", self.output, self.written)


FREE_PRICE = Price(0.0, 0.0, "nobody pays for it")


def to_nano_dollars(millionths: float) -> int:
    """Of tokens times dollars for a million of them."""
    return round(millionths * NANO_PER_MICRO_DOLLAR)
