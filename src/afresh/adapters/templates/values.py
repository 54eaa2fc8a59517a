"""The shape of a template: which keys there are, and what each may hold."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from afresh.adapters.templates.fault import InvalidValue, suggest_known_word
from afresh.adapters.tools import TOOLS
from afresh.domain.strategy import STRATEGY_NAMES
from afresh.domain.template import REQUIRED_SECTIONS, CODE_PHASES, CALL_KINDS, MIN_THINKING_TOKENS, REPORT_PHASES, SECTION_ORDER
from afresh.domain.text import to_one_line, escape_hidden
from afresh.domain.window import Tier

if TYPE_CHECKING:
    from yaml.nodes import Node

ValueRule = Callable[["Node"], Any]
TEXT_TAG = "tag:yaml.org,2002:str"
NUMBER_TAGS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
MAX_GUIDANCE_CHARACTERS = 2_000
MAX_ABOUT_CHARACTERS = 100
"""Characters."""
PHASE_NAMES = tuple(dict.fromkeys((*CODE_PHASES, *REPORT_PHASES)))
NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]{0,59}")
TOOL_NAMES = tuple(tool.schema.name for tool in TOOLS)
TIERS_BY_NAME = {tier.name.lower(): tier for tier in Tier}


@dataclass(frozen=True, slots=True)
class MappingShape:
    """A mapping: what its keys are called, and a rule for each, or one rule for all where the keys are free."""

    noun: str
    example: str
    fields: "Mapping[str, ValueRule | MappingShape]"
    any: ValueRule | None = None

    def rule(self, name: str) -> "ValueRule | MappingShape | None":
        return self.any if self.any and NAME_PATTERN.fullmatch(name) else self.fields.get(name)

    def advice(self, wrong: str) -> str:
        return "use small letters, digits and _" if self.any else suggest_known_word(wrong, self.fields)


def read_scalar(node: "Node", wanted: str) -> str:
    """A scalar as it is written."""
    from yaml.nodes import ScalarNode

    if not isinstance(node, ScalarNode):
        raise InvalidValue(line_of_node(node), f"should be {wanted}")
    return str(node.value)


def quote_shortened(said: str) -> str:
    return repr(to_one_line(said, 60))


def line_of_node(node: "Node") -> int:
    return node.start_mark.line + 1


def read_text(node: "Node") -> str:
    said = read_scalar(node, "a text")
    if node.tag != TEXT_TAG:
        raise InvalidValue(
            line_of_node(node), f"should be a text, {quote_shortened(said)} is not" if said else "is empty", "put it in quotes"
        )
    return escape_hidden(said.strip())


def make_text_rule(limit: int) -> ValueRule:
    def rule(node: "Node") -> str:
        said = read_text(node)
        if (over := len(said) - limit) > 0:
            raise InvalidValue(
                line_of_node(node), f"has {len(said):,} characters, {over:,} over the {limit:,} allowed", "say it shorter"
            )
        return said

    return rule


def read_about_line(node: "Node") -> str:
    said = make_text_rule(MAX_ABOUT_CHARACTERS)(node)
    if "\n" in said:
        raise InvalidValue(line_of_node(node), "should be one line")
    return said


def make_number_rule(low: float, high: float) -> ValueRule:
    def rule(node: "Node") -> float:
        said = read_scalar(node, "a number")
        held = float(said) if re.fullmatch(r"[-+]?\d{1,15}(\.\d{0,15})?", said) and node.tag in NUMBER_TAGS else None
        if held is None or not isfinite(held) or not low <= held <= high:
            wanted = "a number" if high > 1e9 else f"a number from {low:g} to {high:g}"
            raise InvalidValue(line_of_node(node), f"should be {wanted}, {quote_shortened(said)} is not")
        return held

    return rule


def make_integer_rule(low: int, high: int) -> ValueRule:
    def rule(node: "Node") -> int:
        said = read_scalar(node, "a whole number")
        held = int(said) if re.fullmatch(r"\d{1,9}", said) and node.tag in NUMBER_TAGS else -1
        if not low <= held <= high:
            raise InvalidValue(
                line_of_node(node), f"should be a whole number from {low:,} to {high:,}, {quote_shortened(said)} is not"
            )
        return held

    return rule


def read_thinking_tokens(node: "Node") -> int:
    held = make_integer_rule(0, 100_000)(node)
    if 0 < held < MIN_THINKING_TOKENS:
        raise InvalidValue(
            line_of_node(node), f"should be 0 or at least {MIN_THINKING_TOKENS:,} tokens: providers take no less, {held} is not"
        )
    return held


def make_choice_rule(noun: str, known: tuple[str, ...]) -> ValueRule:
    def rule(node: "Node") -> str:
        said = read_text(node)
        if said not in known:
            raise InvalidValue(line_of_node(node), f"there is no {noun} {quote_shortened(said)}", suggest_known_word(said, known))
        return said

    return rule


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
