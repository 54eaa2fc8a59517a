"""What calls have cost, as far as it is known. Each reply carries its own price, so that the journal alone tells the sum."""

from dataclasses import replace

from afresh.core.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CallCosts:
    """The cost of calls."""

    money: int = 0
    """Nano-dollars."""
    unpriced: int = 0
    """Tokens of calls whose price nobody knows."""

    def plus(self, cost: int | None, tokens: int) -> "CallCosts":
        if cost is None:
            return replace(self, unpriced=self.unpriced + tokens)
        return replace(self, money=self.money + cost)

    def words(self, tokens: int) -> str:
        """Money before tokens; tokens alone where nobody pays, or nobody knows."""
        if not self.money:
            return f"{tokens:,} tokens"
        return f"{'at least ' if self.unpriced else ''}{format_dollars(self.money)} and {tokens:,} tokens"


NO_CALL_COSTS = CallCosts()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counts them. Those read from its cache (`cached`) and those it wrote there (`written`) are part of
    `input`; `thinking`, where it is told apart, is part of `output`."""

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    thinking: int = 0

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input + self.output

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input, self.output + other.output, self.cached + other.cached,
            self.written + other.written, self.thinking + other.thinking,
        )  # fmt: skip


NANO_PER_DOLLAR = 1_000_000_000
"""Money is counted in nano-dollars."""


def format_dollars(amount: int) -> str:
    """The amount in cents; with more digits if it is small."""
    value = amount / NANO_PER_DOLLAR
    if not amount or abs(value) >= 0.1:
        return f"${value:,.2f}"
    return f"${value:.4f}" if abs(value) >= 0.0001 else f"${value:.7f}"
