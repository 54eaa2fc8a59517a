"""What servers that speak like OpenAI answer, with their habits and faults, through the real SDK."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.action import Action
from afresh.core.reply import Reply, Thinking
from afresh.core.usage import Usage
from afresh.errors import AfreshError, Broken, NeedsPerson, TryAgain
from afresh.models.providers.connection import ProviderConnection
from afresh.models.providers.openai_chat import OpenAIModel
from afresh.models.providers.openai_dialects import LLAMACPP, OPENAI, OPENROUTER, PLAIN_SERVER, OpenAIDialect, dialect_at_address
from afresh.models.providers.openai_stream import StreamedCompletion, take_chunk
from support.model_contract import ModelContract, make_sample_request
from support.model_server import ModelServer
from support.provider_faults import (
    CutConnection,
    CutStream,
    GarbageAnswer,
    HttpFault,
    ScriptStep,
    SlowStart,
    SlowStream,
    StreamError,
)
from support.wire_formats import ScriptedTurn

KEY = "sk-test-0123456789"
READ, DONE = Action("read", {"path": "a.py"}), Action("complete", {"summary": "s"})
TWO = Reply("look", (READ, DONE), Usage(120, 30, 80))


def ask(
    *script: ScriptStep, flavour: OpenAIDialect = PLAIN_SERVER, heard: list[str] | None = None, **options: Any
) -> tuple[Reply, ModelServer]:
    pieces = [] if heard is None else heard
    with ModelServer(script) as server:
        connection = ProviderConnection(key=KEY, base_url=server.openai_url, sleep=lambda seconds: None, **options)
        return OpenAIModel("some-model", connection, flavour).propose(make_sample_request(), pieces.append), server


def streamed(*deltas: dict[str, Any], finish: str = "tool_calls", usage: Any = None) -> ScriptedTurn:
    return ScriptedTurn(TWO, changes={"deltas": deltas, "finish": finish, "usage": usage})


def piece(index: Any, id: str | None, name: str | None, arguments: Any) -> dict[str, Any]:
    held = {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {key: value for key, value in held.items() if value is not None}


A, B = '{"path": "a.py"}', '{"summary": "s"}'
HABITS: dict[str, list[dict[str, Any]]] = {
    "in pieces, by index": [
        {"tool_calls": [piece(0, "x", "read", "")]}, {"tool_calls": [piece(0, None, None, A[:5])]},
        {"tool_calls": [piece(1, "y", "complete", B[:4])]},
        {"tool_calls": [piece(0, None, None, A[5:]), piece(1, None, None, B[4:])]},
    ],
    "whole calls in one delta": [{"tool_calls": [piece(0, "x", "read", A), piece(1, "y", "complete", B)]}],
    "whole calls, all with the same index": [
        {"tool_calls": [piece(0, "x", "read", A)]}, {"tool_calls": [piece(0, "y", "complete", B)]},
    ],
    "no ids": [{"tool_calls": [piece(0, None, "read", A)]}, {"tool_calls": [piece(1, None, "complete", B)]}],
    "no ids and the same index": [{"tool_calls": [piece(0, None, "read", A)]}, {"tool_calls": [piece(0, None, "complete", B)]}],
    "no index": [{"tool_calls": [piece(None, "x", "read", A[:5])]}, {"tool_calls": [piece(None, None, None, A[5:])]},
                 {"tool_calls": [piece(None, "y", "complete", B)]}],
    "arguments as an object": [{"tool_calls": [piece(0, "x", "read", json.loads(A)), piece(1, "y", "complete", json.loads(B))]}],
    "the name with every piece": [
        {"tool_calls": [piece(0, None, "read", A[:5])]}, {"tool_calls": [piece(0, None, "read", A[5:])]},
        {"tool_calls": [piece(1, None, "complete", B)]},
    ],
}  # fmt: skip


@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
@pytest.mark.parametrize("habit", HABITS)
def test_tool_calls_are_put_together_however_they_are_cut_up(habit: str, finish: str) -> None:
    assert ask(streamed(*HABITS[habit], finish=finish))[0].actions == (READ, DONE)


@given(st.lists(st.sampled_from([A, B, "{}", '{"a": [1, {"b": "}"}]}']), min_size=1, max_size=4), st.integers(1, 7))
def test_any_cut_of_the_pieces_gives_the_same_calls(arguments: list[str], size: int) -> None:
    told = StreamedCompletion()
    for index, text in enumerate(arguments):
        take_chunk(told, {"choices": [{"delta": {"tool_calls": [piece(index, f"id{index}", "read", "")]}}]})
        for start in range(0, len(text), size):
            take_chunk(told, {"choices": [{"delta": {"tool_calls": [piece(index, None, None, text[start : start + size])]}}]})
    assert [call.arguments for call in told.calls] == arguments


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_what_was_thought_is_kept_apart(field: str) -> None:
    reply, _ = ask(streamed({field: "be"}, {field: "cause"}, {"content": "look"}, finish="stop"))
    assert (reply.thought, reply.thinking) == ("look", (Thinking("because"),))


def test_thinking_that_is_left_in_the_text_is_taken_out_of_it() -> None:
    reply, _ = ask(streamed({"content": "<think>be"}, {"content": "cause</think>\n\nlook <think>"}, finish="stop"))
    assert (reply.thought, reply.thinking) == ("look <think>", (Thinking("because"),))


def test_usage_tells_of_caches_and_thinking_under_every_name() -> None:
    full = {"prompt_tokens": 100, "completion_tokens": 20, "completion_tokens_details": {"reasoning_tokens": 15}}
    names = [
        {"prompt_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 30}},
        {"prompt_tokens_details": {"cached_tokens": 40}, "cache_creation_input_tokens": 30},
        {"prompt_cache_hit_tokens": 40, "prompt_tokens_details": {"cache_write_tokens": 30}},
    ]
    for name in names:
        assert ask(streamed({"content": "a"}, finish="stop", usage=full | name))[0].usage == Usage(100, 20, 40, 30, 15)
    mad = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 9}}
    mad["completion_tokens_details"] = {"reasoning_tokens": 50}
    assert ask(streamed({"content": "a"}, finish="stop", usage=mad))[0].usage == Usage(10, 2, 10, 0, 2)


def test_a_server_that_tells_no_usage_is_estimated() -> None:
    reply, _ = ask(streamed({"content": "a"}, finish="stop"), count=lambda text: 77)
    assert reply.usage == Usage(77, 77) and not reply.counted


NO_USAGE = "Unrecognized request argument supplied: stream_options"
NO_TOOLS = [
    (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
    (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    (404, "No endpoints found that support tool use. Try disabling tools."),
    (500, "tools param requires --jinja flag"),
]


def test_a_server_that_does_not_know_stream_options_is_asked_once_without_and_then_never_with() -> None:
    with ModelServer([HttpFault(400, NO_USAGE), TWO, TWO]) as server:
        model = OpenAIModel("m", ProviderConnection(key="", base_url=server.openai_url), PLAIN_SERVER)
        assert model.propose(make_sample_request()).actions == model.propose(make_sample_request()).actions == TWO.actions
    assert ["stream_options" in one.body for one in server.received] == [True, False, False]


@pytest.mark.parametrize(("status", "message"), NO_TOOLS)
def test_a_model_without_tools_is_told_of_them_in_words_from_then_on(status: int, message: str) -> None:
    spoken = Reply('{"thought": "look", "actions": [{"tool": "read", "args": {"path": "a.py"}}]}', usage=Usage(50, 9))
    with ModelServer([HttpFault(status, message), spoken, spoken]) as server:
        model = OpenAIModel("m", ProviderConnection(key="", base_url=server.openai_url), PLAIN_SERVER)
        replies = [model.propose(make_sample_request()), model.propose(make_sample_request())]
    assert all((reply.thought, reply.actions) == ("look", (READ,)) for reply in replies)
    first, second, third = (one.body for one in server.received)
    assert "tools" in first and "tools" not in second | third
    assert "Read a file." in second["messages"][0]["content"]
    assert second["response_format"]["json_schema"]["schema"]["required"] == ["thought", "actions"]


def test_everything_that_is_refused_is_left_out_one_by_one() -> None:
    spoken = Reply('{"tool": "read", "args": {"path": "a.py"}}')
    refusals = [
        HttpFault(400, NO_USAGE),
        HttpFault(400, NO_TOOLS[0][1]),
        HttpFault(400, "response_format: json_schema is not implemented"),
        HttpFault(400, "Unsupported parameter: 'max_completion_tokens' is not supported, use 'max_tokens'"),
    ]
    reply, server = ask(*refusals, spoken, flavour=dialect_at_address("https://api.openai.com/v1"))
    assert reply.actions == (READ,) and len(server.received) == 5
    assert set(server.received[-1].body) == {"model", "messages", "max_tokens", "stream"}


def test_a_server_that_refuses_the_limit_under_both_names_needs_a_person() -> None:
    refusal = "max_tokens and max_completion_tokens are not supported"
    with pytest.raises(NeedsPerson, match="not supported"):
        ask(*[HttpFault(400, refusal)] * 9)


def test_a_fault_in_the_schema_of_a_tool_does_not_take_its_tools_from_a_model() -> None:
    with pytest.raises(NeedsPerson, match="anyOf"):
        ask(HttpFault(400, "Invalid schema for tools[0].function: 'anyOf' is not supported"))


def test_a_refusal_of_something_else_is_not_taken_for_one() -> None:
    with pytest.raises(NeedsPerson, match="some-model does not exist"):
        ask(HttpFault(404, "the model some-model does not exist"))


FAULTS: dict[str, tuple[list[ScriptStep], type[AfreshError] | None]] = {
    "429, then a reply": ([HttpFault(429), TWO], None),
    "500, then a reply": ([HttpFault(500), TWO], None),
    "529, then a reply": ([HttpFault(529), TWO], None),
    "500 for good": ([HttpFault(500)] * 9, TryAgain),
    "a page": ([GarbageAnswer("<html>", "text/html")] * 9, TryAgain),
    "no JSON": ([GarbageAnswer("data: {\n\n", "text/event-stream")] * 9, TryAgain),
    "hung up": ([CutConnection()] * 9, TryAgain),
    "no event": ([CutStream(0, TWO)] * 9, TryAgain),
    "cut after the first event": ([CutStream(1, TWO)], TryAgain),
    "cut in the middle of a call": ([CutStream(5, TWO)], TryAgain),
    "cut before its end, politely": ([CutStream(8, TWO, politely=True)], TryAgain),
    "an error in the stream": ([StreamError(3, TWO)], TryAgain),
    "a wrong key": ([HttpFault(401, f"no key {KEY}")], NeedsPerson),
    "no money": ([HttpFault(402, "insufficient_quota")], NeedsPerson),
    "too long": ([HttpFault(400, "maximum context length is 8192 tokens")], Broken),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_goes_to_whoever_must_act(fault: str) -> None:
    script, raised = FAULTS[fault]
    if raised is None:
        assert ask(*script)[0].actions == TWO.actions
        return
    with pytest.raises(raised) as caught:
        ask(*script, retries=2)
    assert KEY not in repr(caught.value)


@pytest.mark.parametrize("events", range(1, 9))
def test_a_reply_that_broke_off_is_never_half_used_and_is_paid_for(events: int) -> None:
    with pytest.raises(TryAgain, match="broke off") as caught:
        ask(CutStream(events, TWO))
    assert caught.value.usage and caught.value.usage.input > 0


def test_a_reply_whose_usage_alone_is_missing_at_the_end_is_whole() -> None:
    assert ask(CutStream(10, TWO, politely=True))[0].actions == TWO.actions


def test_a_silent_or_dripping_server_runs_out_of_time() -> None:
    for slow in (SlowStart(2.0, TWO), SlowStream(0.2, TWO)):
        with pytest.raises(TryAgain):
            ask(slow, timeout=0.3, retries=0)


def test_a_model_that_is_a_file_is_called_by_its_name_alone() -> None:
    assert ask(ScriptedTurn(TWO, changes={"model": "/models/of/somebody/tiny.gguf"}))[0].model == "openai:tiny.gguf"


def test_only_llama_cpp_is_asked_for_its_own_count() -> None:
    for flavour in (OPENAI, OPENROUTER, PLAIN_SERVER):
        assert (
            OpenAIModel("m", ProviderConnection(key="", base_url="http://127.0.0.1:9/v1"), flavour).weigh(make_sample_request())
            == 0
        )
    nobody = OpenAIModel("m", ProviderConnection(key="", base_url="http://127.0.0.1:9/v1"), LLAMACPP)
    assert nobody.weigh(make_sample_request()) == 0 and nobody.window == LLAMACPP.window


class TestContract(ModelContract):
    secrets = (KEY,)

    def make(self) -> OpenAIModel:
        server = ModelServer([TWO] * 4)
        server.__enter__()
        return OpenAIModel("some-model", ProviderConnection(key=KEY, base_url=server.openai_url))
