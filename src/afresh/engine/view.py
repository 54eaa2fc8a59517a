"""One chunk of a file in a window, and how much it matters now."""

import re
from dataclasses import dataclass

from afresh.domain.fact import Look
from afresh.domain.state import State

SUBJECT = re.compile(r"(.+):(\d+)-(\d+) (.*)", re.DOTALL)
STEP, UNSPOKEN = 1_000, 100


@dataclass(frozen=True, slots=True)
class View:
    subject: str
    path: str
    start: int
    end: int
    title: str
    text: str

    @classmethod
    def of(cls, look: Look) -> "View":
        match = SUBJECT.fullmatch(look.subject)
        assert match, f"a look at a file names its lines: {look.subject}"
        return cls(look.subject, match[1], int(match[2]), int(match[3]), match[4], look.text)

    def rank(self, state: State, spoken: frozenset[str]) -> int:
        """Touched lately first; within a step what was read, then what was changed; then what goal, plan or thought speak of."""
        at = [
            region
            for region in state.regions
            if region.path == self.path and region.start <= self.end and self.start <= region.end
        ]
        newest = max((2 * region.step + (not region.changed) for region in at), default=0)
        return -newest * STEP + (0 if spoken & set(self.title.split(", ")) else UNSPOKEN)


def words(state: State) -> frozenset[str]:
    """Names that goal, plan and the last thought hold."""
    return frozenset(re.findall(r"\w+", spoken(state)))


def spoken(state: State) -> str:
    """What the work is about now, in words: goal, open items of the plan, last thought."""
    thought = state.recent[-1].thought if state.recent else ""
    return "\n".join((state.task.goal, thought, *(item.text for item in state.plan if not item.done)))
