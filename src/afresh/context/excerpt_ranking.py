"""How much an excerpt of a file matters now."""

from collections.abc import Collection, Sequence

from afresh.context.relevance import list_called_names
from afresh.core.context_item import Excerpt
from afresh.core.context_policy import ExcerptPolicy
from afresh.core.line_region import Region
from afresh.core.state import State

IMPORT_NAMES = ("imports",)
"""Instead of what they define."""


def rank_excerpt(excerpt: Excerpt, state: State, spoken: frozenset[str], policy: ExcerptPolicy) -> int:
    """Touched lately first; within a step what was read, then what was changed; then what goal, plan or thought speak of. What
    was read shortly before and not used yet is kept longer."""
    at = list_touching_regions(excerpt, state)
    newest = max((2 * region.step + (not region.changed) for region in at), default=0)
    last = [region for region in at if region.step == state.work.step]
    asked = policy.last_touched_rank if last else 0
    asked += policy.last_read_rank if any(not region.changed for region in last) else 0
    asked = asked or (policy.protected_rank // 10 if any(is_unused_read(region, state, policy) for region in at) else 0)
    return asked - newest * policy.step_rank + (0 if spoken.intersection(excerpt.names) else policy.unmentioned_rank)


def list_touching_regions(excerpt: Excerpt, state: State) -> list[Region]:
    """What the task has read or written of it."""
    regions = state.memory.regions
    return [region for region in regions if region.path == excerpt.path and region.meets(excerpt.first, excerpt.last)]


def is_asked_for(excerpt: Excerpt, state: State, policy: ExcerptPolicy) -> bool:
    """Read or edited by the last step, or read shortly before for an edit that is still to come. Of long new text the model knows
    what it wrote."""
    at = list_touching_regions(excerpt, state)
    last = [region for region in at if region.step == state.work.step]
    if any(is_unused_read(region, state, policy) for region in at):
        return True
    return any(not region.changed or region.end - region.start < policy.max_protected_lines for region in last)


def is_unused_read(region: Region, state: State, policy: ExcerptPolicy) -> bool:
    """Read a few steps ago, in a file that was not changed since."""
    if region.changed or not region.step or region.step <= state.work.step - policy.max_unused_read_steps:
        return False
    return not any(one.changed and one.path == region.path and one.step > region.step for one in state.memory.regions)


def was_edited_last(excerpt: Excerpt, state: State) -> bool:
    """By the last step that has changed a file."""
    last = max((region.step for region in state.memory.regions if region.changed), default=0)
    return any(region.changed and region.step == last for region in list_touching_regions(excerpt, state))


def select_protected_excerpts(
    views: Sequence[Excerpt], state: State, failing: Sequence[str], policy: ExcerptPolicy
) -> dict[Excerpt, int]:
    """What is being worked on, whatever was looked at since, with its place in rank: the lines that were edited last, the
    definitions that goal, plan or the last thought call by name, those touched last first, what else the task has changed, the
    tests that fail, and the imports of the file in work. As many as leave room for what was asked for last."""
    if not views:
        return {}
    called = list_called_names(state)
    named = sorted(
        (view for view in views if called.intersection(view.names)), key=lambda view: rank_excerpt(view, state, called, policy)
    )
    tests = [view for view in views if any(source in view.code for source in failing)]
    changed = sorted((view for view in views if view.changed), key=lambda view: rank_excerpt(view, state, called, policy))
    edited = [view for view in changed if was_edited_last(view, state)] if policy.keeps_last_edit else []
    imports = [view for view in views if view.names == IMPORT_NAMES]
    most, kept = policy.max_protected_lines, dict[Excerpt, int]()
    left = most
    for view in (*edited, *named, *tests, *changed, *imports):
        if view not in kept and view.last - view.first < left:
            left -= view.last - view.first + 1
            core = left >= most - policy.max_core_lines and view in named
            kept[view] = policy.core_rank if core else policy.protected_rank
    return kept


def select_next_test_excerpts(views: Sequence[Excerpt], tests: Collection[str], policy: ExcerptPolicy) -> dict[Excerpt, int]:
    """The beginning of the tests that are to be written next: what they import, set up, and look like."""
    kept, left = dict[Excerpt, int](), policy.max_next_test_lines
    for view in views:
        if view.path in tests and view.last - view.first < left:
            left -= view.last - view.first + 1
            kept[view] = policy.next_tests_rank
    return kept
