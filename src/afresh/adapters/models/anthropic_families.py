"""What is published of Claude models: how much they take, and how each family wants to be told to think or not to."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

LEAST_BUDGET = 1_024
ANSWER = 256
"""The API takes no smaller budget; and tokens of the reserve that are kept for the answer after it."""
EFFORTS = ((4_096, "low"), (16_384, "medium"))
"""Families without a budget are told by how much effort; a larger budget than these stands for `high`."""


class Mode(StrEnum):
    NEVER = ""
    BUDGET = "enabled"
    ADAPTIVE = "adaptive"


class Off(StrEnum):
    """How a family is kept from thinking: it does not unless it is asked to, by a word, or not at all, only to think little."""

    UNASKED = ""
    DISABLED = "disabled"
    BETWEEN_TOOLS = "between_tools"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Family:
    window: int = 200_000
    thinks: Mode = Mode.ADAPTIVE
    off: Off = Off.UNASKED
    bound: bool = False
    """Its thinking is taken back only after the very words that it came from. Here every window is built new, so it is not."""


_OLD = Family(thinks=Mode.NEVER)
_BUDGET = Family(thinks=Mode.BUDGET)
_MILLION = 1_000_000
FAMILIES = {
    "claude-": Family(),
    "claude-2": _OLD,
    "claude-2-0": Family(100_000, Mode.NEVER),
    "claude-instant": Family(100_000, Mode.NEVER),
    "claude-3": _OLD,
    "claude-3-7": _BUDGET,
    "claude-opus-4": _BUDGET,
    "claude-sonnet-4": _BUDGET,
    "claude-haiku-4": _BUDGET,
    "claude-opus-4-6": Family(_MILLION),
    "claude-opus-4-7": Family(_MILLION),
    "claude-opus-4-8": Family(_MILLION),
    "claude-sonnet-4-6": Family(_MILLION),
    "claude-opus-5": Family(_MILLION, off=Off.DISABLED),
    "claude-sonnet-5": Family(_MILLION, off=Off.DISABLED),
    "claude-haiku-5": Family(_MILLION, off=Off.DISABLED, bound=True),
    "claude-sonnet-5-5": Family(_MILLION, off=Off.BETWEEN_TOOLS, bound=True),
    "claude-opus-5-5": Family(_MILLION, off=Off.LOW, bound=True),
    "claude-fable": Family(_MILLION, off=Off.LOW, bound=True),
    "claude-mythos": Family(_MILLION, off=Off.LOW, bound=True),
}
TOOL_PROMPTS = {"claude-": 346, "claude-3-opus": 530, "claude-3-sonnet": 159, "claude-3-haiku": 264, "claude-3-5-haiku": 264}
"""A system text of the provider's own that comes with any tools; its length is published for some models."""


def plain(name: str) -> str:
    """`anthropic/claude-opus-4.5` of a gateway is `claude-opus-4-5`."""
    return name[max(name.find("claude-"), 0) :].replace(".", "-")


def family(name: str) -> Family:
    return FAMILIES[max((prefix for prefix in FAMILIES if plain(name).startswith(prefix)), key=len, default="claude-")]


def thinking(name: str, budget: int, reserve: int) -> dict[str, Any]:
    """The fields of a request that make the model think with about this budget, or keep it from it when there is none."""
    known = family(name)
    if budget and known.thinks is Mode.BUDGET:
        budget = min(max(budget, LEAST_BUDGET), reserve - ANSWER)
        return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= LEAST_BUDGET else {}
    if budget and known.thinks is Mode.ADAPTIVE:
        effort = next((effort for most, effort in EFFORTS if budget <= most), "high")
        return {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": effort}}
    if known.off is Off.LOW:
        return {"output_config": {"effort": "low"}}
    return {"thinking": {"type": str(known.off)}} if known.off else {}
