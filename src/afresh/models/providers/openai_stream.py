"""The pieces of a streamed chat completion, put together to a reply. Servers differ in how they split a tool call."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from afresh.core.reply import Reply, Thinking, ToolCallPiece
from afresh.core.usage import Usage
from afresh.models.providers.openai_request import thinking_from_detail
from afresh.models.providers.provider_reply import DECLINED_NOTE, action_from_arguments, sum_reported_tokens
from afresh.models.providers.text_tool_calls import reply_from_text


@dataclass(slots=True)
class StreamedToolCall:
    name: str = ""
    id: str = ""
    pieces: list[str] = field(default_factory=list[str])

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


@dataclass(slots=True)
class StreamedCompletion:
    """The parts of a reply that have arrived."""

    text: list[str] = field(default_factory=list[str])
    refusal: list[str] = field(default_factory=list[str])
    reasoning: list[str] = field(default_factory=list[str])
    details: dict[Any, dict[str, Any]] = field(default_factory=dict[Any, dict[str, Any]])
    calls: list[StreamedToolCall] = field(default_factory=list[StreamedToolCall])
    places: dict[Any, StreamedToolCall] = field(default_factory=dict[Any, StreamedToolCall])
    begun: bool = False
    finish: str = ""
    usage: Any = None
    model: str = ""

    @property
    def said(self) -> str:
        return "".join((*self.text, *self.reasoning, *(call.arguments for call in self.calls)))


def take_chunk(completion: StreamedCompletion, chunk: Any) -> str:
    """Add a chunk of the stream; the new piece of the reply in it. `finish` is empty until the reply is complete."""
    completion.begun, pieces = True, list[str]()
    completion.usage = read_field(chunk, "usage") or completion.usage
    completion.model = read_field(chunk, "model") or completion.model
    for choice in read_field(chunk, "choices") or ():
        pieces += _take_delta(completion, read_field(choice, "delta") or read_field(choice, "message"))
        completion.finish = read_field(choice, "finish_reason") or completion.finish
    piece = "".join(pieces)
    return ToolCallPiece(piece) if pieces and all(isinstance(one, ToolCallPiece) for one in pieces) else piece


def read_field(thing: Any, name: str) -> Any:
    """A field, whether the SDK knows it or not; None when there is none."""
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def _take_delta(completion: StreamedCompletion, delta: Any) -> Iterator[str]:
    thought = "reasoning_content" if read_field(delta, "reasoning_content") else "reasoning"
    for name, held in (("content", completion.text), ("refusal", completion.refusal), (thought, completion.reasoning)):
        if isinstance(piece := read_field(delta, name), str) and piece:
            held.append(piece)
            yield piece
    for place, detail in enumerate(read_field(delta, "reasoning_details") or ()):
        _take_detail(completion, dict(detail), place)
    for held in read_field(delta, "tool_calls") or ():
        yield ToolCallPiece(_take_call(completion, held))


def _take_detail(completion: StreamedCompletion, detail: dict[str, Any], place: int) -> None:
    """Texts of one detail go together; what else it says, such as its signature, comes at any time."""
    key = (detail.get("index", place), detail.get("type"))
    known = completion.details.setdefault(key, {})
    for name, value in detail.items():
        joined = name in ("text", "summary", "data") and isinstance(value, str) and isinstance(known.get(name), str)
        if value is not None or name not in known:
            known[name] = known[name] + value if joined else value


def _take_call(completion: StreamedCompletion, value: Any) -> str:
    function = read_field(value, "function") or {}
    call = _find_call(completion, read_field(value, "index"), read_field(value, "id") or "", read_field(function, "name") or "")
    piece = read_field(function, "arguments")
    if isinstance(piece, Mapping | list):
        piece = json.dumps(piece)
    if not isinstance(piece, str) or not piece:
        return ""
    call.pieces.append(piece)
    return piece


def _find_call(completion: StreamedCompletion, index: Any, id: str, name: str) -> StreamedToolCall:
    """The call that a piece belongs to: by its index, or the last one where there is none."""
    place = index if isinstance(index, int) else None
    known = completion.places.get(place)
    if known is None or _is_another_call(known, id, name):
        known = StreamedToolCall()
        completion.calls.append(known)
        completion.places[place] = completion.places[None] = known
    known.name, known.id = known.name or name, known.id or id
    return known


def _is_another_call(known: StreamedToolCall, id: str, name: str) -> bool:
    """Some servers send whole calls, all with the same index and without ids; others repeat the name with every piece of one."""
    if id and known.id:
        return id != known.id
    return bool(name and known.name) and (name != known.name or _is_complete_json(known.arguments))


def _is_complete_json(arguments: str) -> bool:
    try:
        return arguments.rstrip().endswith("}") and isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


INLINE_THINKING_PATTERN = re.compile(r"\s*<think>(.*?)</think>\s*", re.DOTALL)


def reply_from_completion(completion: StreamedCompletion, asked: str, spoken: bool) -> tuple[Reply, bool]:
    """The reply, and whether it was cut at its limit. `asked`: the model's name; `spoken`: its calls are in its text."""
    kind, _, model = asked.partition(":")
    answered = (
        PurePosixPath(completion.model).name if completion.model.startswith("/") else completion.model
    )  # llama.cpp: a private path
    named = f"{kind}:{answered or model}"
    aloud, text = _split_inline_thinking("".join(completion.text))
    cut = completion.finish == "length"
    reply = (
        reply_from_text(text)
        if spoken and not cut
        else Reply(text, tuple(action_from_arguments(call.name, call.arguments) for call in completion.calls))
    )
    notes = ["".join(completion.refusal)]
    if completion.finish == "content_filter":
        notes.append(DECLINED_NOTE)
    thought = "\n".join(part for part in (reply.thought, *notes) if part)
    return Reply(
        thought,
        reply.actions,
        usage_from_openai(completion.usage),
        named,
        thinking=(*_thinking_from_completion(completion), *aloud),
    ), cut


def _split_inline_thinking(text: str) -> tuple[tuple[Thinking, ...], str]:
    """Thinking that a server has left at the beginning of the text, and the text without it."""
    match = INLINE_THINKING_PATTERN.match(text)
    return ((Thinking(match[1].strip()),), text[match.end() :]) if match else ((), text)


def _thinking_from_completion(completion: StreamedCompletion) -> tuple[Thinking, ...]:
    if completion.details:
        return tuple(thinking_from_detail(detail) for detail in completion.details.values())
    return (Thinking("".join(completion.reasoning)),) if completion.reasoning else ()


def usage_from_openai(counted: Any) -> Usage:
    """What a cache took and gave is part of the input, what was thought part of the output, whatever the server calls them."""
    if counted is None:
        return Usage()
    sent, made = (
        sum_reported_tokens(read_field(counted, "prompt_tokens")),
        sum_reported_tokens(read_field(counted, "completion_tokens")),
    )
    details = read_field(counted, "prompt_tokens_details")
    cached = min(
        sent,
        sum_reported_tokens(read_field(details, "cached_tokens"))
        or sum_reported_tokens(read_field(counted, "prompt_cache_hit_tokens")),
    )
    written = sum_reported_tokens(read_field(details, "cache_write_tokens")) or sum_reported_tokens(
        read_field(counted, "cache_creation_input_tokens")
    )
    thought = sum_reported_tokens(read_field(read_field(counted, "completion_tokens_details"), "reasoning_tokens"))
    return Usage(sent, made, cached, min(written, sent - cached), min(thought, made))
