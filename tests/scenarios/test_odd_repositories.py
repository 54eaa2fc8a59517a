"""Repositories that no tool expects go through all commands. `make torture` makes 200 from a seed; what they found stays."""

import os
import sys
from pathlib import Path
from random import Random

import pytest
from odd_repositories import begin, make_odd_repository, put, tour
from person import COMPLETE, MEND, SHELL_CHECK, Person

pytestmark = pytest.mark.journey

MAKE_FOLDERS = "import os; [(os.mkdir('{0}'), os.chdir('{0}')) for i in range({1})]; open('end.py', 'w')"


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    person = Person(tmp_path, check=SHELL_CHECK)
    begin(person)
    return person


def test_a_source_that_is_no_text_stops_no_task(odd: Person) -> None:
    put(odd.repo, "._a.py", b"\0\5\26\7")
    put(odd.repo, "b.py", "def double(): pass\n".encode("utf-16"))
    put(odd.repo, "c.js", b"double('\0')")
    odd.commit("odd")
    assert odd.runs(odd.script([("search", {"query": "double"}), MEND], [COMPLETE]), "--no-sandbox", "--quiet").code == 0
    assert odd.types("code", "map").code == 0


@pytest.mark.parametrize(("name", "depth"), [("d", 1_500), ("dddddddddd", 3_000)])
def test_folders_too_deep_for_git_are_put_back_and_told_to_the_model(odd: Person, name: str, depth: int) -> None:
    deep = ("run", {"command": f'{sys.executable} -c "{MAKE_FOLDERS.format(name, depth)}"'})
    stopped = odd.runs(odd.script([deep, MEND]), "--no-sandbox", "--quiet")
    assert stopped.code == 4 and "the script has" in stopped.words
    odd.script([deep, MEND], [MEND], [COMPLETE])
    assert odd.types("resume", "--no-sandbox", "--quiet").code == 0
    assert "a path in the tree is too long" in odd.types("context", "show", "--step", "2").words
    assert odd.types("diff", "--name-only").out == "calc.py\n"
    assert odd.types("discard", odd.shown()["task"]["id"], "--yes").code == 0 and not [*odd.trees.glob("*/")]


def test_folders_too_deep_for_git_that_a_check_leaves_stop_no_step(odd: Person) -> None:
    check = f'{sys.executable} -c "{MAKE_FOLDERS.format("dddddddddd", 1_000)}"; {SHELL_CHECK}'
    assert odd.runs(odd.script([MEND], [COMPLETE]), "--no-sandbox", "--quiet", check=check).code == 0


def test_a_name_that_git_refuses_to_commit_with_ends_no_run(odd: Person) -> None:
    odd.git("config", "user.name", "\x01 .")
    assert odd.runs(odd.script([MEND], [COMPLETE]), "--no-sandbox", "--quiet").code == 0
    assert odd.git("log", "-1", "--format=%an", f"afresh/{odd.shown()['task']['id']}") == "afresh"


def test_half_a_surrogate_pair_in_what_tests_say_stops_no_task(odd: Person) -> None:
    odd.write("test_odd.py", "def test_odd():\n    raise ValueError('\\udead \\ud83d')\n")
    odd.commit("odd")
    told = odd.runs(odd.script([MEND], [COMPLETE]), "--no-sandbox", "--quiet", check=f"{sys.executable} -m pytest -q")
    assert told.code == 0 and odd.types("show").code == 0, told


@pytest.mark.torture
@pytest.mark.parametrize("number", range(200))
def test_an_odd_repository_goes_through_all_commands(odd: Person, number: int) -> None:
    random = Random(f"{os.environ.get('ODD_SEED', '1')}:{number}")
    what = make_odd_repository(odd, random)
    status, wrong = tour(odd, random)
    assert not wrong, (what, status, *wrong)
