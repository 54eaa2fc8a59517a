"""The loopback server's streams are read back by the SDKs themselves."""

from typing import Any

from anthropic import Anthropic
from openai import OpenAI

from afresh.domain.action import Action, Reply, Usage
from afresh.testing.server import ModelServer

REPLY = Reply("look at both", (Action("read", {"path": "a.py"}), Action("read", {"path": "é.py"})), Usage(120, 30, 80))
ASK: Any = [{"role": "user", "content": "hi"}]


def test_anthropic_events_add_up_to_the_message() -> None:
    with ModelServer([REPLY]) as server:
        client = Anthropic(api_key="k", base_url=server.anthropic_url, max_retries=0)
        with client.messages.stream(model="m", max_tokens=50, messages=ASK) as stream:
            message = stream.get_final_message()
    parts = [part.text if part.type == "text" else part.input for part in message.content if part.type in ("text", "tool_use")]
    assert parts == ["look at both", {"path": "a.py"}, {"path": "é.py"}]
    assert (message.stop_reason, message.usage.output_tokens, message.usage.cache_read_input_tokens) == ("tool_use", 30, 80)


def test_openai_chunks_add_up_to_the_completion() -> None:
    with ModelServer([REPLY]) as server:
        client = OpenAI(api_key="k", base_url=server.openai_url, max_retries=0)
        with client.chat.completions.stream(model="m", messages=ASK) as stream:
            completion = stream.get_final_completion()
    message = completion.choices[0].message
    assert message.content == "look at both"
    assert [call.function.arguments for call in message.tool_calls or ()] == ['{"path": "a.py"}', '{"path": "\\u00e9.py"}']
    assert completion.usage is not None and completion.usage.prompt_tokens == 120
