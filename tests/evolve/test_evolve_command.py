"""`afresh evolve` over the journals of real runs with scripted replies."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from handed import COMPLETE, DOUBLE, PLAN, TRIPLE, make

from afresh.app.compose import RunTerms, run_task
from afresh.app.project import open_project
from afresh.cli.main import root_command

SCRIPT = [
    [PLAN],
    [("read", {"path": "one.py"}), ("read", {"path": "two.py"})],
    [DOUBLE, TRIPLE, ("plan", {"items": ["[x] 1", "[x] 2"]})],
    [COMPLETE],
]


@pytest.fixture
def worked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    repo, task = make(tmp_path, SCRIPT, {})
    project = open_project(repo)
    run_task(project, task, RunTerms(no_sandbox=True))
    project.storage.close()
    monkeypatch.chdir(repo)
    monkeypatch.setenv("COLUMNS", "80")
    return repo


@pytest.fixture
def say() -> Callable[..., str]:
    def invoke(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(root_command, ["evolve", *words], catch_exceptions=False)
        assert done.exit_code == code, done.output
        return done.output

    return invoke


def test_the_report_of_a_real_run_fits_eighty_columns_and_says_the_same_as_json(worked: Path, say: Callable[..., str]):
    text, plain = say("report"), json.loads(say("report", "--json"))
    assert max(map(len, text.splitlines())) <= 80
    assert plain["tasks"] == 1 and plain["calls"] == 4
    assert {one["name"] for one in plain["phases"]} == {"understand", "verify"}
    assert [one["name"] for one in plain["types"]] == ["implement_feature"]
    assert plain["sections"][0]["name"] in text and f"{plain['tokens']:,}" in text
    assert {one["tool"] for one in plain["operations"]} == {"plan", "read", "edit", "complete"}


def test_a_report_without_any_run_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, say: Callable[..., str]):
    repo, _ = make(tmp_path, SCRIPT, {})
    monkeypatch.chdir(repo)
    assert "no call has been answered yet" in say("report")
