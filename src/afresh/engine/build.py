"""Choose what the model sees. Pure: the same memory, template, tools, ceiling and counter give the same bytes."""

import json
from collections.abc import Sequence

from afresh.domain.codec import encode
from afresh.domain.memory import Memory
from afresh.domain.template import Layout, Template
from afresh.domain.window import Request, Section, Tier, ToolSchema, Window
from afresh.engine.allot import allot, page
from afresh.engine.phase import urged, where
from afresh.engine.sections import drafts
from afresh.engine.tokens import FRAMING, Counter
from afresh.errors import OverCeiling
from afresh.ports import Tool

TOOL_FRAMING = 6


def offered(layout: Layout, tools: Sequence[Tool]) -> tuple[ToolSchema, ...]:
    return tuple(tool.schema for tool in tools if tool.schema.name in layout.tools)


def build(memory: Memory, template: Template, tools: Sequence[ToolSchema], budget: int, counter: Counter) -> Window:
    """Fixed parts first, then every section its share, then what is left to whoever still has something to say."""
    layout = template.at(memory.state.phase)
    reserve = int(budget * layout.reserve)
    foot = counter(footer(memory, layout, budget, budget, reserve)) + 2
    fixed = [fixed_section("system", layout.system, counter), tools_section(tools, counter)]
    made = drafts(memory)
    always = [fixed_section(draft.name, page(draft, draft.pieces), counter) for draft in made if draft.tier is Tier.ALWAYS]
    room = budget - reserve - FRAMING - foot - sum(section.tokens for section in (*fixed, *always))
    if room < 0:
        raise over(budget, reserve, [*fixed, *always], room)
    chosen, omissions = allot([draft for draft in made if draft.tier is not Tier.ALWAYS], layout.shares, room, counter)
    by_name = {section.name: section for section in (*always, *chosen)}
    body = [by_name[draft.name] for draft in made if draft.name in by_name]
    used = sum(section.tokens for section in (*fixed, *body)) + FRAMING + foot
    body.append(Section("footer", Tier.ALWAYS, footer(memory, layout, used, budget, reserve), foot))
    request = Request(layout.system, "\n\n".join(section.text for section in body), tuple(tools), reserve)
    return checked(Window(request, (*fixed, *body), tuple(omissions), budget, used), counter)


def fixed_section(name: str, text: str, counter: Counter) -> Section:
    return Section(name, Tier.ALWAYS, text, counter(text) + 2)


def tools_section(tools: Sequence[ToolSchema], counter: Counter) -> Section:
    text = json.dumps(encode(tuple(tools)), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return Section("tools", Tier.ALWAYS, text, counter(text) + TOOL_FRAMING * len(tools))


def footer(memory: Memory, layout: Layout, used: int, budget: int, reserve: int) -> str:
    state = memory.state
    context = (
        f"[Context: {used + reserve:,}/{budget:,} tokens, {reserve:,} of them for your reply | "
        f"{state.archived} archived blocks available | "
        f"step {state.step + 1} of {state.limit} | {where(state, layout)}]"
    )
    return "\n".join(line for line in (context, urged(state, layout), "What is your next action?") if line)


def checked(window: Window, counter: Counter) -> Window:
    """The ceiling holds for what is really sent, not for the sum of its parts."""
    whole = counter(window.request.system) + counter(window.request.message) + window.sections[1].tokens + FRAMING
    if whole + window.request.reserve > window.budget:
        raise over(window.budget, window.request.reserve, window.sections, window.budget - window.request.reserve - whole)
    return window


def over(budget: int, reserve: int, sections: Sequence[Section], room: int) -> OverCeiling:
    largest = max(sections, key=lambda section: section.tokens)
    return OverCeiling(
        f"the ceiling of {budget:,} tokens ({reserve:,} of them kept for the reply) is {-room:,} too small for what must be in; "
        f"the largest part is '{largest.name}' with {largest.tokens:,} tokens. Nothing was sent. "
        f"Shorten it, or give the task a larger ceiling with --budget"
    )
