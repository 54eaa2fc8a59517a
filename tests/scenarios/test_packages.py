"""A package that is missing or broken is named before anything is started, by doctor, models and a run."""

import sys
from pathlib import Path

import pytest
from person import Person

from afresh.app.doctor import examine_packages


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A package that is found but can't be imported, as after half an install."""

    def break_package(name: str, source: str = "raise ImportError('half installed')") -> None:
        folder = tmp_path / "broken" / name
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(source)
        for module in [module for module in sys.modules if module.partition(".")[0] == name]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.syspath_prepend(str(tmp_path / "broken"))

    return break_package


@pytest.mark.parametrize(("package", "level"), [("openai", "fail"), ("anthropic", "fail"), ("genai_prices", "warn")])
def test_doctor_imports_and_does_not_only_look(broken, package: str, level: str) -> None:
    broken(package)
    found = examine_packages()
    assert found.level == level and package in found.detail and "half installed" in found.detail
    assert "pip install" in found.remedy


def test_models_says_in_a_line_what_is_missing(person: Person, broken) -> None:
    broken("openai")
    told = person.types("models")
    assert "the package openai can't be imported (ImportError: half installed)" in told.words
    assert [one["provider"] for one in person.types("models", "--json").json["providers"] if one["usable"]] == []


def test_a_run_is_refused_with_the_same_words_before_a_task_exists(
    person: Person, broken, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    told = person.types("run", "double is wrong", "-c", "true", "-m", "openai:gpt-5")
    assert told.code == 4 and "the package openai can't be imported" in told.err and "no task was created" in told.err
    assert person.types("status", "--json").json["tasks"] == []
