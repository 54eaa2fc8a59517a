"""Replies as the two providers put them on the wire, whole or as a stream of server-sent events."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from afresh.domain.action import Action, Reply

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """A reply to play. `cut`: stopped by the limit of its length; `arguments`: this text in place of every call's arguments
    (OpenAI only); `changes`: fields of the body to put in or to replace, such as a usage that is wrong."""

    reply: Reply
    cut: bool = False
    arguments: str | None = None
    changes: Mapping[str, Any] | None = None


def anthropic_body(turn: Turn, model: str) -> Body:
    reply = turn.reply
    content: list[Body] = [{"type": "text", "text": reply.thought}] if reply.thought else []
    content += [
        {"type": "tool_use", "id": f"toolu_{number}", "name": action.tool, "input": dict(action.args)}
        for number, action in enumerate(reply.actions)
    ]
    usage = {
        "input_tokens": reply.usage.input - reply.usage.cached,
        "cache_read_input_tokens": reply.usage.cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": reply.usage.output,
    }
    stop = "max_tokens" if turn.cut else "tool_use" if reply.actions else "end_turn"
    body = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content}
    return body | {"stop_reason": stop, "stop_sequence": None, "usage": usage} | dict(turn.changes or {})


def openai_body(turn: Turn, model: str) -> Body:
    reply = turn.reply
    message: Body = {"role": "assistant", "content": reply.thought or None, "refusal": None}
    if reply.actions:
        message["tool_calls"] = [_call(action, number, turn.arguments) for number, action in enumerate(reply.actions)]
    stop = "length" if turn.cut else "tool_calls" if reply.actions else "stop"
    body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": model}
    choices = [{"index": 0, "message": message, "finish_reason": stop, "logprobs": None}]
    return body | {"choices": choices, "usage": _openai_usage(reply)} | dict(turn.changes or {})


def anthropic_stream(body: Body) -> Iterator[str]:
    """The events of a message; every content block is sent in two pieces."""
    start = body | {"content": [], "stop_reason": None}
    yield _event("message_start", {"message": start})
    for index, block in enumerate(body["content"]):
        text = block["text"] if block["type"] == "text" else json.dumps(block["input"])
        empty = {"text": ""} if block["type"] == "text" else {"input": {}}
        kind, key = ("text_delta", "text") if block["type"] == "text" else ("input_json_delta", "partial_json")
        yield _event("content_block_start", {"index": index, "content_block": block | empty})
        for piece in _halves(text):
            yield _event("content_block_delta", {"index": index, "delta": {"type": kind, key: piece}})
        yield _event("content_block_stop", {"index": index})
    delta = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", {"delta": delta, "usage": {"output_tokens": body["usage"]["output_tokens"]}})
    yield _event("message_stop", {})


def openai_stream(body: Body) -> Iterator[str]:
    """The chunks of a completion, then its usage, then the end mark."""
    head = {"id": body["id"], "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
    for choice in body["choices"]:
        for delta in _deltas(choice["message"]):
            yield _data(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        yield _data(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    yield _data(head | {"choices": [], "usage": body["usage"]})
    yield "data: [DONE]\n\n"


def _deltas(message: Body) -> Iterator[Body]:
    yield {"role": "assistant", "content": ""}
    for piece in _halves(message["content"] or ""):
        yield {"content": piece}
    for index, held in enumerate(message.get("tool_calls", ())):
        function = held["function"]
        yield {"tool_calls": [held | {"index": index, "function": {"name": function["name"], "arguments": ""}}]}
        for piece in _halves(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _call(action: Action, number: int, arguments: str | None) -> Body:
    text = json.dumps(dict(action.args)) if arguments is None else arguments
    return {"id": f"call_{number}", "type": "function", "function": {"name": action.tool, "arguments": text}}


def _openai_usage(reply: Reply) -> Body:
    usage = reply.usage
    counts = {"prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.input + usage.output}
    return counts | {"prompt_tokens_details": {"cached_tokens": usage.cached}}


def _halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]


def _event(kind: str, fields: Body) -> str:
    return f"event: {kind}\n{_data({'type': kind} | fields)}"


def _data(body: Body) -> str:
    return f"data: {json.dumps(body)}\n\n"
