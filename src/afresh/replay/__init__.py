"""Replays recorded sessions of other agents and measures the prompts that afresh would have sent."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any


def contexts(trajectory: Mapping[str, Any], budget: int, count: Callable[[str], int]) -> Iterator[str]:
    """For each step of a recorded run, what afresh would have sent to the model; see `build_contexts.py`."""
    from afresh.replay.build_contexts import build_contexts as made

    return made(trajectory, budget, count)


def extended_contexts(trajectory: Mapping[str, Any], budget: int, count: Callable[[str], int]) -> Iterator[str]:
    """The same where prefixes are cached: contexts are kept and appended to while that is cheaper; see `extend_contexts.py`."""
    from afresh.replay.extend_contexts import extend_contexts as made

    return made(trajectory, budget, count)
