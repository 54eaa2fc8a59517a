"""In-memory trees and states for tests of the code analysis."""

from dataclasses import dataclass, field
from textwrap import dedent

from afresh.core.fact import Fact, FactKind
from afresh.core.state import State
from afresh.core.task import Task
from afresh.errors import ModelMistake
from support.states import make_state


@dataclass
class Texts:
    """Implements the port `FileTree` over a dictionary."""

    texts: dict[str, str] = field(default_factory=dict)
    reads: int = 0

    def read(self, path: str) -> str:
        self.reads += 1
        if self.texts[path] == "\0":
            raise ModelMistake(f"{path} is not text")
        return self.texts[path]

    def write(self, path: str, text: str) -> None:
        self.texts[path] = text

    def paths(self) -> list[str]:
        return sorted(self.texts)

    def stamps(self) -> dict[str, str]:
        return {path: self.texts[path] for path in self.paths()}


def tree(**texts: str) -> Texts:
    """Build a tree. Two underscores in a key stand for a slash, and the suffix is `.py`: `src__a` is src/a.py."""
    return Texts({key.replace("__", "/") + ".py": dedent(text) for key, text in texts.items()})


def state(
    goal: str = "lower the complexity", type: str = "fix_violation", failed: tuple[str, ...] = (), **fields: object
) -> State:
    facts = tuple(Fact(FactKind.FAILED_APPROACH, f"apply {one}", "tests failed", suggestion=one) for one in failed)
    return make_state(Task(id="t", goal=goal, type=type), facts=facts, **fields)


def tangled(name: str, count: int = 12) -> str:
    """Return a function that is too complex, in paragraphs that a reader would extract."""
    lines = [f"def {name}(value, seen):"]
    for number in range(count - 1):
        if number % 3 == 0:
            lines += [*([""] if number else []), f"    # Add {('low', 'middling', 'large', 'high', 'huge')[number // 3]} values"]
        lines += [f"    if value > {number}:", *[f"        seen.append({number})"] * (1 + number // 3)]
    return "\n".join([*lines, "", "    return seen", ""])
