"""A message of Anthropic's while it comes in, event by event. It is a reply only when its last event has been seen."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

from afresh.adapters.models.provider import action_from_call, sum_reported_tokens
from afresh.adapters.models.replies import replace_lone_surrogates
from afresh.adapters.models.spoken import reply_from_text
from afresh.domain.action import Action, Reply, Thinking, Usage

CUT_STOP_REASONS = ("max_tokens", "model_context_window_exceeded")
DECLINED_NOTE = "[The provider declined to let the model answer.]"
USAGE_COUNT_FIELDS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens_details",
)


@dataclass(slots=True)
class StreamedBlock:
    """A content block; its text is kept in pieces, since a call may have megabytes of arguments."""

    kind: str
    given: Any
    pieces: list[str] = field(default_factory=list[str])
    signature: str = ""

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class StreamedMessage:
    def __init__(self) -> None:
        self.model, self.stop, self.whole = "", "", False
        self.blocks: dict[int, StreamedBlock] = {}
        self.counts: dict[str, Any] = {}

    def take(self, event: Any) -> str:
        """Adds what an event brings; the piece of text in it, if there is any."""
        match event.type:
            case "message_start":
                self.model = str(event.message.model)
                self._count(event.message.usage)
            case "content_block_start":
                self.blocks[event.index] = StreamedBlock(event.content_block.type, event.content_block)
            case "content_block_delta":
                return self._add(self.blocks[event.index], event.delta)
            case "message_delta":
                self.stop = event.delta.stop_reason or ""
                self._count(event.usage)
            case "message_stop":
                self.whole = True
            case _:
                pass
        return ""

    def _add(self, block: StreamedBlock, delta: Any) -> str:
        if delta.type == "signature_delta":
            block.signature += delta.signature
            return ""
        fields = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
        piece = str(getattr(delta, fields[delta.type])) if delta.type in fields else ""
        block.pieces.append(piece)
        return piece

    def _count(self, counted: Any) -> None:
        """What a later event tells is in place of what an earlier one told, not on top of it."""
        told = {name: getattr(counted, name, None) for name in USAGE_COUNT_FIELDS}
        self.counts |= {name: value for name, value in told.items() if value is not None}

    @property
    def usage(self) -> Usage:
        """Anthropic counts what was read from and written to its cache apart from the input."""
        cached, written = (
            sum_reported_tokens(self.counts.get(USAGE_COUNT_FIELDS[2])),
            sum_reported_tokens(self.counts.get(USAGE_COUNT_FIELDS[3])),
        )
        said = sum_reported_tokens(self.counts.get("output_tokens"))
        thought = sum_reported_tokens(getattr(self.counts.get(USAGE_COUNT_FIELDS[4]), "thinking_tokens", None))
        sent = sum_reported_tokens(self.counts.get("input_tokens")) + cached + written
        return Usage(sent, said, cached, written, min(thought, said))

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks.values())


def reply_from_message(incoming: StreamedMessage) -> tuple[Reply, bool]:
    """The reply, and whether it was cut at its limit."""
    blocks = list(incoming.blocks.values())
    texts = [block.text for block in blocks if block.kind == "text" and block.text]
    if incoming.stop == "refusal":
        texts.append(DECLINED_NOTE)
    actions = tuple(_action_from_block(block) for block in blocks if block.kind == "tool_use")
    thinking = tuple(_thinking_from_block(block) for block in blocks if block.kind in ("thinking", "redacted_thinking"))
    reply = Reply(
        replace_lone_surrogates("\n".join(texts)), actions, incoming.usage, f"anthropic:{incoming.model}", thinking=thinking
    )
    return reply, incoming.stop in CUT_STOP_REASONS


def reply_from_text_message(incoming: StreamedMessage) -> tuple[Reply, bool]:
    """Of a model that was told of tools in words: its actions are in its text, unless that is cut or none of its own."""
    reply, cut = reply_from_message(incoming)
    if cut or incoming.stop == "refusal":
        return reply, cut
    said = reply_from_text(reply.thought)
    return replace(reply, thought=said.thought, actions=said.actions), cut


def _action_from_block(block: StreamedBlock) -> Action:
    raw = replace_lone_surrogates(block.text) or "{}"
    try:
        return action_from_call(str(block.given.name), replace_lone_surrogates(json.loads(raw)), raw)
    except (ValueError, RecursionError):
        return action_from_call(str(block.given.name), None, raw)


def _thinking_from_block(block: StreamedBlock) -> Thinking:
    if block.kind == "redacted_thinking":
        return Thinking(str(block.given.data), redacted=True)
    return Thinking(replace_lone_surrogates(block.text), block.signature or str(block.given.signature or ""))
