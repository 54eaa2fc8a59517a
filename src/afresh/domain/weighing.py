"""The provider's own count of a call before it is bought: asked for near the ceiling, while little is known of its count."""

from dataclasses import dataclass

from afresh.domain.meter import compute_tokens_per_piece


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
