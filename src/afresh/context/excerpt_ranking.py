"""One chunk of a file in a window, and how much it matters now."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from afresh.context.relevance import list_goal_and_plan_texts
from afresh.core.item import Item
from afresh.core.state import State
from afresh.memory.history.names import find_names

LINE_NUMBER_PREFIX = re.compile(r"^[+ ]\s*\d+ ", re.MULTILINE)
CHANGED_LINE = re.compile(r"^\+", re.MULTILINE)
FILE_EXCERPT_SUBJECT = re.compile(r"(.+):(\d+)-(\d+) (.*)", re.DOTALL)
STEP_RANK = 1_000
UNMENTIONED_RANK = 100
PROTECTED_RANK = -(10**9)
NEXT_TESTS_RANK = -2 * 10**9
LAST_TOUCHED_RANK = -(10**10)
CORE_RANK = -(10**11)
"""What a step counts for in a rank, what it counts not to be spoken of, and how far ahead stand what is worked on; before that
the tests that are next; before that what the last step has read or written, since a window without it would be asked for it
again; and first the little that the work turns on."""
MAX_PROTECTED_LINES = 80
MAX_CORE_LINES = 20
MAX_NEXT_TEST_LINES = 48
"""Lines that are kept whatever else was looked at; lines of these that stand even before what was asked for last; and lines of
the tests that are next."""


@dataclass(frozen=True, slots=True)
class FileExcerpt:
    subject: str
    path: str
    start: int
    end: int
    title: str
    text: str

    @classmethod
    def of(cls, look: Item) -> "FileExcerpt":
        match = FILE_EXCERPT_SUBJECT.fullmatch(look.subject)
        assert match, f"a look at a file names its lines: {look.subject}"
        return cls(look.subject, match[1], int(match[2]), int(match[3]), match[4], look.text)

    def rank(self, state: State, spoken: frozenset[str]) -> int:
        """Touched lately first; within a step what was read, then what was changed; then what goal, plan or thought speak of."""
        at = [region for region in state.memory.regions if region.path == self.path and region.meets(self.start, self.end)]
        newest = max((2 * region.step + (not region.changed) for region in at), default=0)
        asked = LAST_TOUCHED_RANK if at and max(region.step for region in at) == state.work.step else 0
        return asked - newest * STEP_RANK + (0 if spoken & set(self.title.split(", ")) else UNMENTIONED_RANK)

    def read_in(self, step: int, state: State) -> bool:
        at = [
            region for region in state.memory.regions if region.path == self.path and region.step == step and not region.changed
        ]
        return any(region.meets(self.start, self.end) for region in at)

    @property
    def code(self) -> str:
        """As it stands in the file."""
        return LINE_NUMBER_PREFIX.sub("", self.text)


def select_protected_excerpts(views: Sequence[FileExcerpt], state: State, failing: Sequence[str]) -> dict[FileExcerpt, int]:
    """What is being worked on, whatever was looked at since, with its place in rank: the definitions that goal, plan or the last
    thought call by name, those touched last first, what the task has changed, and the tests that fail. As many as leave room for
    what was asked for last."""
    if not views:
        return {}
    called = frozenset(name for text in list_goal_and_plan_texts(state) for name in find_names(text))
    named = sorted((view for view in views if called & set(view.title.split(", "))), key=lambda view: view.rank(state, called))
    tests = [view for view in views if any(source in view.code for source in failing)]
    changed = sorted((view for view in views if CHANGED_LINE.search(view.text)), key=lambda view: view.rank(state, called))
    kept, left = dict[FileExcerpt, int](), MAX_PROTECTED_LINES
    for view in (*named, *tests, *changed):
        if view not in kept and view.end - view.start < left:
            left -= view.end - view.start + 1
            kept[view] = CORE_RANK if left >= MAX_PROTECTED_LINES - MAX_CORE_LINES and view in named else PROTECTED_RANK
    return kept


def select_next_test_excerpts(views: Sequence[FileExcerpt], tests: Collection[str]) -> dict[FileExcerpt, int]:
    """The beginning of the tests that are to be written next: what they import, set up, and look like."""
    kept, left = dict[FileExcerpt, int](), MAX_NEXT_TEST_LINES
    for view in views:
        if view.path in tests and view.end - view.start < left:
            left -= view.end - view.start + 1
            kept[view] = NEXT_TESTS_RANK
    return kept
