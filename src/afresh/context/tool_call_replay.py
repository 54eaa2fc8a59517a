"""The last step as the model's own tool calls and their results, where that costs little more than to tell of it. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.context.allocate import SectionAllocation
from afresh.context.sources.last_step import OUTCOME_PIECE, name_output, render_withheld_output
from afresh.core.action import Observation
from afresh.core.prompt import Request, Section, Tier, ToolExchange, ToolResult, ToolSchema, json_from_arguments, render_exchange
from afresh.core.reply import Reply
from afresh.core.template import Template
from afresh.core.tokens import TokenCounter
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.memory.gathered_context import GatheredContext

ARGUMENTS_CEILING_DIVISOR = 25
SIGNED_REPLY_CEILING_DIVISOR = 8
"""One part in so many of the ceiling is the most that the arguments of a reply may take a second time; and a whole reply, if its
thinking is signed, with that."""
SHOWN_ABOVE_MARK = " (above, under Files)"
CURRENT_STATE_HEADING = "# Current state"


def select_reply_to_replay(
    memory: GatheredContext, template: Template, tools: Sequence[ToolSchema], budget: int, counter: TokenCounter
) -> Reply | None:
    """The last reply, if it goes back to its model as it was; nothing if it is told instead."""
    state = memory.state
    back, step = state.work.returned_reply, state.memory.recent[-1] if state.memory.recent else None
    if not template.native or not back or not step or back.step != step.step or _is_last_step_hidden(template, state.phase):
        return None
    reply = replace(back.reply, thought=step.thought)
    known = {tool.name for tool in tools}
    if len(step.observations) != len(reply.actions) or not all(one.tool in known for one in reply.actions):
        return None
    if template.thinking_at(state.phase, budget):
        signed = bool(reply.thinking) and all(one.signature or one.redacted for one in reply.thinking)
        return reply if signed and count_reply_tokens(reply, counter) <= budget // SIGNED_REPLY_CEILING_DIVISOR else None
    reply = replace(reply, thinking=())
    repeated = step.kept and any(seen.ok and has_trait(seen.action, ToolTrait.WRITES) for seen in step.observations)
    taken = sum(counter(json_from_arguments(action)) for action in reply.actions)
    return None if repeated or taken > budget // ARGUMENTS_CEILING_DIVISOR else reply


def _is_last_step_hidden(template: Template, phase: str) -> bool:
    return any(share.section == "last" and share.tier is Tier.NEVER for share in template.at(phase).shares)


def count_reply_tokens(reply: Reply, counter: TokenCounter) -> int:
    """What it takes by itself, with a result for each call that says nothing yet."""
    alone = ToolExchange(reply, tuple(ToolResult("") for _ in reply.actions))
    return counter.whole(Request("", "", (), 0, turns=(alone,))) - counter.framing


def build_exchange(
    reply: Reply, page: SectionAllocation | None, memory: GatheredContext, before: Sequence[Section], rest: Sequence[Section]
) -> ToolExchange:
    """Each result as far as there was room for it, then the sections that follow. What was read stands before it all."""
    step = memory.state.memory.recent[-1]
    shown = {piece.what: piece.text for piece in page.taken.values()} if page else {}
    files = next((section.text for section in before if section.name == "files"), "")
    results = tuple(
        ToolResult(
            f"{shown.get(name_output(number, step)) or render_withheld_output(seen)}{_mark_shown_above(seen, files)}", seen.ok
        )
        for number, seen in enumerate(step.observations)
    )
    undone = [shown[OUTCOME_PIECE]] if OUTCOME_PIECE in shown else []
    return ToolExchange(reply, results, "\n\n".join((*undone, CURRENT_STATE_HEADING, *[section.text for section in rest])))


def _mark_shown_above(seen: Observation, files: str) -> str:
    """A result that says only which lines were read looks like one that says nothing."""
    path = seen.action.args.get("path", "")
    return SHOWN_ABOVE_MARK if seen.ok and has_trait(seen.action, ToolTrait.READS) and path and f"\n{path}" in files else ""


def build_exchange_section(turn: ToolExchange, tier: Tier, counter: TokenCounter) -> Section:
    """What the record of the call shows of it."""
    alone = Request("", "", (), 0, turns=(replace(turn, text=""),))
    return Section("last", tier, render_exchange(turn), counter.whole(alone) - counter.framing)
