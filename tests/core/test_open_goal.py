"""A plan tells which items of a numbered goal are still open."""

from afresh.core.open_goal import describe_next_item, remove_finished_items
from afresh.core.states.strategy_state import PlanItem

GOAL = "Three things:\n\n1. hidden bars count their position\n2. `confirm` takes a callable\n- NO_COLOR strips colours\n"


def plan(*done: bool) -> tuple[PlanItem, ...]:
    texts = ("hidden bars: position counts", "item 2", "respect NO_COLOR")
    return tuple([PlanItem(text, one) for text, one in zip(texts, done, strict=True)])


def test_what_finished_items_are_about_leaves_the_goal():
    assert remove_finished_items(GOAL, plan(False, False, False)) == GOAL
    left = remove_finished_items(GOAL, plan(True, True, False))
    assert left.startswith("Three things:") and "NO_COLOR" in left and "hidden" not in left and "confirm" not in left
    assert remove_finished_items(GOAL, plan(True, True, True)) == GOAL, "the last look is at all of it"


def test_an_item_that_an_open_one_speaks_of_stays():
    begun = (PlanItem("read how hidden bars count", done=True), PlanItem("count the hidden bars"))
    assert remove_finished_items(GOAL, begun) == GOAL.replace("\n\n1", "\n1").rstrip()
    assert remove_finished_items("Mend it, then tell.", plan(True, False, False)) == "Mend it, then tell."


def test_the_next_item_comes_with_what_the_goal_says_of_it():
    assert describe_next_item(GOAL, plan(True, False, False)) == "item 2\n2. `confirm` takes a callable"
    assert describe_next_item(GOAL, plan(True, True, False)).endswith("NO_COLOR strips colours")
    assert describe_next_item(GOAL, plan(True, True, True)) == ""
