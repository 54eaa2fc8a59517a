"""A request as Anthropic's messages take it: content blocks, tool results, and where its cache may break."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise, zip_longest
from typing import Any

from afresh.core.action import Action
from afresh.core.prompt import Request, ToolExchange, ToolResult
from afresh.core.reply import Thinking
from afresh.models.providers.connection import find_by_longest_prefix

MIN_THINKING_TOKENS = 1_024
MIN_ANSWER_TOKENS = 256
"""The API takes no smaller budget; and tokens of the reserve that are kept for the answer after it."""
EFFORT_OF_THINKING_TOKENS = ((4_096, "low"), (16_384, "medium"))
"""Families without a budget get an effort instead; a larger budget than these is `high`."""


class ThinkingMode(StrEnum):
    NEVER = ""
    BUDGET = "enabled"
    ADAPTIVE = "adaptive"


class ThinkingOff(StrEnum):
    """How a family is kept from thinking: it does not unless it is asked to, by a word, or not at all, only to think little."""

    UNASKED = ""
    DISABLED = "disabled"
    BETWEEN_TOOLS = "between_tools"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class ClaudeFamily:
    window: int = 200_000
    thinks: ThinkingMode = ThinkingMode.ADAPTIVE
    off: ThinkingOff = ThinkingOff.UNASKED
    bound: bool = False
    """Its thinking is taken back only after the very words that it came from. Here every window is built new, so it is not."""


_FAMILY_WITHOUT_THINKING = ClaudeFamily(thinks=ThinkingMode.NEVER)
_FAMILY_WITH_BUDGET = ClaudeFamily(thinks=ThinkingMode.BUDGET)
_MILLION_TOKENS = 1_000_000
CLAUDE_FAMILIES = {
    "claude-": ClaudeFamily(),
    "claude-2": _FAMILY_WITHOUT_THINKING,
    "claude-2-0": ClaudeFamily(100_000, ThinkingMode.NEVER),
    "claude-instant": ClaudeFamily(100_000, ThinkingMode.NEVER),
    "claude-3": _FAMILY_WITHOUT_THINKING,
    "claude-3-7": _FAMILY_WITH_BUDGET,
    "claude-opus-4": _FAMILY_WITH_BUDGET,
    "claude-sonnet-4": _FAMILY_WITH_BUDGET,
    "claude-haiku-4": _FAMILY_WITH_BUDGET,
    "claude-opus-4-6": ClaudeFamily(_MILLION_TOKENS),
    "claude-opus-4-7": ClaudeFamily(_MILLION_TOKENS),
    "claude-opus-4-8": ClaudeFamily(_MILLION_TOKENS),
    "claude-sonnet-4-6": ClaudeFamily(_MILLION_TOKENS),
    "claude-opus-5": ClaudeFamily(_MILLION_TOKENS, off=ThinkingOff.DISABLED),
    "claude-sonnet-5": ClaudeFamily(_MILLION_TOKENS, off=ThinkingOff.DISABLED),
    "claude-haiku-5": ClaudeFamily(_MILLION_TOKENS, off=ThinkingOff.DISABLED, bound=True),
    "claude-sonnet-5-5": ClaudeFamily(_MILLION_TOKENS, off=ThinkingOff.BETWEEN_TOOLS, bound=True),
    "claude-opus-5-5": ClaudeFamily(_MILLION_TOKENS, off=ThinkingOff.LOW, bound=True),
    "claude-fable": ClaudeFamily(_MILLION_TOKENS, off=ThinkingOff.LOW, bound=True),
    "claude-mythos": ClaudeFamily(_MILLION_TOKENS, off=ThinkingOff.LOW, bound=True),
}
TOOL_PROMPT_TOKENS = {
    "claude-": 346,
    "claude-3-opus": 530,
    "claude-3-sonnet": 159,
    "claude-3-haiku": 264,
    "claude-3-5-haiku": 264,
}
"""A system text of the provider's own that comes with any tools; its length is published for some models."""
MESSAGE_FRAMING_TOKENS = 14
"""Tokens around the system text and the message, roughly."""


