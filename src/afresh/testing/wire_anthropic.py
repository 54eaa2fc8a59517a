"""Replies as Anthropic's messages put them on the wire, whole or as a stream."""

import json
from collections.abc import Iterator

from afresh.domain.action import Reply, Thinking
from afresh.testing.wire import Body, Turn, event, halves


def body(turn: Turn, model: str) -> Body:
    reply = turn.reply
    content = [_thinking(block) for block in reply.thinking]
    content += [{"type": "text", "text": reply.thought}] if reply.thought else []
    content += [
        {"type": "tool_use", "id": f"toolu_{number}", "name": action.tool, "input": dict(action.args)}
        for number, action in enumerate(reply.actions)
    ]
    stop = "max_tokens" if turn.cut else "tool_use" if reply.actions else "end_turn"
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content}
    return head | {"stop_reason": stop, "stop_sequence": None, "usage": _usage(reply)} | dict(turn.changes or {})


def stream(body: Body, turn: Turn) -> Iterator[str]:
    """The events of a message; what a block holds is sent in two pieces."""
    usage = body["usage"]
    begun = usage | {"output_tokens": 1} if usage and usage.get("output_tokens") else usage
    yield event("message_start", {"message": body | {"content": [], "stop_reason": None, "usage": begun}})
    yield event("ping", {})
    for index, block in enumerate(body["content"]):
        start, deltas = _block(block, turn)
        yield event("content_block_start", {"index": index, "content_block": start})
        for delta in deltas:
            yield event("content_block_delta", {"index": index, "delta": delta})
        yield event("content_block_stop", {"index": index})
    yield event("message_delta", {"delta": {"stop_reason": body["stop_reason"], "stop_sequence": None}, "usage": usage})
    yield event("message_stop", {})


def error(kind: str, message: str) -> Body:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def error_event(kind: str, message: str) -> str:
    return event("error", error(kind, message))


def listing(models: tuple[str, ...]) -> Body:
    held = [{"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"} for name in models]
    ends = {"first_id": models[0], "last_id": models[-1]} if models else {"first_id": None, "last_id": None}
    return {"data": held, "has_more": False} | ends


def counted(tokens: int) -> Body:
    """The answer to the question how many tokens a request has."""
    return {"input_tokens": tokens}


def _block(block: Body, turn: Turn) -> tuple[Body, list[Body]]:
    """A content block as it begins, and what is then added to it."""
    match block["type"]:
        case "text":
            return block | {"text": ""}, [{"type": "text_delta", "text": piece} for piece in halves(block["text"])]
        case "thinking":
            added: list[Body] = [{"type": "thinking_delta", "thinking": piece} for piece in halves(block["thinking"])]
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return block | {"thinking": "", "signature": ""}, [*added, signed]
        case "tool_use":
            text = json.dumps(block["input"]) if turn.arguments is None else turn.arguments
            return block | {"input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in halves(text)]
        case _:
            return block, []


def _thinking(block: Thinking) -> Body:
    if block.redacted:
        return {"type": "redacted_thinking", "data": block.text}
    return {"type": "thinking", "thinking": block.text, "signature": block.signature}


def _usage(reply: Reply) -> Body:
    usage = reply.usage
    return {
        "input_tokens": usage.input - usage.cached - usage.written,
        "cache_read_input_tokens": usage.cached,
        "cache_creation_input_tokens": usage.written,
        "output_tokens": usage.output,
        **({"output_tokens_details": {"thinking_tokens": usage.thinking}} if usage.thinking else {}),
    }
