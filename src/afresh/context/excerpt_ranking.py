"""How much an excerpt of a file matters now."""

from collections.abc import Collection, Sequence

from afresh.context.relevance import list_called_names
from afresh.core.context_item import Excerpt
from afresh.core.line_region import Region
from afresh.core.state import State

STEP_RANK = 1_000  # for each step since it was touched
UNMENTIONED_RANK = 8_000
PROTECTED_RANK = -(10**9)  # what is being worked on
NEXT_TESTS_RANK = -2 * 10**9
LAST_TOUCHED_RANK = -(10**10)  # what the last step has read or written: without it the model would ask for it again
LAST_READ_RANK = -25 * 10**9  # besides, for what the last step has read: it is for the next change, and what was edited is done
CORE_RANK = -(10**11)  # the little that the work turns on
MAX_PROTECTED_LINES = 80
MAX_CORE_LINES = 20  # of the protected ones
MAX_NEXT_TEST_LINES = 48
MAX_UNUSED_READ_STEPS = 3
"""Lines that were read so lately are kept before others, as long as their file was not changed since: they are as good as
asked for again."""

MAX_CURRENT_STEPS = 8
"""Once something was changed, what was touched so lately is shown; for older lines that nothing speaks of stands a stub."""

IMPORT_NAMES = ("imports",)
"""Instead of what they define."""


def rank_excerpt(excerpt: Excerpt, state: State, spoken: frozenset[str]) -> int:
    """Touched lately first; within a step what was read, then what was changed; then what goal, plan or thought speak of. What
    was read shortly before and not used yet is kept longer."""
    at = list_touching_regions(excerpt, state)
    newest = max((2 * region.step + (not region.changed) for region in at), default=0)
    last = [region for region in at if region.step == state.work.step]
    asked = LAST_TOUCHED_RANK if last else 0
    asked += LAST_READ_RANK if any(not region.changed for region in last) else 0
    asked = asked or (PROTECTED_RANK // 10 if any(is_unused_read(region, state) for region in at) else 0)
    called = (*excerpt.names, excerpt.path, excerpt.path.rpartition("/")[2])
    return asked - newest * STEP_RANK + (0 if spoken.intersection(called) else UNMENTIONED_RANK)


def list_touching_regions(excerpt: Excerpt, state: State) -> list[Region]:
    """What the task has read or written of it."""
    regions = state.memory.regions
    return [region for region in regions if region.path == excerpt.path and region.meets(excerpt.first, excerpt.last)]


def is_asked_for(excerpt: Excerpt, state: State) -> bool:
    """Read or edited by the last step, or read shortly before for an edit that is still to come. Of long new text the model knows
    what it wrote."""
    at = list_touching_regions(excerpt, state)
    last = [region for region in at if region.step == state.work.step]
    if any(is_unused_read(region, state) for region in at):
        return True
    return any(not region.changed or region.end - region.start < MAX_PROTECTED_LINES for region in last)


def is_current(excerpt: Excerpt, state: State, spoken: frozenset[str]) -> bool:
    """Touched lately, or spoken of; before the first change all that was read."""
    since = state.work.step - MAX_CURRENT_STEPS if state.workspace.changed else 0
    at = list_touching_regions(excerpt, state)
    return bool(spoken.intersection(excerpt.names)) or not at or any(region.step >= since for region in at)


def is_unused_read(region: Region, state: State) -> bool:
    """Read a few steps ago, in a file that was not changed since."""
    if region.changed or not region.step or region.step <= state.work.step - MAX_UNUSED_READ_STEPS:
        return False
    return not any(one.changed and one.path == region.path and one.step > region.step for one in state.memory.regions)


def was_edited_last(excerpt: Excerpt, state: State) -> bool:
    """By the last step that has changed a file."""
    last = max((region.step for region in state.memory.regions if region.changed), default=0)
    return any(region.changed and region.step == last for region in list_touching_regions(excerpt, state))


def select_protected_excerpts(views: Sequence[Excerpt], state: State, failing: Sequence[str]) -> dict[Excerpt, int]:
    """What is being worked on, whatever was looked at since, with its place in rank: the lines that were edited last, the
    definitions that goal, plan or the last thought call by name, those touched last first, what else the task has changed, the
    tests that fail, and the imports of the file in work. As many as leave room for what was asked for last."""
    if not views:
        return {}
    called = list_called_names(state)
    named = sorted(
        (view for view in views if called.intersection(view.names)), key=lambda view: rank_excerpt(view, state, called)
    )
    tests = [view for view in views if any(source in view.code for source in failing)]
    changed = sorted((view for view in views if view.changed), key=lambda view: rank_excerpt(view, state, called))
    edited = [view for view in changed if was_edited_last(view, state)]
    imports = [view for view in views if view.names == IMPORT_NAMES]
    most, kept = MAX_PROTECTED_LINES, dict[Excerpt, int]()
    left = most
    for view in (*edited, *named, *tests, *changed, *imports):
        if view not in kept and view.last - view.first < left:
            left -= view.last - view.first + 1
            core = left >= most - MAX_CORE_LINES and view in named
            kept[view] = CORE_RANK if core else PROTECTED_RANK
    return kept


def select_next_test_excerpts(views: Sequence[Excerpt], tests: Collection[str]) -> dict[Excerpt, int]:
    """The beginning of the tests that are to be written next: what they import, set up, and look like."""
    kept, left = dict[Excerpt, int](), MAX_NEXT_TEST_LINES
    for view in views:
        if view.path in tests and view.last - view.first < left:
            left -= view.last - view.first + 1
            kept[view] = NEXT_TESTS_RANK
    return kept
