"""Tasks that make a project's own code better are filed with their criteria, once, and nothing is merged."""

import cProfile
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from handed import repository

from afresh.app.project import open_project
from afresh.cli.main import root_command
from afresh.errors import BadInput
from afresh.evolve.code_tasks import ComplexFunction, SlowFunction, plan_code_tasks

TANGLED = "def route(a, b):\n" + "".join(f"    if a == {n} and b:\n        return {n}\n" for n in range(9)) + "    return None\n"
SLOW = "def crunch():\n    total = 0\n    for number in range(200_000):\n        total += number % 7\n    return total\n"
CHECK = "python -m compileall -q ."


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    repository(tmp_path / "repo", {"tangled.py": TANGLED, "slow.py": SLOW})
    monkeypatch.chdir(tmp_path / "repo")

    def invoke(*words: str) -> str:
        done = CliRunner().invoke(root_command, ["evolve", *words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    return invoke


def set_checks(repo: Path) -> None:
    (repo / ".afresh").mkdir(exist_ok=True)
    (repo / ".afresh/config.toml").write_text(f'checks = ["{CHECK}"]\n')


def test_a_tangled_function_becomes_a_task_once_and_the_checkout_stays_as_it_is(say: Callable[..., str], tmp_path: Path):
    set_checks(tmp_path / "repo")
    (filed,) = json.loads(say("code", "--json"))
    assert "route in tangled.py" in filed["goal"] and filed["checks"] == [CHECK]
    project = open_project(tmp_path / "repo")
    state = project.store.load(filed["task"])
    assert state.status == "ready" and [check.command for check in state.task.checks] == [CHECK]
    project.storage.close()
    assert json.loads(say("code", "--json")) == []
    told = subprocess.run(["git", "log", "--oneline"], cwd=tmp_path / "repo", capture_output=True, text=True, check=True)
    assert len(told.stdout.splitlines()) == 1


def test_a_slow_function_of_a_profile_becomes_a_task_whose_criterion_is_the_benchmark(
    say: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    set_checks(tmp_path / "repo")
    monkeypatch.syspath_prepend(str(tmp_path / "repo"))
    import slow  # type: ignore[import-not-found]

    profile = cProfile.Profile()
    profile.runcall(slow.crunch)
    profile.dump_stats(tmp_path / "profile")
    sys.modules.pop("slow")
    found = json.loads(say("code", "--dry-run", "--profile", str(tmp_path / "profile"), "--bench", "python bench.py", "--json"))
    assert "crunch in slow.py faster" in found[0]["goal"] and found[0]["checks"] == [CHECK, "python bench.py"]
    project = open_project(tmp_path / "repo")
    assert project.queue.tickets() == []
    project.storage.close()


def test_without_checks_or_with_a_profile_without_benchmark_nothing_is_filed(say: Callable[..., str], tmp_path: Path):
    with pytest.raises(BadInput, match="no checks"):
        say("code")
    set_checks(tmp_path / "repo")
    (tmp_path / "broken").write_text("no profile")
    with pytest.raises(BadInput, match="needs a benchmark"):
        say("code", "--profile", str(tmp_path / "broken"))
    with pytest.raises(BadInput, match="is no profile"):
        say("code", "--profile", str(tmp_path / "broken"), "--bench", "true")


def test_slow_functions_come_first_and_then_those_in_files_that_tasks_change_most():
    tangled = [ComplexFunction("a.py", "one", 1, 20, 10), ComplexFunction("b.py", "two", 1, 12, 10)]
    slow = [SlowFunction("c.py", "three", 1, 2.0, 0.6), SlowFunction("c.py", "four", 9, 0.1, 0.05)]
    found = plan_code_tasks(tangled, slow, {"b.py": 4}, ("pytest",), "bench")
    assert [one.goal.split(" in ")[0].split()[-1] for one in found] == ["three", "two", "one"]
    assert all("pytest" in one.checks and "bench" in one.checks for one in found)
    assert len(plan_code_tasks(tangled, slow, {}, ("pytest",), "bench", most=1)) == 1
