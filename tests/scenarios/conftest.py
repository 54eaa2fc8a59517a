"""A small project with its baseline taken once."""

from pathlib import Path

import pytest
from verification_yard import PROJECT, Yard, make_yard

from afresh.domain.fact import Block
from afresh.domain.verdict import Baseline
from afresh.engine.verify import take_baseline


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> tuple[Baseline, tuple[Block, ...]]:
    return take_baseline(make_yard(tmp_path_factory.mktemp("project"), PROJECT).bench)


@pytest.fixture
def yard(tmp_path: Path, taken: tuple[Baseline, tuple[Block, ...]]) -> Yard:
    yard = make_yard(tmp_path, PROJECT)
    yard.begin(*taken)
    return yard
