"""A Markdown checklist becomes tasks; whatever stands in it, nothing else does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.config.task_lists.checklist import parse_checklist
from afresh.config.task_lists.listed_task import MAX_GOAL_CHARACTERS
from afresh.errors import BadInput

PLAN = """# Plan

- [ ] build the parser
  It must accept tabs.

  ```
  - [ ] an example, no task
  ```
  - [ ] write the tests
    - a note
  - [x] read the code
    - [ ] ask about tabs
Text ends the list.
  1. [ ] alone
* [X] over
"""
WORDS = st.text("abc def'\"`[]#*", min_size=1, max_size=12).map(str.strip).filter(lambda text: text and text[0].isalpha())
MARKS = st.sampled_from([" ", "x"])


def test_unticked_items_are_tasks_and_wait_for_those_below_them() -> None:
    tasks = {task.goal: task for task in parse_checklist(PLAN, "plan.md")}
    assert list(tasks) == ["build the parser", "write the tests", "ask about tabs", "alone"]
    assert tasks["build the parser"].needs == (tasks["write the tests"].key, tasks["ask about tabs"].key)
    assert tasks["build the parser"].details == "It must accept tabs.\n\n```\n- [ ] an example, no task\n```"
    assert tasks["write the tests"].details == "- a note" and tasks["write the tests"].line == 9
    assert not tasks["alone"].needs and not tasks["alone"].details


def test_a_list_that_was_sorted_ticked_and_commented_has_the_same_keys() -> None:
    before = {task.goal: task.key for task in parse_checklist("- [ ] one\n- [ ] two\n- [ ] two\n  - [ ] two\n", "a")}
    after = parse_checklist("Done:\n- [x] one\n\nOpen:\n* [ ] two\n  because\n- [ ] two\n\n  - [ ] two\n- [ ] one\n", "b")
    assert [task.key for task in after if task.goal == "one"] != [before["one"]], "it is another item beside the ticked one"
    first = parse_checklist("- [ ] two\n- [ ] one\n", "c")
    assert {task.goal: task.key for task in first}["one"] == before["one"]
    assert len({task.key for task in after}) == len(after) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- [ ] fine\n\n- [?] what\n", "list.md:3: [?] is neither [ ] nor [x]"),
        ("- [ ] fine\n- [ ]\n", "list.md:2: the item has no text"),
        (f"\n- [ ] {'x' * (MAX_GOAL_CHARACTERS + 1)}\n", "list.md:2: an item has at most"),
        ("- [ ] a\n" + "  x\n" * 3_000, "list.md:1: the text below the item has more than"),
        ("nothing here", "list.md:1: there is no item"),
        ("- [ ] a\n" * 1_001, "list.md:1001: the list has 1,001 tasks"),
    ],
)
def test_a_bad_line_is_named(text: str, said: str) -> None:
    with pytest.raises(BadInput) as found:
        parse_checklist(text, "list.md")
    assert said in found.value.what and found.value.safe == "nothing was added"


@given(st.lists(st.tuples(st.integers(0, 3), MARKS, WORDS), min_size=1, max_size=12))
def test_every_unticked_item_is_one_task_and_none_waits_for_itself(rows: list[tuple[int, str, str]]) -> None:
    text = "".join(f"{'  ' * depth}- [{mark}] {words}\n" for depth, mark, words in rows)
    tasks = parse_checklist(text, "list.md")
    open_rows = [(number, " ".join(words.split())) for number, (_, mark, words) in enumerate(rows, 1) if mark == " "]
    assert [(task.line, task.goal) for task in tasks] == open_rows
    places = {task.key: place for place, task in enumerate(tasks)}
    assert len(places) == len(tasks), "keys differ"
    assert all(places[need] > places[task.key] for task in tasks for need in task.needs), "what is below comes later: no cycle"
    assert parse_checklist(text.replace("- [", "*   ["), "other.md") == tasks


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_with_a_line(text: str) -> None:
    try:
        tasks = parse_checklist(text, "any")
    except BadInput as fault:
        assert fault.what.startswith("any:")
    else:
        assert all(task.goal and task.goal == " ".join(task.goal.split()) for task in tasks)
