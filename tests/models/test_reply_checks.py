from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.actions.tools.function_tool import find_argument_mistake
from afresh.actions.tools.registry import TOOLS
from afresh.core.argument_check import find_argument_faults
from afresh.core.text import find_similar_word

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
        ({}, "missing argument path"),
        ({"path": "a", "line": 3}, "unknown argument line; arguments are path, lines"),
        ({"path": 3}, "path: should be string"),
        ({"path": None}, "path: should be string"),
        ({"path": "a", "lines": "3"}, "lines: should be integer"),
        ({"path": "a", "lines": True}, "lines: should be integer"),
        ({"path": "a", "lines": 3.5}, "lines: should be integer"),
        ({"path": "a", "items": "x"}, "items: should be array"),
        ({"path": "a", "items": ["x", 2]}, "items 2: should be string"),
        ({"path": "a", "scope": "fil"}, "scope: should be one of file, project"),
        ({"path": "a", "place": {"row": "x"}}, "place: row: should be integer"),
        ({"path": "a", "place": {}}, "place: missing field row"),
        ({"path": "a", "either": 1}, "either: should be string or null"),
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
def test_a_tool_refuses_what_does_not_fit_its_schema(tool: Any, args: dict[str, Any]) -> None:
    wrong = [*find_argument_faults(args, tool.schema.parameters)]
    refused = find_argument_mistake(tool.schema, args)
    assert bool(wrong) == bool(refused and "which no file can hold" not in refused)


def test_a_similar_word_is_found_only_when_one_is_near() -> None:
    assert find_similar_word("Thougt", ["thought", "actions"]) == "thought"
    assert not find_similar_word("xyz", ["thought"])
