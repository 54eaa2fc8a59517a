"""A task of three items that hands one of them out, and the scripts of both."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import open_project

Step = tuple[str, Mapping[str, Any]]
ALL = f"{sys.executable} -m unittest -v"
FILES = {
    "one.py": "def double(x):\n    return x + 2\n",
    "two.py": "def triple(x):\n    return x + 3\n",
    "test_one.py": "import unittest\nfrom one import double\n\n\nclass One(unittest.TestCase):\n"
    "    def test_two(self):\n        self.assertEqual(double(2), 4)\n\n"
    "    def test_five(self):\n        self.assertEqual(double(5), 10)\n",
    "test_two.py": "import unittest\nfrom two import triple\n\n\nclass Two(unittest.TestCase):\n"
    "    def test_four(self):\n        self.assertEqual(triple(4), 12)\n",
}
PLAN: Step = ("plan", {"items": ["double in one.py", "triple in two.py", "complete"]})
ONE = f"{sys.executable} -m unittest -v test_one"
DELEGATE: Step = ("delegate", {"goal": "double(x) must be twice x", "checks": [ONE], "paths": ["one.py"]})
TRIPLE: Step = ("edit", {"path": "two.py", "old": "x + 3", "new": "x * 3"})
COMPLETE: Step = ("complete", {"summary": "Multiply instead of adding\n\nBoth functions added their factor."})
WORSE: Step = ("edit", {"path": "one.py", "old": "x + 2", "new": "x * 3"})
DOUBLE: Step = ("edit", {"path": "one.py", "old": "x + 2", "new": "x * 2"})
DOUBLED: Step = ("complete", {"summary": "Double by multiplying\n\nIt added two."})
FIRST_DONE: Step = ("plan", {"items": ["[x] 1"]})
SECOND_DONE: Step = ("plan", {"items": ["[x] 2"]})
PARENT: list[list[Step]] = [
    [PLAN], [("read", {"path": "two.py"}), DELEGATE, FIRST_DONE], [TRIPLE, SECOND_DONE], [COMPLETE]
]  # fmt: skip
CHILD: list[list[Step]] = [[("read", {"path": "one.py"})], [WORSE], [DOUBLE], [DOUBLED]]
"""The child's second reply breaks a test that passed, so that it is undone."""
PLACE = "2-2"
"""Of the part: what step 2 hands out as its second action."""


def write_script(path: Path, replies: Sequence[Sequence[Step]], thought: str = "") -> None:
    lines = [{"thought": thought, "actions": [{"tool": tool, "args": args} for tool, args in reply]} for reply in replies]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def repository(repo: Path, files: Mapping[str, str] = FILES) -> None:
    repo.mkdir(parents=True)
    for path, text in files.items():
        (repo / path).write_text(text)
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "base"]):
        subprocess.run(["git", *command], cwd=repo, check=True)


def make(
    folder: Path, parent: Sequence[Sequence[Step]] = PARENT, parts: Mapping[str, Sequence[Sequence[Step]]] = {PLACE: CHILD}
) -> tuple[Path, str]:  # fmt: skip
    """A project with the task in its queue."""
    repo = folder / "repo"
    repository(repo)
    write_script(folder / "script.jsonl", parent)
    for place, replies in parts.items():
        write_script(folder / f"script.{place}.jsonl", replies)
    project = open_project(repo)
    order = TaskOrder(
        "double and triple are wrong",
        "implement_feature",
        (ALL,),
        model=f"scripted:{folder / 'script.jsonl'}",
        loop="plan_execute",
    )
    task = add_task(project, order).task.id
    project.storage.close()
    return repo, task
