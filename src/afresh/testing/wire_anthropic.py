"""Replies as Anthropic's messages put them on the wire, whole or as a stream."""

import json
from collections.abc import Iterator

from afresh.core.reply import Reply, Thinking
from afresh.testing.wire import ScriptedTurn, WireBody, render_event, split_in_halves


def body(turn: ScriptedTurn, model: str) -> WireBody:
    reply = turn.reply
    content = [_thinking_block(block) for block in reply.thinking]
    content += [{"type": "text", "text": reply.thought}] if reply.thought else []
    content += [
        {"type": "tool_use", "id": f"toolu_{number}", "name": action.tool, "input": dict(action.args)}
        for number, action in enumerate(reply.actions)
    ]
    stop = "max_tokens" if turn.cut else "tool_use" if reply.actions else "end_turn"
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content}
    return head | {"stop_reason": stop, "stop_sequence": None, "usage": _usage_body(reply)} | dict(turn.changes or {})


def stream(body: WireBody, turn: ScriptedTurn) -> Iterator[str]:
    """The events of a message; what a block holds is sent in two pieces."""
    usage = body["usage"]
    begun = usage | {"output_tokens": 1} if usage and usage.get("output_tokens") else usage
    yield render_event("message_start", {"message": body | {"content": [], "stop_reason": None, "usage": begun}})
    yield render_event("ping", {})
    for index, block in enumerate(body["content"]):
        start, deltas = _split_block(block, turn)
        yield render_event("content_block_start", {"index": index, "content_block": start})
        for delta in deltas:
            yield render_event("content_block_delta", {"index": index, "delta": delta})
        yield render_event("content_block_stop", {"index": index})
    yield render_event("message_delta", {"delta": {"stop_reason": body["stop_reason"], "stop_sequence": None}, "usage": usage})
    yield render_event("message_stop", {})


def error(kind: str, message: str) -> WireBody:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def error_event(kind: str, message: str) -> str:
    return render_event("error", error(kind, message))


def listing(models: tuple[str, ...]) -> WireBody:
    held = [{"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"} for name in models]
    ends = {"first_id": models[0], "last_id": models[-1]} if models else {"first_id": None, "last_id": None}
    return {"data": held, "has_more": False} | ends


def make_token_count(tokens: int) -> WireBody:
    """The answer to the question how many tokens a request has."""
    return {"input_tokens": tokens}


def _split_block(block: WireBody, turn: ScriptedTurn) -> tuple[WireBody, list[WireBody]]:
    """A content block as it begins, and what is then added to it."""
    match block["type"]:
        case "text":
            return block | {"text": ""}, [{"type": "text_delta", "text": piece} for piece in split_in_halves(block["text"])]
        case "thinking":
            added: list[WireBody] = [
                {"type": "thinking_delta", "thinking": piece} for piece in split_in_halves(block["thinking"])
            ]
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return block | {"thinking": "", "signature": ""}, [*added, signed]
        case "tool_use":
            text = json.dumps(block["input"]) if turn.arguments is None else turn.arguments
            return block | {"input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in split_in_halves(text)]
        case _:
            return block, []


def _thinking_block(block: Thinking) -> WireBody:
    if block.redacted:
        return {"type": "redacted_thinking", "data": block.text}
    return {"type": "thinking", "thinking": block.text, "signature": block.signature}


def _usage_body(reply: Reply) -> WireBody:
    usage = reply.usage
    return {
        "input_tokens": usage.input - usage.cached - usage.written,
        "cache_read_input_tokens": usage.cached,
        "cache_creation_input_tokens": usage.written,
        "output_tokens": usage.output,
        **({"output_tokens_details": {"thinking_tokens": usage.thinking}} if usage.thinking else {}),
    }
