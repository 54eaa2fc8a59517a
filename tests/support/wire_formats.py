"""Replies as Anthropic's messages and OpenAI's chat completions put them on the wire, whole or as a stream."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from afresh.core.action import Action
from afresh.core.reply import Reply, Thinking

WireBody = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """A reply to play. `cut`: stopped by the limit of its length; `arguments`: this text instead of every call's arguments
    (Anthropic: in a stream only); `changes`: fields of the body to put in or to replace, such as a usage that is wrong."""

    reply: Reply
    cut: bool = False
    arguments: str | None = None
    changes: Mapping[str, Any] | None = None


class WireFormat(Protocol):
    """One provider's format."""

    def body(self, turn: ScriptedTurn, model: str) -> WireBody:
        """The whole answer."""
        ...

    def stream(self, body: WireBody, turn: ScriptedTurn) -> Iterator[str]:
        """The same answer as server-sent events."""
        ...

    def error(self, kind: str, message: str) -> WireBody:
        """The body of an HTTP error."""
        ...

    def error_event(self, kind: str, message: str) -> str:
        """An error in the middle of a stream."""
        ...

    def listing(self, models: tuple[str, ...]) -> WireBody:
        """The answer to the question which models there are."""
        ...


def split_in_halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]


def render_event(kind: str, fields: WireBody) -> str:
    return f"event: {kind}\n{render_data({'type': kind} | fields)}"


def render_data(body: WireBody) -> str:
    return f"data: {json.dumps(body)}\n\n"


class AnthropicWire:
    """Anthropic's messages."""

    def body(self, turn: ScriptedTurn, model: str) -> WireBody:
        reply = turn.reply
        content = [_make_thinking_block(block) for block in reply.thinking]
        content += [{"type": "text", "text": reply.thought}] if reply.thought else []
        content += [
            {"type": "tool_use", "id": f"toolu_{number}", "name": action.tool, "input": dict(action.args)}
            for number, action in enumerate(reply.actions)
        ]
        stop = "max_tokens" if turn.cut else "tool_use" if reply.actions else "end_turn"
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content}
        return (
            head | {"stop_reason": stop, "stop_sequence": None, "usage": _make_anthropic_usage(reply)} | dict(turn.changes or {})
        )

    def stream(self, body: WireBody, turn: ScriptedTurn) -> Iterator[str]:
        """The events of a message; what a block holds is sent in two pieces."""
        usage = body["usage"]
        begun = usage | {"output_tokens": 1} if usage and usage.get("output_tokens") else usage
        yield render_event("message_start", {"message": body | {"content": [], "stop_reason": None, "usage": begun}})
        yield render_event("ping", {})
        for index, block in enumerate(body["content"]):
            start, deltas = _split_content_block(block, turn)
            yield render_event("content_block_start", {"index": index, "content_block": start})
            for delta in deltas:
                yield render_event("content_block_delta", {"index": index, "delta": delta})
            yield render_event("content_block_stop", {"index": index})
        yield render_event(
            "message_delta", {"delta": {"stop_reason": body["stop_reason"], "stop_sequence": None}, "usage": usage}
        )
        yield render_event("message_stop", {})

    def error(self, kind: str, message: str) -> WireBody:
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}

    def error_event(self, kind: str, message: str) -> str:
        return render_event("error", self.error(kind, message))

    def listing(self, models: tuple[str, ...]) -> WireBody:
        held = [{"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"} for name in models]
        ends = {"first_id": models[0], "last_id": models[-1]} if models else {"first_id": None, "last_id": None}
        return {"data": held, "has_more": False} | ends

    def make_token_count(self, tokens: int) -> WireBody:
        """The answer to the question how many tokens a request has."""
        return {"input_tokens": tokens}


def _split_content_block(block: WireBody, turn: ScriptedTurn) -> tuple[WireBody, list[WireBody]]:
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


def _make_thinking_block(block: Thinking) -> WireBody:
    if block.redacted:
        return {"type": "redacted_thinking", "data": block.text}
    return {"type": "thinking", "thinking": block.text, "signature": block.signature}


def _make_anthropic_usage(reply: Reply) -> WireBody:
    usage = reply.usage
    return {
        "input_tokens": usage.input - usage.cached - usage.written,
        "cache_read_input_tokens": usage.cached,
        "cache_creation_input_tokens": usage.written,
        "output_tokens": usage.output,
        **({"output_tokens_details": {"thinking_tokens": usage.thinking}} if usage.thinking else {}),
    }


class OpenAIWire:
    """OpenAI's chat completions.

    `ScriptedTurn(reply, changes={"deltas": [...]})` streams these deltas instead of the reply's own, as some servers do;
    `{"finish": "stop"}` ends them so; `{"usage": None}` reports no usage.
    """

    def body(self, turn: ScriptedTurn, model: str) -> WireBody:
        reply = turn.reply
        message: WireBody = {"role": "assistant", "content": reply.thought or None, "refusal": None}
        if reply.thinking:
            message["reasoning_content"] = "".join(thought.text for thought in reply.thinking)
        if reply.actions:
            message["tool_calls"] = [
                _make_tool_call(action, number, turn.arguments) for number, action in enumerate(reply.actions)
            ]
        stop = "length" if turn.cut else "tool_calls" if reply.actions else "stop"
        head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": model}
        choices = [{"index": 0, "message": message, "finish_reason": stop, "logprobs": None}]
        return head | {"choices": choices, "usage": _make_openai_usage(reply)} | dict(turn.changes or {})

    def stream(self, body: WireBody, turn: ScriptedTurn) -> Iterator[str]:
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

    def error(self, kind: str, message: str) -> WireBody:
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}

    def error_event(self, kind: str, message: str) -> str:
        return render_data(self.error(kind, message))

    def listing(self, models: tuple[str, ...]) -> WireBody:
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


def _make_tool_call(action: Action, number: int, arguments: str | None) -> WireBody:
    text = json.dumps(dict(action.args)) if arguments is None else arguments
    return {"id": f"call_{number}", "type": "function", "function": {"name": action.tool, "arguments": text}}


def _make_openai_usage(reply: Reply) -> WireBody:
    usage = reply.usage
    counts = {"prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.input + usage.output}
    details = {"cached_tokens": usage.cached, **({"cache_write_tokens": usage.written} if usage.written else {})}
    return counts | {
        "prompt_tokens_details": details,
        "completion_tokens_details": {"reasoning_tokens": usage.thinking},
    }
