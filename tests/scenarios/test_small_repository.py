"""What fresh readers of real windows complained of, as tests on windows that were really sent: a feature in a small repository,
in small steps."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from story import Shown, Step, play

PROBLEM = Path(__file__).with_name("undo_task")
CHECK = f"{sys.executable} -m unittest discover -q -s tests -t ."
GOAL = "Add `undo` and `redo` to the to-do list, with tests, and document the commands in README.md."
PLAN = ["history: changes, undo, redo", "store and commands", "README", "tests for undo and redo"]
SHOWING = ("files", "target", "similar")


def plan(done: int) -> Step:
    return "plan", {"items": [f"[{'x' if at < done else ' '}] {item}" for at, item in enumerate(PLAN)]}


def read(*paths: str) -> list[Step]:
    return [("read", {"path": path}) for path in paths]


def steps() -> list[tuple[str, list[Step]]]:
    """The written solution, a piece at a time."""
    solution = [json.loads(line) for line in (PROBLEM / "solution.jsonl").read_text("utf-8").splitlines()]
    acts: list[Step] = [(act["tool"], act["args"]) for act in solution[1]["actions"]]
    return [
        ("Commands and store first.", [*read("todo/cli.py", "todo/store.py"), plan(0)]),
        ("The list itself.", read("todo/items.py")),
        ("The history is a value like the list.", [acts[0], plan(1)]),
        ("Store and commands use the book.", [*acts[1:5], plan(2)]),
        ("Document the commands.", [acts[5], plan(3)]),
        ("Now tests.", [acts[6], plan(4)]),
    ]


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Shown]:
    root = tmp_path_factory.mktemp("small") / "repo"
    shutil.copytree(PROBLEM / "project", root, ignore=shutil.ignore_patterns("__pycache__"))
    (root / ".gitignore").write_text("__pycache__/\n")
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=root, check=True)
    told = play(root, GOAL, "implement_feature", steps(), CHECK)
    return {window.step: window for window in told}


def numbered(window: Shown, *sections: str) -> Iterator[tuple[str, int]]:
    """Each line of a file that is shown, by file and number."""
    for section in sections:
        path = ""
        for line in window.lines(section):
            if found := re.match(r"[+ ] *(\d+) ", line):
                yield path, int(found[1])
            elif not line.startswith(" "):
                path = line.partition(":")[0]


def test_no_line_of_a_file_stands_twice(windows: dict[int, Shown]) -> None:
    for window in windows.values():
        twice = [line for line, count in Counter(numbered(window, *SHOWING)).items() if count > 1]
        assert not twice, f"step {window.step}"


def test_files_that_nobody_asked_for_are_not_shown_since_there_is_room(windows: dict[int, Shown]) -> None:
    assert "todo/items.py" not in {path for path, _ in numbered(windows[2], "files")}, "it is read in the second step"
    assert "todo/items.py" in windows[3].lines("files") and all("beginning" not in one.sections for one in windows.values())


def test_the_map_does_not_say_again_what_is_in_files_that_stand_whole(windows: dict[int, Shown]) -> None:
    for window in windows.values():
        counts = Counter(path for path, _ in numbered(window, *SHOWING))
        for line in window.lines("outline"):
            if listed := re.match(r"(\S+) \((\d+) lines", line):
                assert counts[listed[1]] < int(listed[2]), f"step {window.step}: {line}"
            elif line.endswith(" (shown whole)"):
                assert counts[line.removesuffix(" (shown whole)")], f"step {window.step}: {line}"
    assert windows[2].lines("outline").count("todo/cli.py (shown whole)") == 1


def test_similar_code_is_offered_until_something_is_changed(windows: dict[int, Shown]) -> None:
    assert not any(windows[step].sections.get("similar") for step in (4, 5, 6))


def test_the_tests_stay_while_they_are_next(windows: dict[int, Shown]) -> None:
    assert "tests/test_todo.py" not in [path for step in range(1, 4) for path in windows[step].lines("files")], "nobody read them"
    assert "    1 import contextlib" in windows[4].lines("files"), "the code was just changed"
    before = windows[6]
    assert "   19     def say(self, *words):" in before.lines("files")
    assert "tests: __init__.py" not in before.text


def test_what_only_serves_tests_is_not_counted_among_them(windows: dict[int, Shown]) -> None:
    tree = windows[1].sections["outline"]
    assert "\ntests/test_todo.py (" in tree and "tests/__init__.py" not in tree
