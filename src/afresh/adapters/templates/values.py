"""The shape of a template: which keys there are, and what each may hold."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from afresh.adapters.templates.fault import Wrong, nearest
from afresh.adapters.tools import TOOLS
from afresh.domain.strategy import LOOPS
from afresh.domain.template import ALWAYS, CODE_PHASES, KINDS, LEAST_THINKING, REPORT_PHASES, SECTIONS
from afresh.domain.text import one_line, visible
from afresh.domain.window import Tier

if TYPE_CHECKING:
    from yaml.nodes import Node

Rule = Callable[["Node"], Any]
TEXT = "tag:yaml.org,2002:str"
NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
GUIDANCE = 2_000
ABOUT = 100
"""Characters."""
PHASES = tuple(dict.fromkeys((*CODE_PHASES, *REPORT_PHASES)))
NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
TOOL_NAMES = tuple(tool.schema.name for tool in TOOLS)
TIERS = {tier.name.lower(): tier for tier in Tier}


@dataclass(frozen=True, slots=True)
class Shape:
    """A mapping: what its keys are called, and a rule for each, or one rule for all where the keys are free."""

    noun: str
    example: str
    fields: "Mapping[str, Rule | Shape]"
    any: Rule | None = None

    def rule(self, name: str) -> "Rule | Shape | None":
        return self.any if self.any and NAME.fullmatch(name) else self.fields.get(name)

    def advice(self, wrong: str) -> str:
        return "use small letters, digits and _" if self.any else nearest(wrong, self.fields)


def plain(node: "Node", wanted: str) -> str:
    """A scalar as it is written."""
    from yaml.nodes import ScalarNode

    if not isinstance(node, ScalarNode):
        raise Wrong(line(node), f"should be {wanted}")
    return str(node.value)


def short(said: str) -> str:
    return repr(one_line(said, 60))


def line(node: "Node") -> int:
    return node.start_mark.line + 1


def text(node: "Node") -> str:
    said = plain(node, "a text")
    if node.tag != TEXT:
        raise Wrong(line(node), f"should be a text, {short(said)} is not" if said else "is empty", "put it in quotes")
    return visible(said.strip())


def at_most(limit: int) -> Rule:
    def rule(node: "Node") -> str:
        said = text(node)
        if (over := len(said) - limit) > 0:
            raise Wrong(line(node), f"has {len(said):,} characters, {over:,} over the {limit:,} allowed", "say it shorter")
        return said

    return rule


def about(node: "Node") -> str:
    said = at_most(ABOUT)(node)
    if "\n" in said:
        raise Wrong(line(node), "should be one line")
    return said


def number(low: float, high: float) -> Rule:
    def rule(node: "Node") -> float:
        said = plain(node, "a number")
        held = float(said) if re.fullmatch(r"[-+]?\d{1,15}(\.\d{0,15})?", said) and node.tag in NUMBERS else None
        if held is None or not isfinite(held) or not low <= held <= high:
            wanted = "a number" if high > 1e9 else f"a number from {low:g} to {high:g}"
            raise Wrong(line(node), f"should be {wanted}, {short(said)} is not")
        return held

    return rule


def whole(low: int, high: int) -> Rule:
    def rule(node: "Node") -> int:
        said = plain(node, "a whole number")
        held = int(said) if re.fullmatch(r"\d{1,9}", said) and node.tag in NUMBERS else -1
        if not low <= held <= high:
            raise Wrong(line(node), f"should be a whole number from {low:,} to {high:,}, {short(said)} is not")
        return held

    return rule


def thinking(node: "Node") -> int:
    held = whole(0, 100_000)(node)
    if 0 < held < LEAST_THINKING:
        raise Wrong(line(node), f"should be 0 or at least {LEAST_THINKING:,} tokens: providers take no less, {held} is not")
    return held


def one_of(noun: str, known: tuple[str, ...]) -> Rule:
    def rule(node: "Node") -> str:
        said = text(node)
        if said not in known:
            raise Wrong(line(node), f"there is no {noun} {short(said)}", nearest(said, known))
        return said

    return rule


def tools(node: "Node") -> tuple[str, ...]:
    from yaml.nodes import SequenceNode

    if not isinstance(node, SequenceNode):
        raise Wrong(line(node), "should be a list of tools")
    named = tuple(one_of("tool", TOOL_NAMES)(item) for item in node.value)
    if twice := next((name for name in named if named.count(name) > 1), ""):
        raise Wrong(line(node), f"{twice} is given twice", "take one of them out")
    return named


def tier(node: "Node") -> Tier:
    return TIERS[one_of("tier", tuple(TIERS))(node)]


def fixed_tier(node: "Node") -> Tier:
    """A template may say that a fixed section is always there; it may not say anything else of it."""
    held = tier(node)
    if held is not Tier.ALWAYS:
        raise Wrong(line(node), "is always shown: without it the model would lose the task or what has failed", "take it out")
    return held


def free_tier(node: "Node") -> Tier:
    held = tier(node)
    if held is Tier.ALWAYS:
        raise Wrong(line(node), f"can't be always shown: it may grow past any ceiling; only {', '.join(ALWAYS)} are", "use phase")
    return held


def no_part(node: "Node") -> float:
    raise Wrong(line(node), "is always shown whole, so it has no share and no cap", "take it out")


FIXED = Shape("field", "{tier: always}", {"tier": fixed_tier, "share": no_part, "cap": no_part})
FREE = Shape("field", "{tier: demand, share: 0.3}", {"tier": free_tier, "share": number(0, 1), "cap": number(0, 1)})
SECTION_SHAPE = Shape("section", "{files: {share: 0.6}}", {name: FIXED if name in ALWAYS else FREE for name in SECTIONS})
PHASE_SHAPE = Shape(
    "field",
    "{steps: 12, guidance: …}",
    {
        "steps": whole(1, 10_000),
        "guidance": at_most(GUIDANCE),
        "tools": tools,
        "reserve": number(0.05, 0.75),
        "thinking": thinking,
        "sections": SECTION_SHAPE,
    },
)
SHAPE = Shape(
    "field",
    "{extends: base, guidance: …}",
    {
        "extends": text,
        "kind": one_of("kind", KINDS),
        "about": about,
        "ceiling": whole(500, 1_000_000),
        "recall": whole(200, 100_000),
        "reserve": number(0.05, 0.75),
        "thinking": thinking,
        "instructions": number(0.05, 0.5),
        "tools": tools,
        "sections": SECTION_SHAPE,
        "guidance": at_most(GUIDANCE),
        "phases": Shape("phase", "{understand: {steps: 12}}", dict.fromkeys(PHASES, PHASE_SHAPE)),
        "compaction": Shape(
            "field",
            "{keep_steps: 8}",
            {
                "full": number(0.1, 1),
                "left": number(0, 1),
                "keep_steps": whole(1, 10_000),
                "keep_passages": whole(1, 100_000),
                "oldest": whole(0, 1_000_000),
            },
        ),
        "loop": one_of("loop", LOOPS),
        "pace": Shape(
            "field",
            "{item_steps: 8}",
            {"item_steps": whole(0, 10_000), "replans": whole(0, 100), "grace": whole(0, 10_000)},
        ),
        "weights": Shape("weight", "{age: 1.5}", {}, number(-1e12, 1e12)),
    },
)
