"""Do what the recorded reply asks, in the sandbox, and see what it did to the tree."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from afresh.domain.action import Action
from afresh.domain.change import Change
from afresh.domain.event import Asked, Event, Planned
from afresh.domain.fact import PlanItem
from afresh.domain.state import State
from afresh.domain.template import Layout
from afresh.engine.agent import Agent
from afresh.engine.delegation import DELEGATE, at_hand, handing, not_worth_a_part
from afresh.engine.record import doing
from afresh.engine.stall.refused import refused
from afresh.engine.strategy import directed
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome, Tool

OVERRULED = "not done: the user has spoken before it was; heed that first"


@dataclass(frozen=True, slots=True)
class Deed:
    action: Action
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Deeds:
    """All actions of one reply, and the tree after them."""

    done: tuple[Deed, ...]
    snapshot: str
    changes: tuple[Change, ...] = ()

    @property
    def events(self) -> tuple[Event, ...]:
        """A question comes last: what else the reply has decided was decided before the answer."""
        events = [event for deed in self.done for event in deed.outcome.events]
        return tuple(sorted(events, key=lambda event: isinstance(event, Asked)))

    @property
    def complete(self) -> str:
        return next((deed.outcome.complete for deed in self.done if deed.outcome.complete), "")


def act(state: State, agent: Agent) -> Deeds:
    """A step that is taken again after a crash starts from the same tree: `prepare` has restored it."""
    assert state.pending, "a step acts on a recorded reply"
    layout, bench, done = directed(state, agent.template), agent.bench(state), list[Deed]()
    tools = known(state, agent, layout)
    for place, action in enumerate(state.pending.reply.actions, 1):
        doing(agent, action.tool)
        if state.attendance.overruled:
            done.append(Deed(action, Outcome(OVERRULED, ok=False, refused=True)))
            continue
        able = replace(bench, hand_out=handing(state, agent, place)) if action.tool == DELEGATE else bench
        why = not_now(action.tool, tools, layout, planned(state, done)) if action.tool in tools else ""
        done.append(Deed(action, Outcome(why, ok=False) if why else perform(action, tools, able, done)))
        if action.tool == "plan" and done[-1].outcome.ok:
            layout = agent.template.at(state.phase)
    return look_at_tree(state, agent, tuple(done), tools)


def known(state: State, agent: Agent, layout: Layout) -> dict[str, Tool]:
    """The tools that were offered."""
    return {tool.schema.name: tool for tool in at_hand(agent.tools, state.task) if tool.schema.name in layout.tools}


def not_now(name: str, tools: Iterable[str], layout: Layout, plan: Sequence[PlanItem]) -> str:
    """Why a tool that is offered in every call is refused in this one; empty if it is not. Whoever has just made the plan may
    begin with it in the same reply."""
    if name == DELEGATE and (too_little := not_worth_a_part(plan)):
        return too_little
    if name not in layout.closed:
        return ""
    why = layout.cue.replace("\n", " ") or f"it is not for the phase {layout.phase}."
    return f"{name} is refused now: {why} The tools for now are: {', '.join(one for one in tools if one not in layout.closed)}"


def planned(state: State, done: Sequence[Deed]) -> Sequence[PlanItem]:
    """The plan as it is in the middle of a reply."""
    made = [event.items for deed in done for event in deed.outcome.events if isinstance(event, Planned)]
    return made[-1] if made else state.plan


def perform(action: Action, tools: dict[str, Tool], bench: Bench, before: list[Deed]) -> Outcome:
    tool = tools.get(action.tool)
    if tool is None:
        return Outcome(f"there is no tool {action.tool!r} here; the tools are: {', '.join(tools)}", ok=False)
    if why := refused(action, bench.state):
        return Outcome(why, ok=False, refused=True)
    if action.tool == "complete" and not all(deed.outcome.ok for deed in before):
        return Outcome("not completed: an action before it in the same reply failed", ok=False)
    if action.tool == "ask" and any(deed.action.tool == "ask" and deed.outcome.ok for deed in before):
        return Outcome("not asked: one question at a time", ok=False)
    try:
        return tool.run(action.args, bench)
    except ModelMistake as mistake:
        return Outcome(str(mistake), ok=False)


def look_at_tree(state: State, agent: Agent, done: tuple[Deed, ...], tools: dict[str, Tool]) -> Deeds:
    if any(deed.action.tool in tools and tools[deed.action.tool].changes for deed in done):
        after = agent.workspace.snapshot()
        changes = tuple(agent.workspace.changes(state.snapshot, after)) if after != state.snapshot else ()
        return Deeds(done, after, changes)
    if any(deed.outcome.traces for deed in done):
        agent.workspace.restore(state.snapshot)
    return Deeds(done, state.snapshot)
