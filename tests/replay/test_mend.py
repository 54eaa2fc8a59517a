import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.replay.json_entries import repair_json

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(st.lists(values, max_size=5), st.data())
def test_of_a_cut_list_the_whole_items_are_saved(items: list[Any], data: st.DataObject):
    text = json.dumps(items)
    cut = data.draw(st.integers(1, len(text)))
    saved = repair_json(text[:cut])
    assert saved == items[: len(saved)]
    ended = [len(json.dumps(items[:count])) for count in range(1, len(items) + 1)]
    assert len(saved) >= sum(end <= cut for end in ended)


@given(st.dictionaries(st.text(max_size=4), values, max_size=4), st.data())
def test_of_a_cut_object_the_whole_fields_and_the_items_of_a_list_are_saved(fields: dict[str, Any], data: st.DataObject):
    text = json.dumps(fields)
    saved = repair_json(text[: data.draw(st.integers(1, len(text)))])
    for name, value in saved.items():
        assert value == (fields[name][: len(value)] if isinstance(value, list) else fields[name])


@pytest.mark.parametrize(
    ("text", "saved"),
    [
        ('{"a": 1, "b": [{"c": 1}, {"c": "[1, ', {"a": 1, "b": [{"c": 1}]}),
        ('{"a": {"deep": [1, 2', {}),
        ('{"a": "x \\', {}),
        ('[{"a": "]}"}, {"b": "\\"', [{"a": "]}"}]),
        ("", None),
        ("nonsense", None),
        ("[1 2 3", []),
        ("[1 2, 3", None),
        ("[1], [2", [1]),
        ("[1]]", [1]),
    ],
)
def test_what_is_saved(text: str, saved: object):
    assert repair_json(text) == saved


def test_a_long_string_full_of_escapes_does_not_matter():
    assert repair_json('["' + '\\n\\"' * 2_000_000 + '", {"cut') == ['\n"' * 2_000_000]
