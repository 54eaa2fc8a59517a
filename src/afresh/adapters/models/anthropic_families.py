"""What is published of Claude models: how much they take, and how each family wants to be told to think or not to."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

MIN_THINKING_TOKENS = 1_024
MIN_ANSWER_TOKENS = 256
"""The API takes no smaller budget; and tokens of the reserve that are kept for the answer after it."""
EFFORT_OF_THINKING_TOKENS = ((4_096, "low"), (16_384, "medium"))
"""Families without a budget are told by how much effort; a larger budget than these stands for `high`."""


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


def normalize_claude_name(name: str) -> str:
    """`anthropic/claude-opus-4.5` of a gateway is `claude-opus-4-5`."""
    return name[max(name.find("claude-"), 0) :].replace(".", "-")


def find_claude_family(name: str) -> ClaudeFamily:
    return CLAUDE_FAMILIES[
        max((prefix for prefix in CLAUDE_FAMILIES if normalize_claude_name(name).startswith(prefix)), key=len, default="claude-")
    ]


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
