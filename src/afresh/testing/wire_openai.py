"""Replies as OpenAI's chat completions put them on the wire, whole or as a stream."""

import json
from collections.abc import Iterator

from afresh.domain.action import Action, Reply
from afresh.testing.wire import Body, Turn, data, halves


def body(turn: Turn, model: str) -> Body:
    reply = turn.reply
    message: Body = {"role": "assistant", "content": reply.thought or None, "refusal": None}
    if reply.actions:
        message["tool_calls"] = [_call(action, number, turn.arguments) for number, action in enumerate(reply.actions)]
    stop = "length" if turn.cut else "tool_calls" if reply.actions else "stop"
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": model}
    choices = [{"index": 0, "message": message, "finish_reason": stop, "logprobs": None}]
    return head | {"choices": choices, "usage": _usage(reply)} | dict(turn.changes or {})


def stream(body: Body, turn: Turn) -> Iterator[str]:
    """The chunks of a completion, then its usage, then the end mark."""
    head = {"id": body["id"], "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
    for choice in body["choices"]:
        for delta in _deltas(choice["message"]):
            yield data(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        yield data(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    yield data(head | {"choices": [], "usage": body["usage"]})
    yield "data: [DONE]\n\n"


def error(kind: str, message: str) -> Body:
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def error_event(kind: str, message: str) -> str:
    return data(error(kind, message))


def listing(models: tuple[str, ...]) -> Body:
    held = [{"id": name, "object": "model", "created": 0, "owned_by": "loopback"} for name in models]
    return {"object": "list", "data": held}


def _deltas(message: Body) -> Iterator[Body]:
    yield {"role": "assistant", "content": ""}
    for piece in halves(message["content"] or ""):
        yield {"content": piece}
    for index, held in enumerate(message.get("tool_calls", ())):
        function = held["function"]
        yield {"tool_calls": [held | {"index": index, "function": {"name": function["name"], "arguments": ""}}]}
        for piece in halves(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _call(action: Action, number: int, arguments: str | None) -> Body:
    text = json.dumps(dict(action.args)) if arguments is None else arguments
    return {"id": f"call_{number}", "type": "function", "function": {"name": action.tool, "arguments": text}}


def _usage(reply: Reply) -> Body:
    usage = reply.usage
    counts = {"prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.input + usage.output}
    return counts | {"prompt_tokens_details": {"cached_tokens": usage.cached}}
