"""The shape of a template: which keys there are, and what each may hold."""

from typing import TYPE_CHECKING

from afresh.actions.tools.registry import TOOLS
from afresh.config.yaml_values import (
    InvalidValue,
    MappingShape,
    line_of_node,
    make_choice_rule,
    make_integer_rule,
    make_number_rule,
    make_text_rule,
    read_text,
)
from afresh.core.prompt import Tier
from afresh.core.strategy_state import STRATEGY_NAMES
from afresh.core.template import CALL_KINDS, CODE_PHASES, MIN_THINKING_TOKENS, REPORT_PHASES, REQUIRED_SECTIONS, SECTION_ORDER

if TYPE_CHECKING:
    from yaml.nodes import Node


MAX_GUIDANCE_CHARACTERS = 2_000
MAX_ABOUT_CHARACTERS = 100
"""Characters."""
PHASE_NAMES = tuple(dict.fromkeys((*CODE_PHASES, *REPORT_PHASES)))
TOOL_NAMES = tuple(tool.schema.name for tool in TOOLS)
TIERS_BY_NAME = {tier.name.lower(): tier for tier in Tier}


def read_about_line(node: "Node") -> str:
    said = make_text_rule(MAX_ABOUT_CHARACTERS)(node)
    if "\n" in said:
        raise InvalidValue(line_of_node(node), "should be one line")
    return said


def read_thinking_tokens(node: "Node") -> int:
    held = make_integer_rule(0, 100_000)(node)
    if 0 < held < MIN_THINKING_TOKENS:
        raise InvalidValue(
            line_of_node(node), f"should be 0 or at least {MIN_THINKING_TOKENS:,} tokens: providers take no less, {held} is not"
        )
    return held


def read_tool_names(node: "Node") -> tuple[str, ...]:
    from yaml.nodes import SequenceNode

    if not isinstance(node, SequenceNode):
        raise InvalidValue(line_of_node(node), "should be a list of tools")
    named = tuple(make_choice_rule("tool", TOOL_NAMES)(item) for item in node.value)
    if twice := next((name for name in named if named.count(name) > 1), ""):
        raise InvalidValue(line_of_node(node), f"{twice} is given twice", "take one of them out")
    return named


def read_tier(node: "Node") -> Tier:
    return TIERS_BY_NAME[make_choice_rule("tier", tuple(TIERS_BY_NAME))(node)]


def read_fixed_tier(node: "Node") -> Tier:
    """A template may say that a fixed section is always there; it may not say anything else of it."""
    held = read_tier(node)
    if held is not Tier.ALWAYS:
        raise InvalidValue(
            line_of_node(node), "is always shown: without it the model would lose the task or what has failed", "take it out"
        )
    return held


def read_free_tier(node: "Node") -> Tier:
    held = read_tier(node)
    if held is Tier.ALWAYS:
        raise InvalidValue(
            line_of_node(node),
            f"can't be always shown: it may grow past any ceiling; only {', '.join(REQUIRED_SECTIONS)} are",
            "use phase",
        )
    return held


def refuse_share(node: "Node") -> float:
    raise InvalidValue(line_of_node(node), "is always shown whole, so it has no share and no cap", "take it out")


FIXED_SECTION_SHAPE = MappingShape(
    "field", "{tier: always}", {"tier": read_fixed_tier, "share": refuse_share, "cap": refuse_share}
)
FREE_SECTION_SHAPE = MappingShape(
    "field",
    "{tier: demand, share: 0.3}",
    {"tier": read_free_tier, "share": make_number_rule(0, 1), "cap": make_number_rule(0, 1)},
)
SECTION_SHAPE = MappingShape(
    "section",
    "{files: {share: 0.6}}",
    {name: FIXED_SECTION_SHAPE if name in REQUIRED_SECTIONS else FREE_SECTION_SHAPE for name in SECTION_ORDER},
)
PHASE_SHAPE = MappingShape(
    "field",
    "{steps: 12, guidance: …}",
    {
        "steps": make_integer_rule(1, 10_000),
        "guidance": make_text_rule(MAX_GUIDANCE_CHARACTERS),
        "tools": read_tool_names,
        "reserve": make_number_rule(0.05, 0.75),
        "thinking": read_thinking_tokens,
        "sections": SECTION_SHAPE,
    },
)
TEMPLATE_SHAPE = MappingShape(
    "field",
    "{extends: base, guidance: …}",
    {
        "extends": read_text,
        "kind": make_choice_rule("kind", CALL_KINDS),
        "about": read_about_line,
        "ceiling": make_integer_rule(500, 1_000_000),
        "recall": make_integer_rule(200, 100_000),
        "reserve": make_number_rule(0.05, 0.75),
        "thinking": read_thinking_tokens,
        "instructions": make_number_rule(0.05, 0.5),
        "tools": read_tool_names,
        "sections": SECTION_SHAPE,
        "guidance": make_text_rule(MAX_GUIDANCE_CHARACTERS),
        "phases": MappingShape("phase", "{understand: {steps: 12}}", dict.fromkeys(PHASE_NAMES, PHASE_SHAPE)),
        "compaction": MappingShape(
            "field",
            "{keep_steps: 8}",
            {
                "full": make_number_rule(0.1, 1),
                "left": make_number_rule(0, 1),
                "keep_steps": make_integer_rule(1, 10_000),
                "keep_passages": make_integer_rule(1, 100_000),
                "oldest": make_integer_rule(0, 1_000_000),
            },
        ),
        "loop": make_choice_rule("loop", STRATEGY_NAMES),
        "pace": MappingShape(
            "field",
            "{item_steps: 8}",
            {
                "item_steps": make_integer_rule(0, 10_000),
                "replans": make_integer_rule(0, 100),
                "grace": make_integer_rule(0, 10_000),
            },
        ),
        "weights": MappingShape("weight", "{age: 1.5}", {}, make_number_rule(-1e12, 1e12)),
    },
)
