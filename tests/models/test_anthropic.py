"""What is sent to Claude and what is made of its streams, through the real SDK over real HTTP."""

from dataclasses import replace
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.action import Action
from afresh.core.codec import to_canonical_json
from afresh.core.prompt import Request, ToolExchange, ToolResult
from afresh.core.reply import Reply, Thinking
from afresh.core.usage import Usage
from afresh.models.choose_model import find_framing_tokens, make_model
from afresh.models.model_settings import ModelSettings, NamedModel
from afresh.models.providers.anthropic_messages import AnthropicModel
from afresh.models.providers.anthropic_request import (
    CACHE_MARK,
    CLAUDE_FAMILIES,
    ThinkingMode,
    count_claude_framing,
    find_claude_family,
    make_anthropic_body,
    make_thinking_fields,
    spread_cache_breaks,
)
from afresh.models.providers.connection import ProviderConnection
from afresh.models.reply_checks import estimate_tokens
from support.model_contract import SAMPLE_TOOLS, make_sample_request
from support.model_server import ModelServer
from support.provider_faults import HttpFault, ScriptStep
from support.wire_formats import ScriptedTurn

KEY = "sk-ant-test-0123456789"
READ = Action("read", {"path": "a.py"})
THOUGHT = Thinking("first the header", "c2lnbmF0dXJl")
HIDDEN = Thinking("ZW5jcnlwdGVk", redacted=True)
BUDGET, ADAPTIVE, BOUND = "claude-haiku-4-5", "claude-opus-4-6", "claude-opus-5-5"
Answered = tuple[Reply, ModelServer, list[str]]


def ask(*script: ScriptStep, request: Request | None = None, model: str = BUDGET, **options: Any) -> Answered:
    heard: list[str] = []
    with ModelServer(script) as server:
        asked = AnthropicModel(model, ProviderConnection(key=KEY, base_url=server.anthropic_url, **options))
        return asked.propose(request or make_sample_request(), heard.append), server, heard


def adaptive(effort: str) -> Any:
    return {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": effort}}


def turned(*turns: ToolExchange, thinking: int = 0, reserve: int = 4_000) -> Request:
    return Request("system", "message", SAMPLE_TOOLS, reserve, thinking=thinking, turns=turns)


def said(model: str = BUDGET, *thoughts: Thinking) -> ToolExchange:
    return ToolExchange(Reply("look", (READ,), model=f"anthropic:{model}", thinking=thoughts), (ToolResult("x = 1"),))


def test_thinking_is_kept_with_its_signature_and_is_not_the_thought() -> None:
    reply, _, _ = ask(Reply("", (READ,), Usage(10, 9, thinking=7), thinking=(THOUGHT, HIDDEN)))
    assert reply.thinking == (THOUGHT, HIDDEN) and reply.thought == ""
    assert reply.usage == Usage(10, 9, thinking=7)


def test_what_was_written_to_the_cache_is_part_of_the_input() -> None:
    reply, _, _ = ask(Reply("x", usage=Usage(100, 5, cached=60, written=30)))
    assert reply.usage == Usage(100, 5, cached=60, written=30) and reply.counted


@pytest.mark.parametrize("arguments", ['{"path": "a.p', "[1]", '"text"', "[" * 10_000])
def test_a_tools_input_that_is_no_json_object_is_shown_to_the_model(arguments: str) -> None:
    (action,) = ask(ScriptedTurn(Reply("", (READ,)), arguments=arguments))[0].actions
    assert action.args == {"_invalid": f"the arguments are not a JSON object: {arguments[:200]}"}


def test_turns_are_sent_as_tool_use_and_tool_results() -> None:
    reply = Reply("look", (READ, Action("no_such_tool")), model=f"anthropic:{BUDGET}-20251001", thinking=(THOUGHT, HIDDEN))
    turn = ToolExchange(reply, (ToolResult("x = 1"), ToolResult("there is no such tool", ok=False)), "Two steps are left.")
    _, server, _ = ask(Reply("x"), request=turned(turn, thinking=2_000))
    first, assistant, user = server.received[0].body["messages"]
    assert first == {"role": "user", "content": [{"type": "text", "text": "message"}]}
    assert assistant == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": THOUGHT.text, "signature": THOUGHT.signature},
            {"type": "redacted_thinking", "data": HIDDEN.text},
            {"type": "text", "text": "look"},
            {"type": "tool_use", "id": "toolu_1_1", "name": "read", "input": {"path": "a.py"}},
            {"type": "tool_use", "id": "toolu_1_2", "name": "no_such_tool", "input": {}},
        ],
    }
    assert user == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1_1", "content": "x = 1"},
            {"type": "tool_result", "tool_use_id": "toolu_1_2", "content": "there is no such tool", "is_error": True},
            {"type": "text", "text": "Two steps are left."} | CACHE_MARK,
        ],
    }


