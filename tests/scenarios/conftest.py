"""A small project with its baseline taken once."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode does not let tests share a module otherwise


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory):
    from verification_yard import PROJECT, make_yard

    from afresh.engine.verify import take_baseline

    return take_baseline(make_yard(tmp_path_factory.mktemp("project"), PROJECT).bench)


@pytest.fixture
def yard(tmp_path: Path, taken):
    """The project at the start of a task."""
    from verification_yard import PROJECT, make_yard

    yard = make_yard(tmp_path, PROJECT)
    yard.begin(*taken)
    return yard
