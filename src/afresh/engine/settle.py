"""Keep a change, or put the tree back as it was before the step that made things worse."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from afresh.domain.action import subject
from afresh.domain.change import Change
from afresh.domain.event import Digested, Event, Settled
from afresh.domain.fact import Fact, FactKind, Hunk
from afresh.domain.state import State
from afresh.engine.act import Deed, Deeds
from afresh.engine.agent import Agent
from afresh.engine.digest import cut_line, short
from afresh.engine.judge import Judgement

HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Settlement:
    kept: bool
    snapshot: str
    events: tuple[Event, ...]


def settle(state: State, deeds: Deeds, judged: Judgement, agent: Agent) -> Settlement:
    if judged.regressed:
        return revert(state, deeds, judged, agent)
    if judged.verdict and judged.verdict.weakened:
        return put_back(state, judged.verdict.weakened, agent, f"weakening {', '.join(judged.verdict.weakened)}")
    if judged.verdict and judged.verdict.strays:
        return put_back(state, judged.verdict.strays, agent, meant(judged.verdict.strays, deeds))
    if not deeds.changes:
        return Settlement(True, state.snapshot, (Settled(state.step + 1, True, state.snapshot, state.changed),))
    changed = tuple(change.path for change in agent.workspace.changes(state.opened, deeds.snapshot))
    kept = Settled(state.step + 1, True, deeds.snapshot, changed, hunks=tuple(hunks(deeds.changes)))
    return Settlement(True, deeds.snapshot, (kept,))


def revert(state: State, deeds: Deeds, judged: Judgement, agent: Agent) -> Settlement:
    """What failed is remembered, so that it is not tried again."""
    agent.workspace.restore(state.snapshot)
    why = judged.verdict.reason if judged.verdict else ""
    failed = Fact(FactKind.FAILED_APPROACH, approach(deeds), why, block=last_block(judged), step=state.step + 1)
    reverted = Settled(state.step + 1, False, state.snapshot, state.changed, why=why)
    return Settlement(False, state.snapshot, (reverted, Digested(facts=(failed,))))


def put_back(state: State, paths: Sequence[str], agent: Agent, attempt: str) -> Settlement:
    """These files are as they were at the base again; all else that was done stays. An attempt is remembered, so that it is
    not repeated."""
    agent.workspace.restore(state.opened, paths)
    snapshot = agent.workspace.snapshot()
    changed = tuple(change.path for change in agent.workspace.changes(state.opened, snapshot))
    moved = tuple(hunks(agent.workspace.changes(state.snapshot, snapshot)))
    why = f"put back as at the base: {', '.join(paths)}"
    failed = Fact(FactKind.FAILED_APPROACH, attempt, "refused, and put back", step=state.step + 1)
    settled = Settled(state.step + 1, True, snapshot, changed, why=why, hunks=moved)
    return Settlement(True, snapshot, (settled, *([Digested(facts=(failed,))] if attempt else [])))


def meant(strays: Sequence[str], deeds: Deeds) -> str:
    """What a command leaves behind was not tried, it only happened."""
    named = [path for path in strays if any(deed.action.args.get("path") == path for deed in deeds.done)]
    return f"changing {', '.join(named)}" if named else ""


def approach(deeds: Deeds) -> str:
    return "; ".join(tried(deed) for deed in deeds.done if deed.outcome.ok)


def tried(deed: Deed) -> str:
    """Enough to know it again: for an edit, what was to become what; for a suggestion, its id and title."""
    action = deed.action
    if action.tool == "apply":
        return f"apply {action.args['id']} ({subject(short(deed))})"
    what = f"{action.tool} {subject(action)}".strip()
    if action.tool != "edit":
        return what
    return f"{what} ({cut_line(str(action.args['old']).strip(), 60)} → {cut_line(str(action.args['new']).strip(), 60)})"


def last_block(judged: Judgement) -> str:
    runs = judged.verdict.runs if judged.verdict else ()
    return runs[-1].block if runs else ""


def hunks(changes: Iterable[Change]) -> Iterable[Hunk]:
    for change in changes:
        for old_start, old_count, new_start, new_count in HUNK.findall(change.patch):
            yield Hunk(change.path, int(old_start), int(old_count or 1), int(new_start), int(new_count or 1))
