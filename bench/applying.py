"""The suggestions in the order in which the offline policy takes them, applied and tested without the agent around them."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from afresh.code.code_insight import CodeInsight
from afresh.core.context_item import Item
from afresh.core.fact import Fact, FactKind
from afresh.core.state import State
from afresh.core.states.memory_state import MemoryState
from afresh.core.task import Task
from archives import Recipe, git, suite

BATCH = 12
"""Changes between two runs of the suite. A batch that makes it red is taken back and tried again one by one."""


@dataclass(frozen=True)
class Checkout:
    """A git work tree as the port `Files`."""

    root: Path

    def read(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def write(self, path: str, text: str) -> None:
        (self.root / path).write_bytes(text.encode())

    def stamps(self) -> dict[str, str]:
        found = {path: (self.root / path).stat() for path in self.paths()}
        return {path: f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino}" for path, stat in found.items()}

    def paths(self) -> list[str]:
        return sorted(git(self.root, "ls-files", "-z", "-co", "--exclude-standard").split("\0")[:-1])


@dataclass
class Work:
    root: Path
    recipe: Recipe
    facts: list[Fact] = field(default_factory=list[Fact])
    kept: int = 0
    insight: CodeInsight = field(default_factory=CodeInsight)

    def next(self) -> Item | None:
        """The first suggestion, which the policy would take."""
        goal = f"bring every function in {self.recipe.code} to a complexity of at most 10"
        state = State(task=Task(id="bench", goal=goal, type="fix_violation"), memory=MemoryState(facts=tuple(self.facts)))
        looks = self.insight.looks(state, Checkout(self.root))
        return next((look for look in looks if look.kind == "suggestion"), None)

    def batch(self, most: int) -> bool:
        """Up to `most` changes, then the suite. False when nothing is left to try."""
        before, taken = git(self.root, "rev-parse", "HEAD").strip(), list[Item]()
        while len(taken) < most and (look := self.next()) is not None:
            apply(self.root, look)
            taken.append(look)
        if not taken:
            return False
        last, green = suite(self.root, self.recipe)
        if green:
            self.kept += len(taken)
        else:
            git(self.root, "reset", "-q", "--hard", before)
            if len(taken) == 1:
                head = taken[0].text.partition("\n")[0]
                self.facts.append(Fact(FactKind.FAILED_APPROACH, f"apply {taken[0].subject} {head}", last))
            for _ in taken if len(taken) > 1 else ():
                self.batch(1)
        return True


def worked_directly(root: Path, recipe: Recipe) -> dict[str, Any]:
    work = Work(root, recipe)
    while work.batch(BATCH):
        pass
    facts = [{"kind": "failed_approach", "subject": fact.subject, "text": fact.text} for fact in work.facts]
    return {"commit": git(root, "rev-parse", "HEAD").strip(), "kept": work.kept, "facts": facts, "outcome": "applied directly"}


def apply(root: Path, look: Item) -> None:
    head, _, edits = look.text.partition("\n")
    for edit in json.loads(edits):
        file = root / edit["path"]
        text = file.read_bytes().decode()
        assert text.count(edit["old"]) == 1, "an edit does not fit"
        file.write_bytes(text.replace(edit["old"], edit["new"]).encode())
    git(root, "commit", "-q", "-a", "-m", head)