def test_every_call_of_a_turn_has_a_result_and_no_block_is_blank() -> None:
    turn = ToolExchange(Reply(" ", (READ, READ)), (ToolResult("\n"),), " ")
    _, assistant, user = make_anthropic_body(BUDGET, turned(turn))["messages"]
    assert [block["type"] for block in assistant["content"]] == ["tool_use", "tool_use"]
    assert user["content"] == [
        {"type": "tool_result", "tool_use_id": "toolu_1_1"},
        {"type": "tool_result", "tool_use_id": "toolu_1_2", "content": "not carried out", "is_error": True} | CACHE_MARK,
    ]


def test_a_turn_in_which_nothing_was_said_goes_into_the_message_before_it() -> None:
    (only,) = make_anthropic_body(BUDGET, turned(ToolExchange(Reply(), (), "That was empty.")))["messages"]
    assert [block["text"] for block in only["content"]] == ["message", "That was empty."]


def kinds(model: str, turn: ToolExchange, budget: int = 2_000) -> list[str]:
    return [block["type"] for block in make_anthropic_body(model, turned(turn, thinking=budget))["messages"][1]["content"]]


@pytest.mark.parametrize("model", [BUDGET, ADAPTIVE])
def test_thinking_is_sent_back_to_the_model_that_thought_it(model: str) -> None:
    assert kinds(model, said(model, THOUGHT)) == ["thinking", "text", "tool_use"]
    assert kinds(model, said("claude-sonnet-4-5", THOUGHT)) == ["text", "tool_use"]
    assert kinds(model, said(model, Thinking("unsigned"))) == ["text", "tool_use"]
    assert kinds(model, said(model, THOUGHT), budget=0) == ["text", "tool_use"]


def test_thinking_that_is_bound_to_its_conversation_is_not_sent_back() -> None:
    """A window is built new for each call, so what stands before it has changed; the API refuses such a block."""
    assert kinds(BOUND, said(BOUND, THOUGHT)) == ["text", "tool_use"]


def test_thinking_with_a_budget_does_not_begin_in_the_middle_of_tool_use() -> None:
    assert "thinking" not in make_anthropic_body(BUDGET, turned(said(BUDGET), thinking=2_000))
    assert "thinking" in make_anthropic_body(BUDGET, turned(said(BUDGET, THOUGHT), thinking=2_000))
    assert "thinking" in make_anthropic_body(ADAPTIVE, turned(said(ADAPTIVE), thinking=2_000))


@pytest.mark.parametrize(
    ("model", "budget", "reserve", "asked"),
    [
        (BUDGET, 0, 4_000, {}),
        (BUDGET, 2_000, 4_000, {"thinking": {"type": "enabled", "budget_tokens": 2_000}}),
        (BUDGET, 500, 4_000, {"thinking": {"type": "enabled", "budget_tokens": 1_024}}),
        (BUDGET, 4_000, 3_000, {"thinking": {"type": "enabled", "budget_tokens": 2_744}}),
        (BUDGET, 900, 1_000, {}),
        ("claude-3-5-sonnet-20241022", 2_000, 4_000, {}),
        (ADAPTIVE, 0, 4_000, {}),
        (ADAPTIVE, 2_000, 4_000, adaptive("low")),
        (
            BOUND,
            9_000,
            12_000,
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "medium"}},
        ),
        (BOUND, 30_000, 40_000, adaptive("high")),
        (BOUND, 0, 4_000, {"output_config": {"effort": "low"}}),
        ("claude-opus-5", 0, 4_000, {"thinking": {"type": "disabled"}}),
        ("anthropic/claude-sonnet-5.5", 0, 4_000, {"thinking": {"type": "between_tools"}}),
        ("claude-fable-5-1", 0, 4_000, {"output_config": {"effort": "low"}}),
        ("my-own-proxy", 0, 4_000, {}),
    ],
)
def test_each_family_is_told_to_think_or_not_in_its_own_way(model: str, budget: int, reserve: int, asked: Any) -> None:
    assert make_thinking_fields(model, budget, reserve) == asked
    _, server, _ = ask(Reply("x"), request=turned(thinking=budget, reserve=reserve), model=model)
    sent = server.received[0].body
    assert {key: sent[key] for key in ("thinking", "output_config") if key in sent} == asked and sent["max_tokens"] == reserve


@given(st.sampled_from(sorted(CLAUDE_FAMILIES)), st.integers(0, 70_000), st.integers(1, 70_000))
def test_a_budget_is_one_that_the_api_takes(model: str, budget: int, reserve: int) -> None:
    told = make_thinking_fields(model, budget, reserve).get("thinking", {})
    if "budget_tokens" in told:
        assert find_claude_family(model).thinks is ThinkingMode.BUDGET and 1_024 <= told["budget_tokens"] < reserve


def test_the_message_may_be_cached_up_to_each_break() -> None:
    request = Request("system", "stable, less stable, new", SAMPLE_TOOLS, 800, breaks=(6, 19))
    _, server, _ = ask(Reply("x"), request=request)
    mark = {"cache_control": {"type": "ephemeral"}}
    assert server.received[0].body["messages"][0]["content"] == [
        {"type": "text", "text": "stable", **mark},
        {"type": "text", "text": ", less stable", **mark},
        {"type": "text", "text": ", new"},
    ]


