"""A request as Anthropic's messages take it: content blocks, tool results, and where its cache may break."""

from collections.abc import Sequence
from itertools import pairwise, zip_longest
from typing import Any

from afresh.adapters.models.anthropic_families import (
    ThinkingMode,
    find_claude_family,
    normalize_claude_name,
    make_thinking_fields,
)
from afresh.domain.action import Action, Thinking
from afresh.domain.window import ToolExchange, Request, ToolResult

AnthropicBody = dict[str, Any]
CACHE_MARK: AnthropicBody = {"cache_control": {"type": "ephemeral"}}
MAX_CACHE_MARKS = 4
NOT_CARRIED_OUT = ToolResult("not carried out", ok=False)


def make_anthropic_body(model: str, request: Request) -> AnthropicBody:
    """What is asked, in the order in which it is cached: tools, system, messages. The mark on the system covers the tools."""
    asked: AnthropicBody = {"model": model, "messages": []}
    if request.tools:
        asked["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)} for tool in request.tools
        ]
    if request.system:
        asked["system"] = [_make_text_block(request.system) | CACHE_MARK]
    elif request.tools:
        asked["tools"][-1] |= CACHE_MARK
    marks = MAX_CACHE_MARKS - (1 if request.system or request.tools else 0)
    how = make_thinking_fields(model, _choose_thinking_budget(model, request), request.reserve)
    kept = how.get("thinking", {}).get("type") in (ThinkingMode.BUDGET, ThinkingMode.ADAPTIVE)
    asked["messages"] = _make_messages(request, marks, model if kept else "")
    return asked | how


def _choose_thinking_budget(model: str, request: Request) -> int:
    """Where a budget is set, thinking can't begin in the middle of tool use: the thinking before the calls must be there."""
    if find_claude_family(model).thinks is not ThinkingMode.BUDGET or not request.turns or not request.turns[-1].reply.actions:
        return request.thinking
    return request.thinking if _own_thinking(request.turns[-1], model) else 0


def _make_messages(request: Request, marks: int, thinker: str) -> list[AnthropicBody]:
    """`thinker`: the model to whom its earlier thinking is sent back. The last word is always the user's."""
    first = _split_at_breaks(request.message, request.breaks, marks)
    messages: list[AnthropicBody] = [{"role": "user", "content": first}]
    for number, turn in enumerate(request.turns, 1):
        said, came = _make_assistant_blocks(turn, number, thinker), _make_result_blocks(turn, number)
        if said and came:
            messages += [{"role": "assistant", "content": said}, {"role": "user", "content": came}]
        else:
            messages[-1]["content"] += came
    return messages


def _make_assistant_blocks(turn: ToolExchange, number: int, thinker: str) -> list[AnthropicBody]:
    blocks = [_make_thinking_block(block) for block in _own_thinking(turn, thinker)]
    blocks += [_make_text_block(turn.reply.thought)] if turn.reply.thought.strip() else []
    return blocks + [_make_tool_use(action, f"toolu_{number}_{place}") for place, action in enumerate(turn.reply.actions, 1)]


def _make_result_blocks(turn: ToolExchange, number: int) -> list[AnthropicBody]:
    """A result for every call, whatever came of it: the API takes no call without one."""
    calls = turn.reply.actions
    pairs = zip_longest(calls, turn.results[: len(calls)], fillvalue=NOT_CARRIED_OUT)
    blocks = [_make_tool_result(result, f"toolu_{number}_{place}") for place, (_, result) in enumerate(pairs, 1)]
    return blocks + ([_make_text_block(turn.text)] if turn.text.strip() else [])


def _own_thinking(turn: ToolExchange, model: str) -> Sequence[Thinking]:
    """The thinking of a turn that this model can be sent back: its own, and signed."""
    spoken = normalize_claude_name(turn.reply.model)
    if not model or find_claude_family(model).bound or not spoken.startswith(normalize_claude_name(model)):
        return ()
    return [block for block in turn.reply.thinking if block.redacted or block.signature]


def _split_at_breaks(message: str, breaks: Sequence[int], marks: int) -> list[AnthropicBody]:
    """The message in blocks that end at the breaks. The API takes no block of blanks: such a one is part of the one before."""
    ends = spread_cache_breaks([place for place in breaks if place <= len(message) and message[:place].strip()], marks)
    blocks: list[AnthropicBody] = []
    for start, end in pairwise((0, *ends, len(message))):
        if not blocks or message[start:end].strip():
            blocks.append(_make_text_block(message[start:end]) | (CACHE_MARK if end in ends else {}))
        else:
            blocks[-1]["text"] += message[start:end]
    return blocks


def spread_cache_breaks(breaks: Sequence[int], most: int) -> Sequence[int]:
    """The first is the likeliest to be found again, the last saves the most; those between are spread evenly."""
    if len(breaks) <= most:
        return breaks
    if most < 2:
        return breaks[:most]
    return [breaks[place * (len(breaks) - 1) // (most - 1)] for place in range(most)]


def _make_tool_use(action: Action, name: str) -> AnthropicBody:
    return {"type": "tool_use", "id": name, "name": action.tool or "unnamed", "input": dict(action.args)}


def _make_tool_result(result: ToolResult, name: str) -> AnthropicBody:
    told: AnthropicBody = {"type": "tool_result", "tool_use_id": name}
    content = {"content": result.text} if result.text.strip() else {}
    return told | content | ({} if result.ok else {"is_error": True})


def _make_thinking_block(block: Thinking) -> AnthropicBody:
    if block.redacted:
        return {"type": "redacted_thinking", "data": block.text}
    return {"type": "thinking", "thinking": block.text, "signature": block.signature}


def _make_text_block(text: str) -> AnthropicBody:
    return {"type": "text", "text": text}
