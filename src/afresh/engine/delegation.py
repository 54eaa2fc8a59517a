"""Handing out a part of a task: when it is offered, what the part is told, and what comes back. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.domain.delegated import GOAL, Delegated, Fate, HandOut, Metrics, Part, bounded
from afresh.domain.fact import PlanItem
from afresh.domain.state import State
from afresh.domain.task import Check, Status, Task
from afresh.domain.text import one_line
from afresh.engine.agent import Agent
from afresh.engine.verify.command import narrowed
from afresh.engine.verify.summary import summary
from afresh.errors import ModelMistake
from afresh.ports import Files, Insight, Tool

DELEGATE = "delegate"
OPEN_ITEMS = 3
"""Of the plan. A part costs two runs of its checks and some calls before it has done anything: less work is done sooner here."""
FEWEST = 6
MOST = 30
"""Steps that a part may take. With fewer it would only begin."""
FATES = {Status.DONE: Fate.DONE, Status.BLOCKED: Fate.BLOCKED}


def at_hand(tools: tuple[Tool, ...], task: Task) -> tuple[Tool, ...]:
    """The same in every call of a task: a tool that comes and goes costs all that a provider has cached. Parts themselves may
    have none."""
    return tools if task.parts else tuple(tool for tool in tools if tool.schema.name != DELEGATE)


def not_worth_a_part(plan: Sequence[PlanItem]) -> str:
    """Why nothing is handed out as the plan stands; empty if something may be."""
    left = sum(not item.done for item in plan)
    if left >= OPEN_ITEMS:
        return ""
    return f"delegate: the plan has {left} open items, and a part pays from {OPEN_ITEMS} on; do it yourself"


def share(state: State) -> int:
    """Steps that the next part may take: half of what is left to the task and the parts before it."""
    taken = sum(one.metrics.steps for one in state.delegated)
    return min(MOST, (state.limit - state.step - 1 - taken) // 2)


def handing(state: State, agent: Agent, place: int) -> HandOut | None:
    """Parts of one reply are handed out one after the other: each begins with what the one before it has left."""
    delegates = agent.delegates
    return (lambda part: delegates(part, state, place)) if delegates else None


def part_id(parent: str, step: int, place: int) -> str:
    """A step that is taken again after a crash finds the part that it had handed out."""
    return f"{parent}-{step}-{place}"


def ordered(part: Part, state: State, place: int, tree: str, checks: Sequence[Check]) -> Task:
    """The part as a task of its own: with steps and checks of its own, and the model of its parent."""
    parent = state.task
    return replace(
        parent,
        id=part_id(parent.id, state.step + 1, place),
        goal=goal_of(part),
        checks=tuple(checks),
        needs=(),
        max_steps=share(state),
        parent=parent.id,
        tree=tree,
        parts=0,
        report="",
        loop="",
    )


def goal_of(part: Part) -> str:
    about = [f"It concerns {', '.join(part.paths)}."] if part.paths else []
    return "\n".join([part.goal.strip(), *about])


def checks_for(part: Part, task: Task, insight: Insight, files: Files) -> tuple[Check, ...]:
    """As the part says; else those of the task, narrowed to the tests of the files that it concerns where they are known."""
    timeout = max((check.timeout for check in task.checks), default=Check.timeout)
    if part.checks:
        return tuple(Check(command, timeout) for command in part.checks)
    tests = insight.tests_for(part.paths, files) if part.paths else ()
    return tuple(replace(check, command=narrowed(check.command, tests) or check.command) for check in task.checks)


def refuse_repeated(part: Part, state: State) -> None:
    told = bounded_goal(part.goal)
    if former := next((one for one in state.delegated if one.goal == told and one.status is not Fate.DONE), None):
        raise ModelMistake(
            f"delegate: the same was handed out in step {former.step} and {former.status.value}; do it yourself, or say in the "
            "goal what is to be done differently"
        )


def refuse_other(part: Part, child: State) -> None:
    """A person may have taken back the reply that had handed it out; what it did is no answer to another."""
    if child.task.goal != goal_of(part):
        raise ModelMistake("delegate: another part of this task has that name already; hand it out in your next reply")


def bounded_goal(goal: str) -> str:
    return one_line(goal, GOAL)


def result(child: State, goal: str, step: int, metrics: Metrics, claimed: str) -> Delegated:
    """From the part's own verdict, and what it said: `claimed` when it completed, or why it stopped."""
    verdict = child.verdict if child.verdict and child.verdict.final else None
    found = Delegated(
        task=child.task.id,
        step=step,
        goal=goal,
        status=FATES.get(child.status, Fate.FAILED),
        files=child.changed,
        state=tuple(summary(run) for run in verdict.runs) if verdict else (),
        summary=claimed if child.status is Status.DONE and claimed else stopped(child),
        metrics=metrics,
    )
    return bounded(found)


def stopped(child: State) -> str:
    """Why it did not end well: its question, or the reason it came to rest."""
    if not child.question:
        return child.outcome
    options = f" ({'; '.join(child.options)})" if child.options else ""
    return f"It asks: {child.question}{options}"
