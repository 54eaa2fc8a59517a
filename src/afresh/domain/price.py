"""What a model costs."""

from dataclasses import dataclass

from afresh.domain.action import Usage

PER_MILLION = 1_000
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
        return nano(tokens * max(self.input, self.written) + reserve * self.output)

    def read(self, usage: Usage) -> int:
        """Nano-dollars for what was sent."""
        new = usage.input - usage.cached - usage.written
        return nano(new * self.input + usage.cached * self.cached + usage.written * (self.written or self.input))

    def said(self, usage: Usage) -> int:
        """Nano-dollars for the reply."""
        return nano(usage.output * self.output)


@dataclass(frozen=True, slots=True)
class Rate:
    """What the user says that a model costs, in dollars for a million tokens. What is cached costs like the rest unless told."""

    input: float = 0.0
    output: float = 0.0
    cached: float | None = None
    written: float = 0.0

    @property
    def price(self) -> Price:
        cached = self.input if self.cached is None else self.cached
        return Price(self.input, cached, "your config", self.output, self.written)


FREE = Price(0.0, 0.0, "nobody pays for it")


def nano(millionths: float) -> int:
    """Of tokens times dollars for a million of them."""
    return round(millionths * PER_MILLION)
