"""What the loopback server says is understood by the SDKs themselves. To import these takes seconds: not at collection."""

from typing import TYPE_CHECKING, Any

import pytest

from afresh.core.action import Action
from afresh.core.reply import Reply, Thinking
from afresh.core.usage import Usage
from support.model_server import ModelServer
from support.provider_faults import (
    CutStream,
    HttpFault,
    SlowStart,
    SlowStream,
    StreamError,
    answer_from_step,
    make_retry_headers,
)
from support.wire_formats import ScriptedTurn

if TYPE_CHECKING:
    from anthropic import Anthropic
    from openai import OpenAI

REPLY = Reply("look at both", (Action("read", {"path": "a.py"}), Action("read", {"path": "é.py"})), Usage(120, 30, 80))
ASK: Any = [{"role": "user", "content": "hi"}]


def claude_at(server: ModelServer, **options: Any) -> "Anthropic":
    from anthropic import Anthropic

    return Anthropic(api_key="k", base_url=server.anthropic_url, **options)


def chat_at(server: ModelServer, **options: Any) -> "OpenAI":
    from openai import OpenAI

    return OpenAI(api_key="k", base_url=server.openai_url, **options)


def test_anthropic_events_add_up_to_the_message() -> None:
    with ModelServer([REPLY]) as server:
        client = claude_at(server, max_retries=0)
        with client.messages.stream(model="m", max_tokens=50, messages=ASK) as stream:
            message = stream.get_final_message()
    parts = [part.text if part.type == "text" else part.input for part in message.content if part.type in ("text", "tool_use")]
    assert parts == ["look at both", {"path": "a.py"}, {"path": "é.py"}]
    assert (message.stop_reason, message.usage.output_tokens, message.usage.cache_read_input_tokens) == ("tool_use", 30, 80)


def test_openai_chunks_add_up_to_the_completion() -> None:
    with ModelServer([REPLY]) as server:
        client = chat_at(server, max_retries=0)
        with client.chat.completions.stream(model="m", messages=ASK) as stream:
            completion = stream.get_final_completion()
    message = completion.choices[0].message
    assert message.content == "look at both"
    assert [call.function.arguments for call in message.tool_calls or ()] == ['{"path": "a.py"}', '{"path": "\\u00e9.py"}']
    assert completion.usage is not None and completion.usage.prompt_tokens == 120


def test_thinking_is_streamed_with_its_signature() -> None:
    thoughts = (Thinking("first this", "c2ln"), Thinking("aGlkZGVu", redacted=True))
    with ModelServer([Reply("done", usage=Usage(9, 8, thinking=5), thinking=thoughts)]) as server:
        client = claude_at(server, max_retries=0)
        with client.messages.stream(model="m", max_tokens=50, messages=ASK) as stream:
            message = stream.get_final_message()
    first, second, third = message.content
    assert first.type == "thinking" and (first.thinking, first.signature) == ("first this", "c2ln")
    assert second.type == "redacted_thinking" and second.data == "aGlkZGVu" and third.type == "text"
    assert message.usage.output_tokens_details and message.usage.output_tokens_details.thinking_tokens == 5


def test_the_same_reply_is_told_whole_to_those_who_do_not_stream() -> None:
    with ModelServer([REPLY, REPLY]) as server:
        message = claude_at(server).messages.create(model="m", max_tokens=50, messages=ASK)
        completion = chat_at(server).chat.completions.create(model="m", messages=ASK)
    assert [part.type for part in message.content] == ["text", "tool_use", "tool_use"]
    assert len(completion.choices[0].message.tool_calls or ()) == 2


def test_models_are_listed_in_both_forms_and_take_no_step_of_the_script() -> None:
    with ModelServer([], models=("a", "b")) as server:
        claude = claude_at(server).models.list()
        chat = chat_at(server).models.list()
        assert [model.id for model in claude] == [model.id for model in chat] == ["a", "b"]
    assert server.received == [] and len(server.asides) == 2


def test_tokens_are_counted_as_the_script_says() -> None:
    with ModelServer([REPLY], count=lambda body: len(body["messages"])) as server:
        client = claude_at(server)
        assert client.messages.count_tokens(model="m", messages=ASK).input_tokens == 1
        assert client.messages.create(model="m", max_tokens=50, messages=ASK).usage.input_tokens == 1


def test_an_address_that_is_none_says_so() -> None:
    from openai import NotFoundError

    with ModelServer([REPLY]) as server, pytest.raises(NotFoundError, match="there is nothing at /v1/completions"):
        chat_at(server, max_retries=0).completions.create(model="m", prompt="hi")
    assert server.received == []


def test_faults_go_around_each_other() -> None:
    play = answer_from_step(SlowStart(1.0, SlowStream(0.1, CutStream(3, StreamError(5, REPLY)))))
    assert (play.what, play.before, play.between, play.events) == (ScriptedTurn(REPLY), 1.0, 0.1, 3)
    busy = answer_from_step(SlowStart(2.0, HttpFault(529, headers=make_retry_headers(seconds=3))))
    assert (busy.what, busy.before, busy.events) == (HttpFault(529, headers={"retry-after": "3"}), 2.0, None)
