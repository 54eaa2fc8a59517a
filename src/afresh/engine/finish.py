"""What the step came to, and whether the task ends with it."""

import re
from collections import Counter
from dataclasses import dataclass

from afresh.domain.action import subject
from afresh.domain.event import Asked, Ended, Event
from afresh.domain.state import REVERTED, State
from afresh.domain.task import Status
from afresh.domain.text import one_line
from afresh.domain.verdict import Ruling
from afresh.engine.act import Deed, Deeds
from afresh.engine.agent import Agent
from afresh.engine.digest import TELLING, short
from afresh.engine.judge import Judgement
from afresh.engine.message import commit_message
from afresh.engine.questions import limit_reached, unverifiable
from afresh.engine.settle import Settlement
from afresh.engine.stall.ladder import stall

REFUSALS = 3
TOOK = re.compile(r" in \d+(?:\.\d+)? ?s(?:econds)?\b")


@dataclass(frozen=True, slots=True)
class End:
    outcome: str
    events: tuple[Event, ...] = ()


def finish(state: State, deeds: Deeds, judged: Judgement, settled: Settlement, agent: Agent) -> End:
    outcome = tell(deeds, judged, settled)
    if ended := by_verdict(state, deeds, judged, settled, agent):
        return End(outcome, ended)
    stalled = stall(state, deeds, judged, settled, agent)
    if question := next((event for event in deeds.events if isinstance(event, Asked)), None):
        return End(outcome, (*stalled.events, Ended(Status.BLOCKED, f"asks: {question.question}")))
    if stop := out_of_steps(state) or stalled.stop:
        return End(outcome, (*stalled.events, stop, Ended(Status.BLOCKED, stop.question)))
    return End(outcome, stalled.events)


def by_verdict(state: State, deeds: Deeds, judged: Judgement, settled: Settlement, agent: Agent) -> tuple[Event, ...]:
    """PASS publishes. BLOCKED publishes what there is, for a person to look at. FAIL goes back to work, a few times."""
    if judged.verdict is None or not judged.verdict.final:
        return ()
    reason = judged.verdict.reason
    if judged.verdict.ruling is Ruling.FAIL:
        given_up = Ended(Status.FAILED, f"completion refused {REFUSALS} times; the last time: {reason}")
        return (given_up,) if state.refusals + 1 >= REFUSALS else ()
    commit = agent.workspace.publish(settled.snapshot, commit_message(state, deeds.complete, judged.verdict))
    if judged.passed:
        return (Ended(Status.DONE, reason, commit),)
    return (unverifiable(reason), Ended(Status.BLOCKED, reason, commit))


def out_of_steps(state: State) -> Asked | None:
    """An answer lets it go on."""
    return limit_reached(state) if state.step + 1 >= state.limit else None


def tell(deeds: Deeds, judged: Judgement, settled: Settlement) -> str:
    """One line for people and for later windows."""
    reads = sum(deed.action.tool == "read" for deed in deeds.done)
    told = [deed for deed in deeds.done if deed.action.tool != "read" or reads == 1]
    names = Counter(named(deed) + ending(deed) for deed in told)
    names.update({f"read {reads} files": 1} if reads > 1 else {})
    did = ", ".join(name if count == 1 else f"{name} ({count} times)" for name, count in names.items())
    if judged.verdict and judged.verdict.final:
        return f"{'verified' if judged.passed else 'not accepted'}: {judged.verdict.reason}"
    if not settled.kept:
        return f"{did}{REVERTED}{judged.verdict.reason if judged.verdict else ''}"
    if judged.verdict:
        return f"{did}: {'' if judged.verdict.strays else 'kept; '}{judged.verdict.reason}"
    return did or "no action in the reply"


def ending(deed: Deed) -> str:
    return "" if deed.outcome.ok else " (not done)" if deed.outcome.refused else " (failed)"


def named(deed: Deed) -> str:
    """A suggestion's title says more than its id."""
    action = short(deed)
    if action.tool in ("run", "test"):
        return f"{action.tool} {subject(action)}".strip() + result(deed.outcome.text)
    return subject(action) if action.tool == "apply" else f"{action.tool} {subject(action)}".strip()


def result(text: str) -> str:
    """How a command ended, by the line that tells most of what it printed. No times: the same result has the same words."""
    printed = [line for line in text.splitlines() if line.strip() and not re.match(r"\$ |exit \d+", line)]
    spoken = [line for line in printed if TELLING.search(line)]
    return f" → {one_line(TOOK.sub('', (spoken or printed)[-1]), 90)}" if printed else ""
