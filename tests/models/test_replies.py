import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.action import Action
from afresh.core.codec import make_encodable, to_canonical_json, to_plain_value
from afresh.core.reply import Reply, Thinking
from afresh.core.usage import Usage
from afresh.models.reply_checks import check_reply_length, check_tool_calls, estimate_tokens, reply_from_json
from support.model_contract import SAMPLE_TOOLS, make_sample_request

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
        to_canonical_json(make_encodable(reply_from_json(value))).encode()


@given(replies)
def test_what_is_written_is_what_is_read(reply: Reply) -> None:
    assert reply_from_json(json.loads(json.dumps(to_plain_value(reply)))) == reply


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        (Action("red", {}), "action 1: there is no tool 'red'; there are apply, complete, read"),
        (Action("read", {}), "action 1: read: missing argument path"),
        (Action("read", {"path": "a", "lines": 3}), "action 1: read: unknown argument lines; arguments are path"),
    ],
)
def test_a_call_that_was_not_offered_is_explained(action: Action, problem: str) -> None:
    with pytest.raises(ValueError, match="action 1") as caught:
        check_tool_calls(Reply("", (action,)), SAMPLE_TOOLS)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"tool_calls": []}, "unknown field tool_calls; fields are thought, actions"),
        ({"content": "x"}, "unknown field content; fields are thought"),
        ({"actions": [{"name": "read", "arguments": {}}]}, "actions 1: unknown field name, arguments; fields are tool, args"),
        ({"actions": [{"tool": "read", "args": '{"path": "a"}'}]}, "actions 1: args: should be object"),
        ({"actions": ["read"]}, "actions 1: should be object"),
        ({"thinking": 3}, "thinking: should be string or array"),
        ({"thinking": ["a", {"text": 1}]}, "thinking 2: text: should be string"),
        ({"thinking": [{"text": "a", "sign": "b"}]}, "thinking 1: unknown field sign; fields are text, signature"),
        ({"usage": {"input": 3, "cached": 4}}, "cached and written are parts of input"),
        ({"usage": {"output": 3, "thinking": 4}}, "thinking is a part of output"),
        ({"usage": {"input_tokens": 3}}, "usage: unknown field input_tokens; fields are input"),
        ({"usage": {"input": True}}, "usage: input: should be integer"),
        ({"usage": {"input": 10**30}}, "whole numbers"),
    ],
)
def test_a_field_of_another_kind_is_told_with_what_there_is(value: object, problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        reply_from_json(value)
    assert problem in str(caught.value)


def test_all_that_is_wrong_is_told_a_line_each() -> None:
    with pytest.raises(ValueError) as caught:
        reply_from_json({"thougt": "", "actions": [{"args": {}}, 3], "usage": []})
    assert len(str(caught.value).splitlines()) == 4


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("step by step", (Thinking("step by step"),)),
        (["one", "two"], (Thinking("one"), Thinking("two"))),
        ([{"text": "one", "signature": "s"}, "two"], (Thinking("one", "s"), Thinking("two"))),
        ("", ()),
        ([], ()),
    ],
)
def test_thinking_is_a_text_or_a_list(given: object, kept: tuple[Thinking, ...]) -> None:
    assert reply_from_json({"thinking": given}).thinking == kept


def test_a_reply_over_its_limit_is_refused_with_the_figures() -> None:
    request, words = make_sample_request(reserve=50), "word " * 60
    check_reply_length(Reply("short"), request, estimate_tokens)
    for reply in (Reply(words), Reply("", (Action("read", {"path": words}),)), Reply("", thinking=(Thinking(words),))):
        with pytest.raises(ValueError, match=r"about \d+ tokens.* limit is 50.*Shorten it by about \d+"):
            check_reply_length(reply, request, estimate_tokens)
    with pytest.raises(ValueError, match="tells of 51 tokens of output; the limit of this reply is 50"):
        check_reply_length(Reply("x", usage=Usage(1, 51)), request, estimate_tokens)
