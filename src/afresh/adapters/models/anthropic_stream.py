"""A message of Anthropic's while it comes in, event by event. It is a reply only when its last event has been seen."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

from afresh.adapters.models.provider import call, tokens
from afresh.adapters.models.replies import storable
from afresh.adapters.models.spoken import heard
from afresh.domain.action import Action, Reply, Thinking, Usage

CUT = ("max_tokens", "model_context_window_exceeded")
DECLINED = "[The provider declined to let the model answer.]"
COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens_details")


@dataclass(slots=True)
class Block:
    """A content block; its text is kept in pieces, since a call may have megabytes of arguments."""

    kind: str
    given: Any
    pieces: list[str] = field(default_factory=list[str])
    signature: str = ""

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Incoming:
    def __init__(self) -> None:
        self.model, self.stop, self.whole = "", "", False
        self.blocks: dict[int, Block] = {}
        self.counts: dict[str, Any] = {}

    def take(self, event: Any) -> str:
        """Adds what an event brings; the piece of text in it, if there is any."""
        match event.type:
            case "message_start":
                self.model = str(event.message.model)
                self._count(event.message.usage)
            case "content_block_start":
                self.blocks[event.index] = Block(event.content_block.type, event.content_block)
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

    def _add(self, block: Block, delta: Any) -> str:
        if delta.type == "signature_delta":
            block.signature += delta.signature
            return ""
        fields = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
        piece = str(getattr(delta, fields[delta.type])) if delta.type in fields else ""
        block.pieces.append(piece)
        return piece

    def _count(self, counted: Any) -> None:
        """What a later event tells is in place of what an earlier one told, not on top of it."""
        told = {name: getattr(counted, name, None) for name in COUNTS}
        self.counts |= {name: value for name, value in told.items() if value is not None}

    @property
    def usage(self) -> Usage:
        """Anthropic counts what was read from and written to its cache apart from the input."""
        cached, written = tokens(self.counts.get(COUNTS[2])), tokens(self.counts.get(COUNTS[3]))
        said = tokens(self.counts.get("output_tokens"))
        thought = tokens(getattr(self.counts.get(COUNTS[4]), "thinking_tokens", None))
        sent = tokens(self.counts.get("input_tokens")) + cached + written
        return Usage(sent, said, cached, written, min(thought, said))

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks.values())


def reply_of(incoming: Incoming) -> tuple[Reply, bool]:
    """The reply, and whether it was cut at its limit."""
    blocks = list(incoming.blocks.values())
    texts = [block.text for block in blocks if block.kind == "text" and block.text]
    if incoming.stop == "refusal":
        texts.append(DECLINED)
    actions = tuple(_action(block) for block in blocks if block.kind == "tool_use")
    thinking = tuple(_thinking(block) for block in blocks if block.kind in ("thinking", "redacted_thinking"))
    reply = Reply(storable("\n".join(texts)), actions, incoming.usage, f"anthropic:{incoming.model}", thinking=thinking)
    return reply, incoming.stop in CUT


def spoken_reply_of(incoming: Incoming) -> tuple[Reply, bool]:
    """Of a model that was told of tools in words: its actions are in its text, unless that is cut or none of its own."""
    reply, cut = reply_of(incoming)
    if cut or incoming.stop == "refusal":
        return reply, cut
    said = heard(reply.thought)
    return replace(reply, thought=said.thought, actions=said.actions), cut


def _action(block: Block) -> Action:
    raw = storable(block.text) or "{}"
    try:
        return call(str(block.given.name), storable(json.loads(raw)), raw)
    except (ValueError, RecursionError):
        return call(str(block.given.name), None, raw)


def _thinking(block: Block) -> Thinking:
    if block.kind == "redacted_thinking":
        return Thinking(str(block.given.data), redacted=True)
    return Thinking(storable(block.text), block.signature or str(block.given.signature or ""))
