"""Tool use in words: what a model without tools is told, and what is made of its answer."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_template
from afresh.core.action import Action
from afresh.core.prompt import Request, ToolExchange, ToolResult
from afresh.core.reply import Reply
from afresh.core.tokens import EstimatingCounter, render_tool_schemas
from afresh.models.providers.openai_dialects import LLAMACPP, OPENAI, drop_dialect_part
from afresh.models.providers.openai_request import make_chat_body
from afresh.models.providers.text_tool_calls import (
    make_reply_schema,
    render_reply_json,
    render_tool_instructions,
    reply_from_text,
)
from afresh.models.reply_checks import estimate_tokens
from support.model_contract import make_sample_request, make_string_tool

READ = Action("read", {"path": "a.py"})
SPOKEN = drop_dialect_part(LLAMACPP, "tools")
ACTION = '{"tool": "read", "args": {"path": "a.py"}}'
READABLE = {
    "as asked": f'{{"thought": "look", "actions": [{ACTION}]}}',
    "in a fence": f'Sure!\n```json\n{{"thought": "look", "actions": [{ACTION}]}}\n```\nDone.',
    "with words around it": f'I think {{so}}. {{"thought": "look", "actions": [{ACTION}]}} That is all.',
    "one action alone": '{"thought": "look", "tool": "read", "args": {"path": "a.py"}}',
    "one action in place of a list": f'{{"thought": "look", "actions": {ACTION}}}',
    "as OpenAI spells calls": json.dumps(
        {"thought": "look", "tool_calls": [{"function": {"name": "read", "arguments": '{"path": "a.py"}'}}]}
    ),
    "as others do": '{"thought": "look", "name": "read", "parameters": {"path": "a.py"}}',
}
UNREADABLE = {
    "": "no JSON object",
    "I would read a.py.": "no JSON object",
    '{"thought": "look", "actions": [{"tool": "re': "no JSON object",
    '{"answer": 5}': 'neither "actions" nor "tool"',
    '{"actions": ["read a.py"]}': 'an object with "tool"',
    '{"actions": [{"tool": 5}]}': "name of a tool",
    '{"tool": "read", "args": "a.py"}': '"args" of read',
    "[1, 2]": 'an object with "tool"',
    "7": "no JSON object",
}


@pytest.mark.parametrize("how", READABLE)
def test_a_reply_is_read_however_it_is_wrapped(how: str) -> None:
    assert reply_from_text(READABLE[how]) == Reply("look", (READ,))


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_can_not_be_read_is_told_to_the_model_with_the_form_to_use(text: str) -> None:
    reply = reply_from_text(text)
    assert reply.actions == () and UNREADABLE[text] in reply.thought
    assert "not carried out" in reply.thought and '"actions": [{"tool": "NAME"' in reply.thought
    assert len(reply.thought) < 600


KEYS = st.sampled_from(["thought", "actions", "tool", "args", "name", "x"])
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda held: st.lists(held) | st.dictionaries(KEYS, held)
)


@given(st.text() | PLAIN.map(json.dumps))
def test_whatever_a_model_writes_is_read_or_rejected(text: str) -> None:
    reply = reply_from_text(text)
    assert all(action.tool and isinstance(action.args, dict) for action in reply.actions)
    json.dumps([reply.thought, [dict(action.args) for action in reply.actions]]).encode()


@given(st.text(), st.lists(st.tuples(st.text(min_size=1), st.dictionaries(st.text(), st.text() | st.integers()))))
def test_what_it_said_before_is_shown_to_it_in_the_form_that_is_read(
    thought: str, actions: list[tuple[str, dict[str, Any]]]
) -> None:
    reply = Reply(thought, tuple(Action(name, args) for name, args in actions))
    assert reply_from_text(render_reply_json(reply)) == reply


def test_nesting_without_end_is_rejected() -> None:
    assert reply_from_text('{"actions": ' + "[" * 100_000).actions == ()


def test_turns_are_told_in_the_same_form() -> None:
    turn = ToolExchange(Reply("look", (READ,)), (ToolResult("no such file", False),), "Go on.")
    _, _, said, told = make_chat_body(
        "m", Request("s", "m", make_sample_request().tools, 800, turns=(turn,)), SPOKEN, estimate_tokens
    )["messages"]
    assert said == {"role": "assistant", "content": f'{{"thought": "look", "actions": [{ACTION}]}}'}
    assert told == {"role": "user", "content": "read failed:\nno such file\n\nGo on."}


def test_the_form_holds_for_each_tool_its_own_arguments() -> None:
    calls = make_reply_schema(make_sample_request().tools, 800)["properties"]["actions"]["items"]["anyOf"]
    assert [call["properties"]["tool"] for call in calls] == [{"const": name} for name in ("read", "apply", "complete")]
    assert (
        calls[0]["properties"]["args"]["required"] == ["path"] and calls[0]["properties"]["args"]["additionalProperties"] is False
    )


@pytest.mark.parametrize("type", ["fix_bug", "refactor", "code_review"])
def test_the_tools_in_words_take_no_more_than_their_schemas_were_counted_for(type: str) -> None:
    names = load_template(type).at("understand").tools
    schemas = tuple(tool.schema for tool in TOOLS if tool.schema.name in names)
    assert len(schemas) > 5 and EstimatingCounter()(render_tool_instructions(schemas)) <= EstimatingCounter()(
        render_tool_schemas(schemas)
    )


@pytest.mark.parametrize("flavour", [SPOKEN, drop_dialect_part(OPENAI, "tools")])
def test_what_they_take_beyond_that_comes_off_the_reply(flavour: Any) -> None:
    request = Request("system", "message", (make_string_tool("x", ""),), 800)
    body = make_chat_body("m", request, flavour, estimate_tokens)
    limit = body[flavour.limit]
    read = estimate_tokens(json.dumps(body["response_format"]["json_schema"]["schema"])) if flavour.reads_schema else 0
    told = estimate_tokens(body["messages"][0]["content"].removeprefix("system\n\n"))
    assert limit < 800 and told + read + limit <= estimate_tokens(render_tool_schemas(request.tools)) + 800
