"""Killed with SIGKILL anywhere in `afresh undo`, typed again it comes to the same: no change more is taken back, none less."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from person import CHECK, SOURCE, Person, Step
from survived import differing

from afresh.app.compose import RunTerms, run_task
from afresh.app.inspect.inspect_calls import verify_calls
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import Project, open_project
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.states.supervision_state import PersonAct, PersonRequest, StepsUndone
from afresh.core.task import TaskStatus

pytestmark = [pytest.mark.journey, pytest.mark.reported]

DRIVER = Path(__file__).with_name("undo_driver.py")
POINTS = ("unwritten", "written", "half", "whole")
"""Each with a change of its own to take back; two more are left."""


def marked(number: int) -> list[Step]:
    """A change of two files, so that it can be half taken back."""
    calc = f"# {number}\ndef double(x):\n    return x + 2\n"
    return [("edit", {"path": "calc.py", "new": calc}), ("edit", {"path": "more.py", "new": f"{number}\n"})]


class Stops:
    """Lets it take so many steps."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def at_pause(self, state: State) -> PersonRequest | None:
        return PersonRequest(PersonAct.STOP if state.work.step == self.steps else PersonAct.GO)


@pytest.fixture
def stopped(person: Person) -> Iterator[tuple[Project, str]]:
    """A task that has made a change in each of its steps, and waits."""
    project, changes = open_project(person.repo), len(POINTS) + 2
    model = person.script(*[marked(number) for number in range(1, changes + 1)], [("read", {"path": "calc.py"})])
    task = add_task(project, TaskOrder("double is wrong", "fix_bug", (CHECK,), model=model)).task.id
    state = run_task(project, task, RunTerms(no_sandbox=True, mode="interactive", person=Stops(changes)))
    assert state and (state.status, state.workspace.kept) == (TaskStatus.BLOCKED, changes)
    yield project, task
    project.storage.close()


def types(person: Person, point: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(DRIVER), point, *arguments]
    return subprocess.run(
        command, cwd=person.repo, env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, text=True, timeout=120
    )  # fmt: skip


def left(person: Person, task: str) -> tuple[str, str]:
    """The number of the change that each file is of."""
    tree = person.trees / task
    return (tree / "calc.py").read_text()[2:3], (tree / "more.py").read_text().strip()


def test_killed_anywhere_and_typed_again_it_has_taken_back_one_change(person: Person, stopped: tuple[Project, str]) -> None:
    project, task = stopped
    before = person.belongings()
    for place, point in enumerate(POINTS):
        now, then = str(len(POINTS) + 2 - place), str(len(POINTS) + 1 - place)
        dead = killed(person, point, project, task)
        assert dead.workspace.reverted == place + (point != "unwritten"), point
        halves = {"half": (then, now), "whole": (then, then)}
        assert left(person, task) == halves.get(point, (now, now)), point
        if point != "whole":
            again = types(person, "never", "undo", task)
            ended = "finished the interrupted undo" in again.stdout
            assert again.returncode == 0 and ended == (point != "unwritten"), (point, again)
        assert left(person, task) == (then, then) and project.store.load(task).workspace.reverted == place + 1, point
        assert sum(isinstance(entry.event, StepsUndone) for entry in project.store.journal(task)) == place + 1
    goes_on(person, project, task)
    assert person.belongings() == before and all(call.same for call in verify_calls(project, task))


def killed(person: Person, point: str, project: Project, task: str) -> State:
    assert types(person, point, "undo", task).returncode == -signal.SIGKILL
    dead = project.store.load(task)
    assert differing(dead, fold_entries(None, project.store.journal(task))) == [], point
    return dead


def goes_on(person: Person, project: Project, task: str) -> None:
    """Who does not type it again but lets the task go on has it from where it was undone to."""
    killed(person, "half", project, task)
    assert left(person, task) == ("1", "2")
    state = run_task(project, task, RunTerms(no_sandbox=True, mode="interactive", person=Stops(len(POINTS) + 3)))
    assert state and left(person, task) == ("1", "1") and state.workspace.reverted == len(POINTS) + 1
