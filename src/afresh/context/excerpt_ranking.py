"""How much an excerpt of a file matters now."""

from collections.abc import Collection, Sequence

from afresh.context.relevance import list_goal_and_plan_texts
from afresh.core.context_item import Excerpt
from afresh.core.line_region import Region
from afresh.core.state import State
from afresh.memory.history.names import find_names

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


def rank_excerpt(excerpt: Excerpt, state: State, spoken: frozenset[str]) -> int:
    """Touched lately first; within a step what was read, then what was changed; then what goal, plan or thought speak of."""
    at = list_touching_regions(excerpt, state)
    newest = max((2 * region.step + (not region.changed) for region in at), default=0)
    asked = LAST_TOUCHED_RANK if at and max(region.step for region in at) == state.work.step else 0
    return asked - newest * STEP_RANK + (0 if spoken.intersection(excerpt.names) else UNMENTIONED_RANK)


def list_touching_regions(excerpt: Excerpt, state: State) -> list[Region]:
    """What the task has read or written of it."""
    regions = state.memory.regions
    return [region for region in regions if region.path == excerpt.path and region.meets(excerpt.first, excerpt.last)]


def was_read_last(excerpt: Excerpt, state: State) -> bool:
    """By the last step."""
    return any(region.step == state.work.step and not region.changed for region in list_touching_regions(excerpt, state))


def select_protected_excerpts(views: Sequence[Excerpt], state: State, failing: Sequence[str]) -> dict[Excerpt, int]:
    """What is being worked on, whatever was looked at since, with its place in rank: the definitions that goal, plan or the last
    thought call by name, those touched last first, what the task has changed, and the tests that fail. As many as leave room for
    what was asked for last."""
    if not views:
        return {}
    called = frozenset(name for text in list_goal_and_plan_texts(state) for name in find_names(text))
    named = sorted(
        (view for view in views if called.intersection(view.names)), key=lambda view: rank_excerpt(view, state, called)
    )
    tests = [view for view in views if any(source in view.code for source in failing)]
    changed = sorted((view for view in views if view.changed), key=lambda view: rank_excerpt(view, state, called))
    kept, left = dict[Excerpt, int](), MAX_PROTECTED_LINES
    for view in (*named, *tests, *changed):
        if view not in kept and view.last - view.first < left:
            left -= view.last - view.first + 1
            kept[view] = CORE_RANK if left >= MAX_PROTECTED_LINES - MAX_CORE_LINES and view in named else PROTECTED_RANK
    return kept


def select_next_test_excerpts(views: Sequence[Excerpt], tests: Collection[str]) -> dict[Excerpt, int]:
    """The beginning of the tests that are to be written next: what they import, set up, and look like."""
    kept, left = dict[Excerpt, int](), MAX_NEXT_TEST_LINES
    for view in views:
        if view.path in tests and view.last - view.first < left:
            left -= view.last - view.first + 1
            kept[view] = NEXT_TESTS_RANK
    return kept
