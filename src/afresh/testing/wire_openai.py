"""Replies as OpenAI's chat completions put them on the wire, whole or as a stream.

`Turn(reply, changes={"deltas": [...]})` streams these deltas in place of the reply's own, as servers with habits of their own do;
`{"finish": "stop"}` ends them so; `{"usage": None}` tells no usage at all.
"""

import json
from collections.abc import Iterator

from afresh.core.action import Action
from afresh.core.reply import Reply
from afresh.testing.wire import ScriptedTurn, WireBody, render_data, split_in_halves


def body(turn: ScriptedTurn, model: str) -> WireBody:
    reply = turn.reply
    message: WireBody = {"role": "assistant", "content": reply.thought or None, "refusal": None}
    if reply.thinking:
        message["reasoning_content"] = "".join(thought.text for thought in reply.thinking)
    if reply.actions:
        message["tool_calls"] = [_tool_call_body(action, number, turn.arguments) for number, action in enumerate(reply.actions)]
    stop = "length" if turn.cut else "tool_calls" if reply.actions else "stop"
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": model}
    choices = [{"index": 0, "message": message, "finish_reason": stop, "logprobs": None}]
    return head | {"choices": choices, "usage": _usage_body(reply)} | dict(turn.changes or {})


def stream(body: WireBody, turn: ScriptedTurn) -> Iterator[str]:
    """The chunks of a completion, then its usage, then the end mark."""
    head = {"id": body["id"], "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
    for choice in body["choices"]:
        for delta in body.get("deltas") or _split_deltas(choice["message"]):
            yield render_data(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        end = body.get("finish", choice["finish_reason"])
        yield render_data(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": end}]})
    if body["usage"] is not None:
        yield render_data(head | {"choices": [], "usage": body["usage"]})
    yield "data: [DONE]\n\n"


def error(kind: str, message: str) -> WireBody:
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def error_event(kind: str, message: str) -> str:
    return render_data(error(kind, message))


def listing(models: tuple[str, ...]) -> WireBody:
    held = [{"id": name, "object": "model", "created": 0, "owned_by": "loopback"} for name in models]
    return {"object": "list", "data": held}


def _split_deltas(message: WireBody) -> Iterator[WireBody]:
    yield {"role": "assistant", "content": ""}
    for piece in split_in_halves(message.get("reasoning_content", "")):
        yield {"reasoning_content": piece}
    for piece in split_in_halves(message["content"] or ""):
        yield {"content": piece}
    for index, held in enumerate(message.get("tool_calls", ())):
        function = held["function"]
        yield {"tool_calls": [held | {"index": index, "function": {"name": function["name"], "arguments": ""}}]}
        for piece in split_in_halves(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _tool_call_body(action: Action, number: int, arguments: str | None) -> WireBody:
    text = json.dumps(dict(action.args)) if arguments is None else arguments
    return {"id": f"call_{number}", "type": "function", "function": {"name": action.tool, "arguments": text}}


def _usage_body(reply: Reply) -> WireBody:
    usage = reply.usage
    counts = {"prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.input + usage.output}
    details = {"cached_tokens": usage.cached, **({"cache_write_tokens": usage.written} if usage.written else {})}
    return counts | {
        "prompt_tokens_details": details,
        "completion_tokens_details": {"reasoning_tokens": usage.thinking},
    }
