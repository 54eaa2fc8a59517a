from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from afresh.replay.entries import Entry
from afresh.replay.read import read_runs
from afresh.replay.run import Run

RUNS = Path(__file__).parent / "runs"


@pytest.fixture
def shipped() -> Callable[[str], Run]:
    """The run in a file that is shipped beside these tests."""

    def read(name: str) -> Run:
        [run] = read_runs(RUNS / name)
        return run

    return read


@pytest.fixture
def entries_of() -> Callable[[Iterable[Any]], list[Entry]]:
    """Values as the entries of a file would be."""

    def made(values: Iterable[Any]) -> list[Entry]:
        return [Entry(f"line {number}", value) for number, value in enumerate(values, 1)]

    return made
