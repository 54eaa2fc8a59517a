"""How long a run may get nowhere before it is told so, made to go about it another way, and stopped."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StallThresholds:
    """The user's table `no_progress`: for each sign at which count the window warns, at which the strategy changes and at which
    the task stops and asks. 0 leaves a rung out, an empty list the sign."""

    repeated: tuple[int, ...] = (3, 5, 7)
    """Times that the same action had the same result in an unchanged tree."""
    cycling: tuple[int, ...] = (3, 4, 5)
    """Times that a command, or a check, came to the same failure after having come to something else, with changes between."""
    undoing: tuple[int, ...] = (3, 4, 6)
    """Times that a file went to and fro between the same two contents."""
    rereading: tuple[int, ...] = (4, 6, 9)
    """Times that the same unchanged lines, or the same archived output, were read."""
    failing: tuple[int, ...] = (3, 4, 6)
    """Steps in a row in which no action worked."""
    idle_steps: tuple[int, ...] = (60, 100, 160)
    """Steps without verified progress."""
    idle_tokens: tuple[int, ...] = (300_000, 600_000, 1_000_000)
    """Tokens, in and out, without verified progress."""
    forget: int = 5
    """Steps without the sign after which a warning is taken back."""


DEFAULT_STALL_THRESHOLDS = StallThresholds()
