"""What calls have cost, as far as it is known. Each reply carries its own price, so that the journal alone tells the sum."""

from dataclasses import dataclass, replace

from afresh.domain.limits import format_dollars


@dataclass(frozen=True, slots=True)
class CallCosts:
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
