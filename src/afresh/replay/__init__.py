"""Recorded runs in, measured contexts out."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any


def contexts(trajectory: Mapping[str, Any], budget: int, count: Callable[[str], int]) -> Iterator[str]:
    """For each step of a recorded run what afresh would have sent the model; see `sent.py`."""
    from afresh.replay.build_contexts import build_contexts as made

    return made(trajectory, budget, count)
