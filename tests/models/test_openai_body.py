"""What is sent to servers that speak like OpenAI, seen from their side."""

from typing import Any

import pytest

from afresh.core.action import Action
from afresh.core.prompt import Request, ToolExchange, ToolResult
from afresh.core.reply import Reply, Thinking
from afresh.core.usage import Usage
from afresh.models.providers.connection import ProviderConnection
from afresh.models.providers.openai_chat import OpenAIModel
from afresh.models.providers.openai_dialects import (
    OLLAMA,
    OPENAI,
    OPENROUTER,
    PLAIN_SERVER,
    VLLM,
    OpenAIDialect,
    dialect_at_address,
)
from support.model_contract import SAMPLE_TOOLS, make_sample_request
from support.model_server import ModelServer
from support.wire_formats import ScriptedTurn

READ = Action("read", {"path": "a.py"})
PLAIN_REPLY = Reply("look", (READ,), Usage(120, 30, 80))


def sent(request: Request, flavour: OpenAIDialect = PLAIN_SERVER, model: str = "some-model") -> dict[str, Any]:
    with ModelServer([PLAIN_REPLY]) as server:
        OpenAIModel(model, ProviderConnection(key="", base_url=server.openai_url), flavour).propose(request)
    return dict(server.received[0].body)


def turned(*turns: ToolExchange, **more: Any) -> Request:
    return Request("system", "message", SAMPLE_TOOLS, 800, turns=turns, **more)


def test_a_plain_request_is_sent_as_it_is() -> None:
    request = make_sample_request()
    functions = [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in request.tools]
    assert sent(request) == {
        "model": "some-model",
        "max_tokens": 800,
        "messages": [{"role": "system", "content": request.system}, {"role": "user", "content": request.message}],
        "tools": [{"type": "function", "function": function} for function in functions],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_turns_become_calls_and_their_results() -> None:
    said = Reply("look", (READ, Action("complete", {"summary": "s"})))
    body = sent(
        turned(
            ToolExchange(said, (ToolResult("text of a"), ToolResult("refused", False)), "Go on."),
            ToolExchange(Reply("hm"), (), "Well?"),
        )
    )
    assistant, first, second, user, hm, well = body["messages"][2:]
    assert assistant["content"] == "look" and [call["function"]["name"] for call in assistant["tool_calls"]] == [
        "read",
        "complete",
    ]
    assert assistant["tool_calls"][0]["function"]["arguments"] == '{"path": "a.py"}'
    assert [one["tool_call_id"] for one in (first, second)] == [call["id"] for call in assistant["tool_calls"]]
    assert (first["content"], second["content"], user) == ("text of a", "refused", {"role": "user", "content": "Go on."})
    assert (hm, well["content"]) == ({"role": "assistant", "content": "hm"}, "Well?")
    assert all(len(call["id"]) == 9 and call["id"].isalnum() for call in assistant["tool_calls"])


def test_thinking_goes_back_only_where_it_is_asked_for_and_came_from() -> None:
    kept = Thinking("because", '{"id": "r1", "signature": "sig", "type": "reasoning.text"}')
    hidden = Thinking('{"data": "x9", "type": "reasoning.encrypted"}', redacted=True)
    said = Reply("look", (READ,), model="openrouter:anthropic/claude", thinking=(kept, hidden))
    turn = ToolExchange(said, (ToolResult("a"),))
    details = sent(turned(turn), OPENROUTER)["messages"][2]["reasoning_details"]
    assert details == [
        {"id": "r1", "signature": "sig", "text": "because", "type": "reasoning.text"},
        {"data": "x9", "type": "reasoning.encrypted"},
    ]
    elsewhere = ToolExchange(
        Reply("look", (READ,), model="anthropic:claude", thinking=(Thinking("because", "sig"),)), (ToolResult("a"),)
    )
    assert "reasoning_details" not in sent(turned(elsewhere), OPENROUTER)["messages"][2]
    assert set(sent(turned(turn), PLAIN_SERVER)["messages"][2]) == {"role", "content", "tool_calls"}


def test_deepseek_gets_its_reasoning_back() -> None:
    deepseek = dialect_at_address("https://api.deepseek.com/v1")
    said = ToolExchange(Reply("", (READ,), model="openai:deepseek-chat", thinking=(Thinking("because"),)), (ToolResult("a"),))
    assert sent(turned(said), deepseek)["messages"][2]["reasoning_content"] == "because"


def test_details_of_reasoning_are_put_together_and_can_be_sent_back_as_they_were() -> None:
    pieces = [
        {"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "be"}]},
        {"reasoning": "be", "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "cause", "signature": "sig"}]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "x9"}]},
        {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "read", "arguments": "{}"}}]},
    ]
    script = [ScriptedTurn(PLAIN_REPLY, changes={"deltas": pieces}), PLAIN_REPLY]
    with ModelServer(script) as server:
        model = OpenAIModel("anthropic/claude", ProviderConnection(key="", base_url=server.openai_url), OPENROUTER)
        reply = model.propose(make_sample_request())
        model.propose(turned(ToolExchange(reply, (ToolResult("a"),))))
    first, second = reply.thinking
    assert (first.text, first.redacted, second.redacted) == ("because", False, True)
    assert server.received[1].body["messages"][2]["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "text": "because", "signature": "sig"},
        {"type": "reasoning.encrypted", "index": 1, "data": "x9"},
    ]


