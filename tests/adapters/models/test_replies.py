import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.adapters.models.replies import check_tools, reply_from
from afresh.domain.action import Action, Reply
from afresh.domain.codec import dumps, encode
from afresh.testing.models import TOOLS

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5) | st.just("tool"), inner, max_size=4),
    max_leaves=12,
)
text = st.text(st.characters(exclude_categories=["Cs"]))
arguments = st.dictionaries(text, text | st.integers() | st.booleans(), max_size=4)
replies = st.builds(Reply, text, st.lists(st.builds(Action, text.filter(bool), arguments), max_size=4).map(tuple))


@given(plain | st.fixed_dictionaries({}, optional={"thought": plain, "actions": plain, "usage": plain}))
def test_any_json_is_a_reply_or_a_plain_complaint(value: object) -> None:
    with suppress(ValueError):
        dumps(reply_from(value)).encode()


@given(replies)
def test_what_is_written_is_what_is_read(reply: Reply) -> None:
    assert reply_from(json.loads(json.dumps(encode(reply)))) == reply


def test_half_a_surrogate_pair_does_not_reach_the_journal() -> None:
    reply = reply_from(json.loads('{"thought": "a\\ud800b", "actions": [{"tool": "t", "args": {"x": "\\udfff"}}]}'))
    assert reply == Reply("a?b", (Action("t", {"x": "?"}),))


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        (Action("red", {}), "action 1: there is no tool 'red' (did you mean 'read'?); there are apply, complete, read"),
        (Action("read", {}), "action 1: read lacks the argument 'path'; its arguments are path"),
        (Action("read", {"path": "a", "lines": 3}), "action 1: read has no argument 'lines'; its arguments are path"),
    ],
)
def test_a_call_that_was_not_offered_is_explained(action: Action, problem: str) -> None:
    with pytest.raises(ValueError, match="action 1") as caught:
        check_tools(Reply("", (action,)), TOOLS)
    assert str(caught.value) == problem
