"""A list of tasks in JSON: what it may say, and what is refused with its line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.config.task_lists.listed_task import parse_due
from afresh.config.task_lists.task_file import parse_task_file
from afresh.errors import BadInput

NOW = 1_000_000.0
NAMES = st.text("abcdef", min_size=1, max_size=4)
ROWS = st.lists(
    st.fixed_dictionaries(
        {"name": NAMES, "goal": st.text(min_size=1, max_size=30).filter(str.strip)},
        optional={
            "details": st.text(max_size=40),
            "priority": st.integers(-999_999, 999_999),
            "labels": st.lists(st.from_regex(r"\A[a-z][a-z0-9.-]{0,8}\Z"), max_size=4),
            "due": st.sampled_from(["3d", "2026-12-31", "2026-12-31T18:00"]),
        },
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda row: row["name"],
)

ATOMS = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
ANY_JSON = st.recursive(ATOMS, lambda more: st.lists(more) | st.dictionaries(st.text(max_size=8), more))


def test_all_fields_are_read_and_needs_are_local_names() -> None:
    rows = [
        {"name": "api", "goal": "add the endpoint", "checks": ["make test"], "type": "fix_bug", "labels": ["a", "b", "a"]},
        {"goal": "document it", "needs": ["api", "api"], "priority": -2, "due": "2d", "project": "docs", "details": " why\n"},
    ]
    first, second = parse_task_file(json.dumps({"tasks": rows}, indent=1), "tasks.json", NOW, own=True)
    assert (first.name, first.checks, first.type, first.labels) == ("api", ("make test",), "fix_bug", ("a", "b"))
    assert (second.needs, second.priority, second.due, second.project) == ((first.key,), -2, NOW + 172_800, "docs")
    assert second.details == "why" and (first.line, second.line) == (3, 16)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[\n {"goal": "a"},\n {"goal": "b", "chekcs": []}]', "t.json:3: 'chekcs' is no field of a task"),
        ('[{"goal": "a"},\n {"goal": "b"\n "x": 1}]', "t.json:3: not valid JSON"),
        ('[{"goal": "a"},\n {"goal": "a"}]', "t.json:2: the goal is also that of the task in line 1"),
        ('[{"goal": "a", "name": "n"},\n {"goal": "b", "name": "n"}]', "t.json:2: the name 'n' is also"),
        ('[{"goal": "a", "needs": ["b"]}]', "needs 'b', but no task of the file has this name"),
        ('[{"goal": "a", "needs": "b"}]', "needs: must be a list of texts"),
        ('[\n{"goal": "a",\n "priority": true}]', "t.json:2: priority: must be a whole number"),
        ('[{"goal": "a", "due": "soon"}]', "due: 'soon' is no due time"),
        ('[{"goal": "a", "labels": ["two words"]}]', "labels: 'two words' can't be a label"),
        ('[{"goal": "  "}]', "the task has no goal"),
        ('[{"goal": 3}]', "goal: must be a text"),
        ('[{"goal": "a", "checks": ["rm -rf /"]}]', "it sets 'checks', which is taken only from your own file: pass --own"),
        ('[{"goal": "a", "type": "write_tests"}]', "it sets 'type'"),
        ("[1]", "task 1 is not an object"),
        ('{"tasks": [], "more": 1}', "'more' is no field of a list"),
        ("{}", "there are no tasks"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_a_bad_file_is_refused_with_the_line(text: str, said: str) -> None:
    with pytest.raises(BadInput) as found:
        parse_task_file(text, "t.json", NOW)
    assert said in found.value.what and found.value.safe == "nothing was added"


@given(ROWS, st.booleans())
def test_what_is_written_is_read_and_the_same_file_gives_the_same_keys(rows: list[dict], whole: bool) -> None:
    text = json.dumps({"tasks": rows} if whole else rows, indent=2)
    tasks = parse_task_file(text, "t.json", NOW)
    assert [(task.name, task.goal, task.priority) for task in tasks] == [
        (row["name"], row["goal"].strip(), row.get("priority", 0)) for row in rows
    ]
    shuffled = parse_task_file(json.dumps(rows[::-1]), "t.json", NOW)
    assert {task.key for task in shuffled} == {task.key for task in tasks}
    assert all(text.split("\n")[task.line - 1].strip() == "{" for task in tasks)


@given(ANY_JSON)
def test_any_json_is_read_or_refused_with_a_line(value: object) -> None:
    try:
        parse_task_file(json.dumps(value), "any", NOW)
    except BadInput as fault:
        assert fault.what.startswith("any:")


def test_a_date_is_due_at_the_end_of_the_day() -> None:
    assert parse_due("2026-12-31", NOW) - parse_due("2026-12-31T00:00", NOW) == 86_399


def test_half_a_character_in_a_goal_is_replaced() -> None:
    (task,) = parse_task_file('[{"goal": "write \\ud800 down"}]', "any", NOW)
    assert task.goal.encode() and task.goal.startswith("write ") and task.goal.endswith(" down")