def normalize_claude_name(name: str) -> str:
    """`anthropic/claude-opus-4.5` of a gateway is `claude-opus-4-5`."""
    return name[max(name.find("claude-"), 0) :].replace(".", "-")


def find_claude_family(name: str) -> ClaudeFamily:
    return find_by_longest_prefix(normalize_claude_name(name), CLAUDE_FAMILIES, CLAUDE_FAMILIES["claude-"])


def count_claude_framing(name: str, tools: bool = True) -> int:
    """Tokens that the provider adds to any request."""
    known = find_by_longest_prefix(normalize_claude_name(name), TOOL_PROMPT_TOKENS, TOOL_PROMPT_TOKENS["claude-"])
    return MESSAGE_FRAMING_TOKENS + (known if tools else 0)


def make_thinking_fields(name: str, budget: int, reserve: int) -> dict[str, Any]:
    """The fields of a request that make the model think with about this budget, or keep it from it when there is none."""
    known = find_claude_family(name)
    if budget and known.thinks is ThinkingMode.BUDGET:
        budget = min(max(budget, MIN_THINKING_TOKENS), reserve - MIN_ANSWER_TOKENS)
        return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= MIN_THINKING_TOKENS else {}
    if budget and known.thinks is ThinkingMode.ADAPTIVE:
        effort = next((effort for most, effort in EFFORT_OF_THINKING_TOKENS if budget <= most), "high")
        return {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": effort}}
    if known.off is ThinkingOff.LOW:
        return {"output_config": {"effort": "low"}}
    return {"thinking": {"type": str(known.off)}} if known.off else {}


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
    first = _split_at_breaks(request.message, request.breaks, marks - 1 if request.turns else marks)
    messages: list[AnthropicBody] = [{"role": "user", "content": first}]
    for number, turn in enumerate(request.turns, 1):
        said, came = _make_assistant_blocks(turn, number, thinker), _make_result_blocks(turn, number)
        if said and came:
            messages += [{"role": "assistant", "content": said}, {"role": "user", "content": came}]
        else:
            messages[-1]["content"] += came
    if request.turns:
        messages[-1]["content"][-1] |= CACHE_MARK
    if request.footer.strip():
        messages[-1]["content"].append(_make_text_block(request.footer))
    return messages


def _make_assistant_blocks(turn: ToolExchange, number: int, thinker: str) -> list[AnthropicBody]:
    blocks = [_make_thinking_block(block) for block in _own_thinking(turn, thinker)]
    blocks += [_make_text_block(turn.reply.thought)] if turn.reply.thought.strip() else []
    return blocks + [_make_tool_use(action, f"toolu_{number}_{place}") for place, action in enumerate(turn.reply.actions, 1)]


def _make_result_blocks(turn: ToolExchange, number: int) -> list[AnthropicBody]:
    """A result for every call: the API rejects a call without one."""
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
    """The message in blocks that end at the breaks, with marks on some of them: the blocks are the same however many marks there
    are, since a cache holds blocks. The API takes no block of blanks: such a one is part of the one before."""
    ends = [place for place in breaks if place <= len(message) and message[:place].strip()]
    marked = spread_cache_breaks(ends, marks)
    blocks: list[AnthropicBody] = []
    edges = sorted({0, *ends, len(message)})
    for start, end in pairwise(edges):
        if not blocks or message[start:end].strip():
            blocks.append(_make_text_block(message[start:end]) | (CACHE_MARK if end in marked else {}))
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
    values: AnthropicBody = {"type": "tool_result", "tool_use_id": name}
    content = {"content": result.text} if result.text.strip() else {}
    return values | content | ({} if result.ok else {"is_error": True})


def _make_thinking_block(block: Thinking) -> AnthropicBody:
    if block.redacted:
        return {"type": "redacted_thinking", "data": block.text}
    return {"type": "thinking", "thinking": block.text, "signature": block.signature}


def _make_text_block(text: str) -> AnthropicBody:
    return {"type": "text", "text": text}
