"""A task on the sample project, played by a script: every window that the product sent, as it was recorded."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afresh.app import compose
from afresh.app.demo import copy_sample
from afresh.app.inspect.inspect_calls import list_audits, load_call
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import open_project
from afresh.core.prompt import Omission
from afresh.errors import NeedsPerson

CHECK = f"{sys.executable} -m pytest -q -p no:cacheprovider -p no:hypothesispytest -p no:xdist"
QUICK = f"{sys.executable} -c pass"
Step = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Shown:
    """One call."""

    step: int
    sections: dict[str, str]
    omissions: tuple[Omission, ...]
    budget: int
    tokens: int
    filled: float
    """Part of what it may hold."""

    @property
    def text(self) -> str:
        """Without system text and tools."""
        return "\n\n".join(text for name, text in self.sections.items() if name not in ("system", "tools"))

    def lines(self, section: str) -> list[str]:
        return self.sections.get(section, "").splitlines()


def tell(
    folder: Path, goal: str, replies: Sequence[tuple[str, list[Step]]], files: Mapping[str, str], check: str = CHECK
) -> list[Shown]:
    """`files` lie over the sample before the task begins; a text that begins with + is added to what there is. The script may end
    before the task does."""
    root = copy_sample(folder / "repo")
    for path, text in files.items():
        old = (root / path).read_text() if text.startswith("+") else ""
        (root / path).write_text(old + text.removeprefix("+"))
    return play(root, goal, "fix_bug", replies, check)


def play(root: Path, goal: str, type: str, replies: Sequence[tuple[str, list[Step]]], check: str) -> list[Shown]:
    """The same in any repository; the script lies beside it."""
    folder, identity = root.parent, ("-c", "user.name=t", "-c", "user.email=t@t")
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    subprocess.run(["git", *identity, "commit", "--allow-empty", "-qm", "as it stands"], cwd=root, check=True)
    script = folder / "script.jsonl"
    lines = [{"thought": thought, "actions": [{"tool": tool, "args": args} for tool, args in done]} for thought, done in replies]
    script.write_text("".join(json.dumps(line) + "\n" for line in lines))
    project = open_project(root)
    task = add_task(project, TaskOrder(goal, type, (check,), model=f"scripted:{script}")).task.id
    with contextlib.suppress(NeedsPerson):
        compose.run_task(project, task, compose.RunTerms(no_sandbox=True))
    return [shown(project, task, step) for step, _ in list_audits(project, task)]


def shown(project: Any, task: str, step: int) -> Shown:
    one = load_call(project, task, step)
    sections = {section.name: section.text for section in one.sections}
    return Shown(
        step,
        sections,
        one.audit.omissions,
        one.audit.budget,
        one.audit.tokens,
        one.audit.tokens / (one.audit.budget - one.audit.reserve),
    )
