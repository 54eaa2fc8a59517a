"""One chunk of a file in a window, and how much it matters now."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from afresh.domain.fact import Look
from afresh.domain.state import State
from afresh.domain.trace import names

NUMBER = re.compile(r"^[+ ]\s*\d+ ", re.MULTILINE)
CHANGED = re.compile(r"^\+", re.MULTILINE)
SUBJECT = re.compile(r"(.+):(\d+)-(\d+) (.*)", re.DOTALL)
STEP = 1_000
UNSPOKEN = 100
PROTECTED = -(10**9)
BESIDE = -2 * 10**9
ASKED = -(10**10)
CORE = -(10**11)
"""What a step counts for in a rank, what it counts not to be spoken of, and how far ahead stand what is worked on; before that
the tests that are next; before that what the last step has read or written, since a window without it would be asked for it
again; and first the little that the work turns on."""
WORKED_ON = 80
TURNED_ON = 20
TESTED = 48
"""Lines that are kept whatever else was looked at; lines of these that stand even before what was asked for last; and lines of
the tests that are next."""


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
        at = [region for region in state.regions if region.path == self.path and region.meets(self.start, self.end)]
        newest = max((2 * region.step + (not region.changed) for region in at), default=0)
        asked = ASKED if at and max(region.step for region in at) == state.step else 0
        return asked - newest * STEP + (0 if spoken & set(self.title.split(", ")) else UNSPOKEN)

    def read_in(self, step: int, state: State) -> bool:
        at = [region for region in state.regions if region.path == self.path and region.step == step and not region.changed]
        return any(region.meets(self.start, self.end) for region in at)

    @property
    def code(self) -> str:
        """As it stands in the file."""
        return NUMBER.sub("", self.text)


def protected(views: Sequence[View], state: State, failing: Sequence[str]) -> dict[View, int]:
    """What is being worked on, whatever was looked at since, with its place in rank: the definitions that goal, plan or the last
    thought call by name, those touched last first, what the task has changed, and the tests that fail. As many as leave room for
    what was asked for last."""
    if not views:
        return {}
    called = frozenset(name for text in texts(state) for name in names(text))
    named = sorted((view for view in views if called & set(view.title.split(", "))), key=lambda view: view.rank(state, called))
    tests = [view for view in views if any(source in view.code for source in failing)]
    changed = sorted((view for view in views if CHANGED.search(view.text)), key=lambda view: view.rank(state, called))
    kept, left = dict[View, int](), WORKED_ON
    for view in (*named, *tests, *changed):
        if view not in kept and view.end - view.start < left:
            left -= view.end - view.start + 1
            kept[view] = CORE if left >= WORKED_ON - TURNED_ON and view in named else PROTECTED
    return kept


def beside(views: Sequence[View], tests: Collection[str]) -> dict[View, int]:
    """The beginning of the tests that are to be written next: what they import, set up, and look like."""
    kept, left = dict[View, int](), TESTED
    for view in views:
        if view.path in tests and view.end - view.start < left:
            left -= view.end - view.start + 1
            kept[view] = BESIDE
    return kept


def words(state: State) -> frozenset[str]:
    """Names that goal, plan and the last thought hold."""
    return frozenset(re.findall(r"\w+", spoken(state)))


def spoken(state: State) -> str:
    """What the work is about now, in words: goal, open items of the plan, last thought."""
    return "\n".join(texts(state))


def texts(state: State) -> list[str]:
    thought = state.recent[-1].thought if state.recent else ""
    return [state.task.goal, thought, *(item.text for item in state.plan if not item.done)]