@given(st.lists(st.sampled_from(["a", "bc d", " ", "\n\n"]), min_size=1, max_size=12), st.booleans(), st.booleans())
def test_breaks_change_no_letter_of_the_message(parts: list[str], system: bool, tools: bool) -> None:
    places = tuple(accumulate(map(len, parts)))
    request = Request("s" if system else "", f"{''.join(parts)}end", SAMPLE_TOOLS if tools else (), 800, breaks=places)
    for asked in (request, replace(request, breaks=(*places, places[-1] + 3, places[-1] + 99))):
        sent = make_anthropic_body(BUDGET, asked)
        blocks = sent["messages"][0]["content"]
        assert "".join(block["text"] for block in blocks) == request.message
        assert all(block["text"].strip() for block in blocks)
        assert str(sent).count("cache_control") <= 4


@given(st.lists(st.integers(), unique=True).map(sorted), st.integers(2, 4))
def test_of_many_breaks_the_first_and_the_last_are_kept(breaks: list[int], most: int) -> None:
    kept = spread_cache_breaks(breaks, most)
    assert list(kept) == sorted(set(kept)) and len(kept) == min(most, len(breaks))
    assert not breaks or (kept[0], kept[-1]) == (breaks[0], breaks[-1])


def test_the_provider_counts_what_would_be_sent() -> None:
    request = turned(said(BUDGET, THOUGHT), thinking=2_000)
    with ModelServer([Reply("x")], count=lambda sent: 4_321) as server:
        model = AnthropicModel(BUDGET, ProviderConnection(key=KEY, base_url=server.anthropic_url))
        assert model.weigh(request) == 4_321
        model.propose(request)
    (counted,), (asked,) = server.asides, server.received
    assert counted.path == "/v1/messages/count_tokens"
    assert counted.body == {key: value for key, value in asked.body.items() if key not in ("max_tokens", "stream")}


def test_a_count_that_can_not_be_had_is_none() -> None:
    with ModelServer([], aside=HttpFault(500)) as server:
        model = AnthropicModel(BUDGET, ProviderConnection(key=KEY, base_url=server.anthropic_url))
        assert model.weigh(make_sample_request()) == 0 and len(server.asides) == 1
    assert model.weigh(make_sample_request()) == 0, "nobody is there any more"


SPOKEN = '{"thought": "look", "actions": [{"tool": "read", "args": {"path": "a.py"}}]}'


def without_tools(*script: ScriptStep, request: Request | None = None) -> tuple[Reply, dict[str, Any]]:
    """What a model that the user says to have no tools makes of it, and what was sent."""
    with ModelServer(script) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", KEY)
        named = NamedModel(
            provider="anthropic", model=BUDGET, base_url=server.anthropic_url, key="ANTHROPIC_API_KEY", tools=False
        )
        reply = make_model("mine", 0, ModelSettings(named={"mine": named})).propose(request or make_sample_request())
        return reply, server.received[-1].body


def test_without_tools_they_are_told_in_words_and_actions_are_read_from_the_text() -> None:
    reply, sent = without_tools(Reply(SPOKEN, usage=Usage(50, 9)))
    assert (reply.thought, reply.actions, reply.usage) == ("look", (READ,), Usage(50, 9))
    assert "tools" not in sent and "Read a file." in sent["system"][0]["text"] and '"actions"' in sent["system"][0]["text"]


def test_without_tools_earlier_turns_are_plain_text_and_never_calls() -> None:
    _, sent = without_tools(Reply(SPOKEN), request=turned(said(BUDGET, THOUGHT), thinking=2_000))
    _, assistant, user = sent["messages"]
    assert assistant["content"] == [{"type": "text", "text": SPOKEN}]
    assert user["content"] == [{"type": "text", "text": "read gave:\nx = 1"} | CACHE_MARK]
    assert sent["thinking"] == {"type": "enabled", "budget_tokens": 2_000}, "nothing keeps it from thinking: no call is open"


def test_what_telling_the_tools_takes_comes_off_the_reply() -> None:
    wide = make_sample_request()
    _, sent = without_tools(Reply(SPOKEN), request=wide)
    told = sent["system"][0]["text"].removeprefix(wide.system)
    assert estimate_tokens(told) + sent["max_tokens"] <= estimate_tokens(to_canonical_json(wide.tools)) + wide.reserve + 2


@pytest.mark.parametrize(
    "odd", [ScriptedTurn(Reply(SPOKEN), cut=True), ScriptedTurn(Reply(SPOKEN), changes={"stop_reason": "refusal"})]
)
def test_without_tools_nothing_is_read_from_what_was_cut_or_declined(odd: ScriptedTurn) -> None:
    reply, _ = without_tools(odd)
    assert reply.actions == () and reply.thought.startswith(SPOKEN)


def test_without_tools_what_can_t_be_read_is_told_to_the_model() -> None:
    reply, _ = without_tools(Reply("I shall read a.py first."))
    assert reply.actions == () and "Your reply was not carried out: there is no JSON object in it" in reply.thought
    assert (find_framing_tokens("anthropic:claude-haiku-4-5"), count_claude_framing(BUDGET, tools=False)) == (14 + 346, 14)
