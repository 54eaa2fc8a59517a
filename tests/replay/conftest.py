from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from afresh.replay.json_entries import JsonEntry
from afresh.replay.read_runs import read_runs
from afresh.replay.run import RecordedRun

RUNS = Path(__file__).parent / "runs"


@pytest.fixture
def shipped() -> Callable[[str], RecordedRun]:
    """The run in a file that is shipped beside these tests."""

    def read(name: str) -> RecordedRun:
        [run] = read_runs(RUNS / name)
        return run

    return read


@pytest.fixture
def entries_of() -> Callable[[Iterable[Any]], list[JsonEntry]]:
    """Values as the entries of a file would be."""

    def made(values: Iterable[Any]) -> list[JsonEntry]:
        return [JsonEntry(f"line {number}", value) for number, value in enumerate(values, 1)]

    return made
