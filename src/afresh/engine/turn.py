"""The last step as the model's own tool calls and their results, where that costs little more than to tell of it. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.domain.action import Observation, Reply
from afresh.domain.memory import Memory
from afresh.domain.template import Template
from afresh.domain.turn import arguments, told
from afresh.domain.window import Exchange, Request, Result, Section, Tier, ToolSchema
from afresh.engine.allot import Page
from afresh.engine.last import OUTCOME, WRITING, named, withheld
from afresh.engine.tokens import Gauge

ARGUMENTS = 25
SIGNED = 8
"""One part in so many of the ceiling is the most that the arguments of a reply may take a second time; and a whole reply, if its
thinking is signed, with that."""
ABOVE = " (above, under Files)"
NOW = "# How things stand now"


def answered(memory: Memory, template: Template, tools: Sequence[ToolSchema], budget: int, counter: Gauge) -> Reply | None:
    """The last reply, if it goes back to its model as it was; nothing if it is told instead."""
    state = memory.state
    back, step = state.returned, state.recent[-1] if state.recent else None
    if not template.native or not back or not step or back.step != step.step or hidden(template, state.phase):
        return None
    reply = replace(back.reply, thought=step.thought)
    known = {tool.name for tool in tools}
    if len(step.observations) != len(reply.actions) or not all(one.tool in known for one in reply.actions):
        return None
    if template.thinking_at(state.phase, budget):
        signed = bool(reply.thinking) and all(one.signature or one.redacted for one in reply.thinking)
        return reply if signed and weight(reply, counter) <= budget // SIGNED else None
    reply = replace(reply, thinking=())
    repeated = step.kept and any(seen.ok and seen.action.tool in WRITING for seen in step.observations)
    taken = sum(counter(arguments(action)) for action in reply.actions)
    return None if repeated or taken > budget // ARGUMENTS else reply


def hidden(template: Template, phase: str) -> bool:
    return any(share.section == "last" and share.tier is Tier.NEVER for share in template.at(phase).shares)


def weight(reply: Reply, counter: Gauge) -> int:
    """What it takes by itself, with a result for each call that says nothing yet."""
    alone = Exchange(reply, tuple(Result("") for _ in reply.actions))
    return counter.whole(Request("", "", (), 0, turns=(alone,))) - counter.framing


def exchange(reply: Reply, page: Page | None, memory: Memory, before: Sequence[Section], rest: Sequence[Section]) -> Exchange:
    """Each result as far as there was room for it, then the sections that follow. What was read stands before it all."""
    step = memory.state.recent[-1]
    shown = {piece.what: piece.text for piece in page.taken.values()} if page else {}
    files = next((section.text for section in before if section.name == "files"), "")
    results = tuple(
        Result(f"{shown.get(named(number, step)) or withheld(seen)}{above(seen, files)}", seen.ok)
        for number, seen in enumerate(step.observations)
    )
    undone = [shown[OUTCOME]] if OUTCOME in shown else []
    return Exchange(reply, results, "\n\n".join((*undone, NOW, *[section.text for section in rest])))


def above(seen: Observation, files: str) -> str:
    """A result that says only which lines were read looks like one that says nothing."""
    path = seen.action.args.get("path", "")
    return ABOVE if seen.ok and seen.action.tool == "read" and path and f"\n{path}" in files else ""


def section(turn: Exchange, tier: Tier, counter: Gauge) -> Section:
    """What the record of the call shows of it."""
    alone = Request("", "", (), 0, turns=(replace(turn, text=""),))
    return Section("last", tier, told(turn), counter.whole(alone) - counter.framing)
