"""Tasks that run in threads of one process are sent the same prompts, and leave the same journals, as each alone."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from afresh.app.compose import RunTerms, run_task
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import open_project
from afresh.context.rebuild_call import reassemble_request, rebuild_all_calls
from afresh.core.event import CallRequested
from afresh.core.task import TaskStatus
from afresh.storage.renew_lease import identify_thread

CHECK = f"{sys.executable} -m unittest -v"
COUNT = 3


@pytest.fixture(autouse=True)
def confined(requires_sandbox) -> None:
    requires_sandbox()


def make_repository(folder: Path, number: int) -> Path:
    """A repository with words of its own: what a neighbour is shown can't be taken for it."""
    repo = folder / "repo"
    repo.mkdir(parents=True)
    name = f"scale_{number}"
    (repo / "calc.py").write_text(f'def {name}(x):\n    "A literal with \\d for a warning."\n    return x + {number}\n')
    (repo / "test_calc.py").write_text(
        f"import unittest\n\nfrom calc import {name}\n\n\nclass T(unittest.TestCase):\n"
        f"    def test_three(self):\n        self.assertEqual({name}(3), {3 * number})\n"
        f"    def test_kind(self):\n        self.assertIsInstance({name}(0), int)\n"
    )
    (repo / "readme.md").write_text(f"# Scale {number}\n\nIt multiplies by {number}.\n")
    for command in (("init", "-q"), ("add", "-A"), ("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "base")):
        subprocess.run(["git", *command], cwd=repo, check=True)
    return repo


def write_script(folder: Path, number: int) -> Path:
    edit = {"path": "calc.py", "old": f"x + {number}"}
    steps = [
        [("read", {"path": "readme.md"}), ("search", {"query": f"scale_{number}"})],
        [("edit", {"path": "nowhere.py", "old": "a", "new": "b"})],
        [("edit", {**edit, "new": "None"})],
        [("edit", {**edit, "new": f"x * {number}"})],
        [("complete", {"summary": f"Multiply by {number}\n\nIt added."})],
    ]
    lines = [{"thought": f"step of {number}", "actions": [{"tool": tool, "args": args} for tool, args in step]} for step in steps]
    script = folder / "script.jsonl"
    script.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return script


def run_one(folder: Path, number: int, start: Barrier | None = None) -> list[Any]:
    """What was sent in the run, and the kinds of its events."""
    project = open_project(make_repository(folder, number))
    model = f"scripted:{write_script(folder, number)}"
    order = TaskOrder(f"scale_{number} is wrong", "fix_bug", (CHECK,), model=model)
    task = add_task(project, order).task.id
    if start:
        start.wait()
    state = run_task(project, task, RunTerms(thread=identify_thread()))
    assert state and state.status is TaskStatus.DONE, state
    assert all(call.same for call in rebuild_all_calls(task, project.store))
    events = [entry.event for entry in project.store.journal(task)]
    prompts = [reassemble_request(event.audit, project.store) for event in events if isinstance(event, CallRequested)]
    project.storage.close()
    assert len(prompts) == 5
    return [repr(prompts).replace(task, "TASK"), [type(event).__name__ for event in events]]


def test_prompts_and_journals_do_not_depend_on_neighbours_in_the_process(tmp_path: Path) -> None:
    alone = [run_one(tmp_path / f"alone-{number}", number) for number in range(2, 2 + COUNT)]
    start = Barrier(COUNT)
    with ThreadPoolExecutor(COUNT) as threads:
        runs = [threads.submit(run_one, tmp_path / f"beside-{number}", number, start) for number in range(2, 2 + COUNT)]
        beside = [run.result() for run in runs]
    for number, (one, other) in enumerate(zip(alone, beside, strict=True), 2):
        assert one == other, f"the run of scale_{number} differs"
        assert f"scale_{number}" in one[0] and f"scale_{number + 1}" not in other[0]
