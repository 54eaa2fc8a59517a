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


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With a repository that has a bug and a test that shows it."""
    from person import CALC, TEST, Person

    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    one = Person(tmp_path)
    one.repo.mkdir()
    one.git("init", "-q", "-b", "main")
    one.write("calc.py", CALC)
    one.write("test_calc.py", TEST)
    one.commit()
    return one
