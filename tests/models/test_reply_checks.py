from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.actions.tools.function_tool import find_argument_mistake
from afresh.actions.tools.registry import TOOLS
from afresh.models.reply_checks import describe_json_kind, find_argument_faults, suggest_similar_name

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "lines": {"type": "integer"},
        "items": {"type": "array", "items": {"type": "string"}},
        "scope": {"enum": ["file", "project"]},
        "place": {"type": "object", "properties": {"row": {"type": "integer"}}, "required": ["row"]},
        "any": {},
        "either": {"type": ["string", "null"]},
    },
    "required": ["path"],
}
value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({}, "lacks the argument 'path'; its arguments are path, lines"),
        ({"path": "a", "line": 3}, "has no argument 'line' (did you mean 'lines'?); its arguments are"),
        ({"path": 3}, "wants a text as argument 'path', not a whole number"),
        ({"path": None}, "wants a text as argument 'path', not null"),
        ({"path": "a", "lines": "3"}, "wants a whole number as argument 'lines', not a text"),
        ({"path": "a", "lines": True}, "wants a whole number as argument 'lines', not true or false"),
        ({"path": "a", "lines": 3.5}, "wants a whole number as argument 'lines', not a number"),
        ({"path": "a", "items": "x"}, "wants a list as argument 'items', not a text"),
        ({"path": "a", "items": ["x", 2]}, "wants a text as item 2 of argument 'items', not a whole number"),
        ({"path": "a", "scope": "fil"}, "takes as argument 'scope' only 'file', 'project' (did you mean 'file'?)"),
        ({"path": "a", "place": {"row": "x"}}, "wants a whole number as argument 'row', not a text (in argument 'place')"),
        ({"path": "a", "place": {}}, "lacks the argument 'row'"),
        ({"path": "a", "either": 1}, "wants a text or null as argument 'either'"),
    ],
)
def test_what_does_not_fit_is_told_with_what_would(args: dict[str, Any], told: str) -> None:
    (wrong,) = find_argument_faults(args, SCHEMA)
    assert wrong.startswith(told)


def test_what_fits_is_not_complained_about() -> None:
    whole = {"path": "a", "lines": 3, "items": ["x"], "scope": "file", "place": {"row": 1}, "any": [1, {}], "either": None}
    assert not [*find_argument_faults(whole, SCHEMA)] and not [*find_argument_faults({"path": ""}, SCHEMA)]


def test_everything_that_is_wrong_is_told_at_once() -> None:
    assert len([*find_argument_faults({"lines": "3", "where": 1}, SCHEMA)]) == 3


@given(
    st.sampled_from(TOOLS), st.dictionaries(st.sampled_from(["path", "id", "items", "start", "question", "x"]), value, max_size=4)
)
def test_what_passes_here_is_not_refused_by_the_tool_for_its_kind(tool: Any, args: dict[str, Any]) -> None:
    wrong = [*find_argument_faults(args, tool.schema.parameters)]
    refused = find_argument_mistake(tool.schema, args)
    assert bool(wrong) == bool(refused and "which no file can hold" not in refused)


@given(value)
def test_every_value_has_a_kind(held: object) -> None:
    assert describe_json_kind(held)


def test_a_hint_is_given_only_when_something_is_near() -> None:
    assert (
        suggest_similar_name("Thougt", ["thought", "actions"]) == " (did you mean 'thought'?)"
        and suggest_similar_name("xyz", ["thought"]) == ""
    )
