"""Anthropic's models through the official SDK: the message is put together event by event, and is a reply once its last event has
been seen."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from afresh.core.prompt import Request
from afresh.core.reply import Reply, Thinking, ToolCallPiece
from afresh.core.usage import Usage
from afresh.errors import AfreshError
from afresh.models.providers.anthropic_request import find_claude_family, make_anthropic_body
from afresh.models.providers.connection import Provider, ProviderConnection, make_sdk_client
from afresh.models.providers.provider_errors import error_from_stream, estimate_spent, name_provider
from afresh.models.providers.provider_reply import (
    DECLINED_NOTE,
    action_from_arguments,
    finish_reply,
    hear_pieces,
    read_answer,
    sum_reported_tokens,
)
from afresh.models.providers.text_tool_calls import put_tools_in_text, reply_from_text
from afresh.models.retry import retry_call
from afresh.ports.model import ReplyListener, ignore_piece

CUT_STOP_REASONS = ("max_tokens", "model_context_window_exceeded")
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
        return ToolCallPiece(piece) if delta.type == "input_json_delta" else piece

    def _count(self, counted: Any) -> None:
        """Counts of a later event replace those of an earlier one."""
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
    actions = tuple(action_from_arguments(str(block.given.name), block.text) for block in blocks if block.kind == "tool_use")
    thinking = tuple(_thinking_from_block(block) for block in blocks if block.kind in ("thinking", "redacted_thinking"))
    reply = Reply("\n".join(texts), actions, incoming.usage, f"anthropic:{incoming.model}", thinking=thinking)
    return reply, incoming.stop in CUT_STOP_REASONS


def reply_from_text_message(incoming: StreamedMessage) -> tuple[Reply, bool]:
    """The reply of a model that reads of tools in the prompt: its actions are in its text, unless that was cut or declined."""
    reply, cut = reply_from_message(incoming)
    if cut or incoming.stop == "refusal":
        return reply, cut
    said = reply_from_text(reply.thought)
    return replace(reply, thought=said.thought, actions=said.actions), cut


def _thinking_from_block(block: StreamedBlock) -> Thinking:
    if block.kind == "redacted_thinking":
        return Thinking(str(block.given.data), redacted=True)
    return Thinking(block.text, block.signature or str(block.given.signature or ""))


ANTHROPIC = Provider("Anthropic", "anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")
COUNT_TIMEOUT_SECONDS = 10.0
"""A count is optional, so it is not waited for longer."""


class AnthropicModel:
    """`thinks`, `tools`: false if the user has turned them off. Without tools the prompt describes them, and its actions are read
    from its text."""

    def __init__(self, model: str, connection: ProviderConnection, thinks: bool = True, tools: bool = True) -> None:
        self.model, self.connection, self.thinks, self.tools = model, connection, thinks, tools
        self.name = f"anthropic:{model}"
        self.window = connection.window or find_claude_family(model).window

    def propose(self, request: Request, hear: ReplyListener = ignore_piece) -> Reply:
        return retry_call(lambda: self._once(request, hear), hear, self.connection.retries, self.connection.sleep)

    def weigh(self, request: Request) -> int:
        try:
            client = self._client.with_options(timeout=min(COUNT_TIMEOUT_SECONDS, self.connection.timeout))
            return max(int(client.messages.count_tokens(**make_anthropic_body(self.model, self._told(request))).input_tokens), 0)
        except Exception:
            return 0

    def _once(self, request: Request, hear: ReplyListener) -> Reply:
        incoming, spoken = StreamedMessage(), bool(request.tools) and not self.tools
        if hear_pieces(self._pieces(request, incoming), request, hear):
            incoming.stop, incoming.counts["output_tokens"] = CUT_STOP_REASONS[0], request.reserve
        who = name_provider(ANTHROPIC, self.connection)
        reply, cut = read_answer(reply_from_text_message if spoken else reply_from_message, incoming, who)
        return finish_reply(reply, cut, request, self.connection)

    def _pieces(self, request: Request, incoming: StreamedMessage) -> Iterator[str]:
        """Reads the message to its end. The SDK wraps what goes wrong before a stream begins, and little of what does after."""
        asked, client = self._asked(request), self._client
        try:
            with client.messages.create(**asked, stream=True) as stream:
                for event in stream:
                    yield incoming.take(event)
                    if incoming.whole:
                        return
            raise EOFError("the stream ended too early")
        except Exception as error:
            raise self._fault(error, request, incoming) from None

    def _asked(self, request: Request) -> dict[str, Any]:
        told = self._told(request)
        return make_anthropic_body(self.model, told) | {"max_tokens": told.reserve}

    def _told(self, request: Request) -> Request:
        """The request adapted to the settings of this model."""
        told = request if self.thinks else replace(request, thinking=0)
        if not told.tools or self.tools:
            return told
        return put_tools_in_text(told, self.connection.count)

    def _fault(self, error: Exception, request: Request, incoming: StreamedMessage) -> AfreshError:
        """What has begun has cost something: its input, and what was said of the reply."""
        usage = incoming.usage if incoming.counts else None
        return error_from_stream(
            error, ANTHROPIC, self.connection, estimate_spent(usage, request, incoming.text, self.connection)
        )

    @cached_property
    def _client(self) -> Any:
        import anthropic

        return make_sdk_client(anthropic, anthropic.Anthropic, self.connection, self.connection.base_url)