@pytest.mark.parametrize(
    ("model", "thinking", "word"),
    [
        ("gpt-5-mini", 0, "minimal"), ("gpt-5.1", 0, "none"), ("o3", 0, "low"), ("gpt-4.1", 0, None),
        ("gpt-5", 1_500, "low"), ("gpt-5", 6_000, "medium"), ("gpt-5", 20_000, "high"),
    ],
)  # fmt: skip
def test_openai_is_told_in_a_word_how_much_to_think(model: str, thinking: int, word: str | None) -> None:
    body = sent(Request("", "hi", (), 30_000, thinking=thinking), OPENAI_HERE, model)
    assert body.get("reasoning_effort") == word and body["max_completion_tokens"] == 30_000 and "max_tokens" not in body


OPENAI_HERE = dialect_at_address("https://api.openai.com/v1")
"""OpenAI's own flavour, wherever it is asked."""


def test_openrouter_is_told_in_tokens_and_ollama_only_when_it_is_to_think() -> None:
    thinking = Request("", "hi", (), 4_000, thinking=1_500)
    assert sent(thinking, OPENROUTER)["reasoning"] == {"max_tokens": 1_500}
    assert "reasoning" not in sent(make_sample_request(), OPENROUTER)
    assert sent(thinking, OLLAMA)["reasoning_effort"] == "low"
    assert "reasoning_effort" not in sent(make_sample_request(), OLLAMA) | sent(make_sample_request(), VLLM)


def test_what_is_marked_for_the_cache_is_the_same_text() -> None:
    message = "stable. sometimes. often. always new"
    request = Request("system", message, SAMPLE_TOOLS, 800, breaks=(3, 8, 19, 26))
    system, user = sent(request, OPENROUTER, "anthropic/claude-sonnet-4")["messages"]
    assert system["content"] == [{"type": "text", "text": "system", "cache_control": {"type": "ephemeral"}}]
    parts = user["content"]
    assert "".join(part["text"] for part in parts) == message
    assert [part["text"] for part in parts if "cache_control" in part] == ["stable. ", "sometimes. ", "often. "]
    assert "cache_control" not in parts[-1]


def test_openai_sends_calls_that_begin_alike_the_same_way() -> None:
    first, second = (Request("s", f"stable. {end}", SAMPLE_TOOLS, 800, breaks=(8,)) for end in ("a", "b"))
    other = Request("s", "other stable. a", SAMPLE_TOOLS, 800, breaks=(14,))
    keys = [sent(request, OPENAI_HERE)["prompt_cache_key"] for request in (first, second, other)]
    assert keys[0] == keys[1] != keys[2]
    assert "prompt_cache_key" not in sent(first, PLAIN_SERVER)


@pytest.mark.parametrize(
    ("url", "trait", "value"),
    [
        ("https://eu.api.openai.com/v1", "limit", "max_completion_tokens"),
        ("https://x.openai.azure.com/openai/v1", "limit", "max_completion_tokens"),
        ("https://openrouter.ai/api/v1", "echo", "reasoning_details"),
        ("http://localhost:11434/v1", "effort", True),
        ("https://notopenai.com.example/v1", "limit", "max_tokens"),
        ("http://127.0.0.1:8000/v1", "limit", "max_tokens"),
        ("http://[broken", "limit", "max_tokens"),
    ],
)
def test_a_server_is_known_by_its_address(url: str, trait: str, value: Any) -> None:
    flavour = dialect_at_address(url)
    assert getattr(flavour, trait) == value
    assert (flavour.name, flavour.provider) == (OPENAI.name, OPENAI.provider), "under the name that the user called it by"
