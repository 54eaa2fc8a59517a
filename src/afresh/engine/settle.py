"""Keep a change, or put the tree back as it was before the step that made things worse."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from afresh.domain.action import subject
from afresh.domain.change import Change
from afresh.domain.event import Digested, Event, Settled
from afresh.domain.fact import Block, Fact, FactKind, Hunk
from afresh.domain.observed import COMPLETE
from afresh.domain.state import State
from afresh.domain.verdict import Verdict
from afresh.engine.act import Deed, Deeds
from afresh.engine.agent import Agent
from afresh.engine.digest import CHANGING, cut_line, short
from afresh.engine.evidence import evidence
from afresh.engine.judge import Judgement

HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Settlement:
    kept: bool
    snapshot: str
    events: tuple[Event, ...]
    blocks: tuple[Block, ...] = ()


def settle(state: State, deeds: Deeds, judged: Judgement, agent: Agent) -> Settlement:
    if judged.regressed:
        return revert(state, deeds, judged, agent)
    settled = kept(state, deeds, judged, agent)
    refused = judged.refused and judged.verdict and not (judged.verdict.weakened or judged.verdict.strays)
    return remembering_refusal(settled, state, judged) if refused else settled


def kept(state: State, deeds: Deeds, judged: Judgement, agent: Agent) -> Settlement:
    """All of it, or all but the files that must be as they were."""
    if judged.verdict and judged.verdict.weakened:
        return put_back(state, judged.verdict, agent, f"weakening {', '.join(judged.verdict.weakened)}")
    if judged.verdict and judged.verdict.strays:
        return put_back(state, judged.verdict, agent, meant(judged.verdict.strays, deeds))
    if not deeds.changes:
        return Settlement(True, state.snapshot, (Settled(state.step + 1, True, state.snapshot, state.changed),))
    changed = tuple(change.path for change in agent.workspace.changes(state.opened, deeds.snapshot))
    settled = Settled(state.step + 1, True, deeds.snapshot, changed, hunks=tuple(hunks(deeds.changes)))
    return Settlement(True, deeds.snapshot, (settled,))


def revert(state: State, deeds: Deeds, judged: Judgement, agent: Agent) -> Settlement:
    """What failed is remembered, so that it is not tried again."""
    agent.workspace.restore(state.snapshot)
    why, said = judged.verdict.reason if judged.verdict else "", evidence(judged)
    step = state.step + 1
    failed = Fact(FactKind.FAILED_APPROACH, approach(deeds), why, block=said.block, step=step, lines=said.lines)
    reverted = Settled(step, False, state.snapshot, state.changed, why=why)
    return Settlement(False, state.snapshot, (reverted, Digested(facts=(failed,))), said.made)


def remembering_refusal(settled: Settlement, state: State, judged: Judgement) -> Settlement:
    """Why the work was not accepted is known after later checks of less too; as an observation, since to complete again is right
    once it is mended."""
    why, said = judged.verdict.reason if judged.verdict else "", evidence(judged)
    refused = Fact(FactKind.OBSERVED, COMPLETE, f"refused: {why}", 1.0, said.block, state.step + 1, COMPLETE, said.lines)
    return replace(settled, events=(*settled.events, Digested(facts=(refused,))), blocks=said.made)


def put_back(state: State, verdict: Verdict, agent: Agent, attempt: str) -> Settlement:
    """These files are as they were at the base again; all else that was done stays. An attempt is remembered, so that it is
    not repeated."""
    paths = verdict.weakened or verdict.strays
    agent.workspace.restore(state.opened, paths)
    snapshot = agent.workspace.snapshot()
    changed = tuple(change.path for change in agent.workspace.changes(state.opened, snapshot))
    moved = tuple(hunks(agent.workspace.changes(state.snapshot, snapshot)))
    why = f"put back as at the base: {', '.join(paths)}"
    failed = Fact(FactKind.FAILED_APPROACH, attempt, f"refused: {verdict.reason}", step=state.step + 1)
    settled = Settled(state.step + 1, True, snapshot, changed, why=why, hunks=moved)
    return Settlement(True, snapshot, (settled, *([Digested(facts=(failed,))] if attempt else [])))


def meant(strays: Sequence[str], deeds: Deeds) -> str:
    """What a command leaves behind was not tried, it only happened."""
    named = [path for path in strays if any(deed.action.args.get("path") == path for deed in deeds.done)]
    return f"changing {', '.join(named)}" if named else ""


def approach(deeds: Deeds) -> str:
    """What was changed; what was only looked at was not tried."""
    done = [deed for deed in deeds.done if deed.outcome.ok]
    return "; ".join(tried(deed) for deed in [one for one in done if one.action.tool in CHANGING] or done)


def tried(deed: Deed) -> str:
    """Enough to know it again: for an edit, what was to become what; for a suggestion, its id and title."""
    action = deed.action
    if action.tool == "apply":
        return f"apply {action.args['id']} ({subject(short(deed))})"
    what = f"{action.tool} {subject(action)}".strip()
    if action.tool != "edit":
        return what
    return f"{what} ({cut_line(str(action.args['old']).strip(), 60)} → {cut_line(str(action.args['new']).strip(), 60)})"


def hunks(changes: Iterable[Change]) -> Iterable[Hunk]:
    for change in changes:
        for old_start, old_count, new_start, new_count in HUNK.findall(change.patch):
            yield Hunk(change.path, int(old_start), int(old_count or 1), int(new_start), int(new_count or 1))
