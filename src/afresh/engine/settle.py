"""Keep a change, or put the tree back as it was before the step that made things worse."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from afresh.domain.action import describe_subject
from afresh.domain.change import Change
from afresh.domain.event import OutputDigested, Event, ChangeKeptOrReverted
from afresh.domain.fact import Block, Fact, FactKind, Hunk
from afresh.domain.observed import COMPLETION_SUBJECT
from afresh.domain.state import State
from afresh.domain.verdict import Verdict
from afresh.engine.act import ActionResult, StepActions
from afresh.engine.agent import Runtime
from afresh.engine.digest import CHANGING_TOOLS, truncate_first_line, shorten_action
from afresh.engine.evidence import find_evidence
from afresh.engine.judge import StepVerification

HUNK_HEADER = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class KeepOrRevertResult:
    kept: bool
    snapshot: str
    events: tuple[Event, ...]
    blocks: tuple[Block, ...] = ()


def keep_or_revert(state: State, deeds: StepActions, judged: StepVerification, agent: Runtime) -> KeepOrRevertResult:
    if judged.regressed:
        return revert_step(state, deeds, judged, agent)
    settled = keep_changes(state, deeds, judged, agent)
    refused = judged.refused and judged.verdict and not (judged.verdict.weakened or judged.verdict.strays)
    return remember_refusal(settled, state, judged) if refused else settled


def keep_changes(state: State, deeds: StepActions, judged: StepVerification, agent: Runtime) -> KeepOrRevertResult:
    """All of it, or all but the files that must be as they were."""
    if judged.verdict and judged.verdict.weakened:
        return revert_files(state, judged.verdict, agent, f"weakening {', '.join(judged.verdict.weakened)}")
    if judged.verdict and judged.verdict.strays:
        return revert_files(state, judged.verdict, agent, describe_intended_strays(judged.verdict.strays, deeds))
    if not deeds.changes:
        return KeepOrRevertResult(
            True, state.snapshot, (ChangeKeptOrReverted(state.step + 1, True, state.snapshot, state.changed),)
        )
    changed = tuple(change.path for change in agent.workspace.changes(state.opened, deeds.snapshot))
    settled = ChangeKeptOrReverted(state.step + 1, True, deeds.snapshot, changed, hunks=tuple(hunks_from_changes(deeds.changes)))
    return KeepOrRevertResult(True, deeds.snapshot, (settled,))


def revert_step(state: State, deeds: StepActions, judged: StepVerification, agent: Runtime) -> KeepOrRevertResult:
    """What failed is remembered, so that it is not tried again."""
    agent.workspace.restore(state.snapshot)
    why, said = judged.verdict.reason if judged.verdict else "", find_evidence(judged)
    step = state.step + 1
    failed = Fact(FactKind.FAILED_APPROACH, describe_approach(deeds), why, block=said.block, step=step, lines=said.lines)
    reverted = ChangeKeptOrReverted(step, False, state.snapshot, state.changed, why=why)
    return KeepOrRevertResult(False, state.snapshot, (reverted, OutputDigested(facts=(failed,))), said.made)


def remember_refusal(settled: KeepOrRevertResult, state: State, judged: StepVerification) -> KeepOrRevertResult:
    """Why the work was not accepted is known after later checks of less too; as an observation, since to complete again is right
    once it is mended."""
    why, said = judged.verdict.reason if judged.verdict else "", find_evidence(judged)
    refused = Fact(
        FactKind.OBSERVED, COMPLETION_SUBJECT, f"refused: {why}", 1.0, said.block, state.step + 1, COMPLETION_SUBJECT, said.lines
    )
    return replace(settled, events=(*settled.events, OutputDigested(facts=(refused,))), blocks=said.made)


def revert_files(state: State, verdict: Verdict, agent: Runtime, attempt: str) -> KeepOrRevertResult:
    """These files are as they were at the base again; all else that was done stays. An attempt is remembered, so that it is
    not repeated."""
    paths = verdict.weakened or verdict.strays
    agent.workspace.restore(state.opened, paths)
    snapshot = agent.workspace.snapshot()
    changed = tuple(change.path for change in agent.workspace.changes(state.opened, snapshot))
    moved = tuple(hunks_from_changes(agent.workspace.changes(state.snapshot, snapshot)))
    why = f"put back as at the base: {', '.join(paths)}"
    failed = Fact(FactKind.FAILED_APPROACH, attempt, f"refused: {verdict.reason}", step=state.step + 1)
    settled = ChangeKeptOrReverted(state.step + 1, True, snapshot, changed, why=why, hunks=moved)
    return KeepOrRevertResult(True, snapshot, (settled, *([OutputDigested(facts=(failed,))] if attempt else [])))


def describe_intended_strays(strays: Sequence[str], deeds: StepActions) -> str:
    """What a command leaves behind was not tried, it only happened."""
    named = [path for path in strays if any(deed.action.args.get("path") == path for deed in deeds.done)]
    return f"changing {', '.join(named)}" if named else ""


def describe_approach(deeds: StepActions) -> str:
    """What was changed; what was only looked at was not tried."""
    done = [deed for deed in deeds.done if deed.outcome.ok]
    return "; ".join(describe_attempt(deed) for deed in [one for one in done if one.action.tool in CHANGING_TOOLS] or done)


def describe_attempt(deed: ActionResult) -> str:
    """Enough to know it again: for an edit, what was to become what; for a suggestion, its id and title."""
    action = deed.action
    if action.tool == "apply":
        return f"apply {action.args['id']} ({describe_subject(shorten_action(deed))})"
    what = f"{action.tool} {describe_subject(action)}".strip()
    if action.tool != "edit":
        return what
    return f"{what} ({truncate_first_line(str(action.args['old']).strip(), 60)} → {truncate_first_line(str(action.args['new']).strip(), 60)})"


def hunks_from_changes(changes: Iterable[Change]) -> Iterable[Hunk]:
    for change in changes:
        for old_start, old_count, new_start, new_count in HUNK_HEADER.findall(change.patch):
            yield Hunk(change.path, int(old_start), int(old_count or 1), int(new_start), int(new_count or 1))
