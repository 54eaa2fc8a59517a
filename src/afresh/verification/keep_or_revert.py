"""Keep a change, or put the tree back as it was before the step that made things worse."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.core.action_summary import describe_approach, find_tried_suggestion
from afresh.core.archived_block import Block
from afresh.core.change import hunks_from_changes
from afresh.core.command_output import OutputReading
from afresh.core.event import ChangeKeptOrReverted, OutputDigested
from afresh.core.fact import COMPLETION_SUBJECT, Fact, FactKind
from afresh.core.state import State
from afresh.core.step_result import KeepOrRevertResult, StepActions, StepVerification
from afresh.core.verdict import CheckRun, Verdict
from afresh.journal.append import block_from_text
from afresh.outputs.read_output import read_output
from afresh.runtime import Runtime


def keep_or_revert(state: State, deeds: StepActions, judged: StepVerification, runtime: Runtime) -> KeepOrRevertResult:
    if judged.regressed:
        return revert_step(state, deeds, judged, runtime)
    settled = keep_changes(state, deeds, judged, runtime)
    refused = judged.refused and judged.verdict and not (judged.verdict.weakened or judged.verdict.strays)
    return remember_refusal(settled, state, judged) if refused else settled


def keep_changes(state: State, deeds: StepActions, judged: StepVerification, runtime: Runtime) -> KeepOrRevertResult:
    """All of it, or all but the files that must be as they were."""
    if judged.verdict and judged.verdict.weakened:
        return revert_files(state, judged.verdict, runtime, f"weakening {', '.join(judged.verdict.weakened)}")
    if judged.verdict and judged.verdict.strays:
        return revert_files(state, judged.verdict, runtime, describe_intended_strays(judged.verdict.strays, deeds))
    if not deeds.changes:
        return KeepOrRevertResult(
            True,
            state.workspace.snapshot,
            (ChangeKeptOrReverted(state.work.step + 1, True, state.workspace.snapshot, state.workspace.changed),),
        )
    changed = tuple(change.path for change in runtime.workspace.changes(state.workspace.first_snapshot, deeds.snapshot))
    settled = ChangeKeptOrReverted(
        state.work.step + 1, True, deeds.snapshot, changed, hunks=tuple(hunks_from_changes(deeds.changes))
    )
    return KeepOrRevertResult(True, deeds.snapshot, (settled,))


def revert_step(state: State, deeds: StepActions, judged: StepVerification, runtime: Runtime) -> KeepOrRevertResult:
    """What failed is remembered, so that it is not tried again."""
    runtime.workspace.restore(state.workspace.snapshot)
    why, said = judged.verdict.reason if judged.verdict else "", find_evidence(judged)
    step = state.work.step + 1
    failed = Fact(
        FactKind.FAILED_APPROACH,
        describe_approach(deeds),
        why,
        block=said.block,
        step=step,
        lines=said.lines,
        suggestion=find_tried_suggestion(deeds),
    )
    reverted = ChangeKeptOrReverted(step, False, state.workspace.snapshot, state.workspace.changed, why=why)
    return KeepOrRevertResult(False, state.workspace.snapshot, (reverted, OutputDigested(facts=(failed,))), said.made)


def remember_refusal(settled: KeepOrRevertResult, state: State, judged: StepVerification) -> KeepOrRevertResult:
    """Why the work was not accepted is known after later checks of less too; as an observation, since to complete again is right
    once it is mended."""
    why, said = judged.verdict.reason if judged.verdict else "", find_evidence(judged)
    refused = Fact(
        FactKind.OBSERVED,
        COMPLETION_SUBJECT,
        f"refused: {why}",
        1.0,
        said.block,
        state.work.step + 1,
        COMPLETION_SUBJECT,
        said.lines,
    )
    return replace(settled, events=(*settled.events, OutputDigested(facts=(refused,))), blocks=said.made)


def revert_files(state: State, verdict: Verdict, runtime: Runtime, attempt: str) -> KeepOrRevertResult:
    """These files are as they were at the base again; all else that was done stays. An attempt is remembered, so that it is
    not repeated."""
    paths = verdict.weakened or verdict.strays
    runtime.workspace.restore(state.workspace.first_snapshot, paths)
    snapshot = runtime.workspace.snapshot()
    changed = tuple(change.path for change in runtime.workspace.changes(state.workspace.first_snapshot, snapshot))
    moved = tuple(hunks_from_changes(runtime.workspace.changes(state.workspace.snapshot, snapshot)))
    why = f"put back as at the base: {', '.join(paths)}"
    failed = Fact(FactKind.FAILED_APPROACH, attempt, f"refused: {verdict.reason}", step=state.work.step + 1)
    settled = ChangeKeptOrReverted(state.work.step + 1, True, snapshot, changed, why=why, hunks=moved)
    return KeepOrRevertResult(True, snapshot, (settled, *([OutputDigested(facts=(failed,))] if attempt else [])))


def describe_intended_strays(strays: Sequence[str], deeds: StepActions) -> str:
    """What a command leaves behind was not tried, it only happened."""
    named = [path for path in strays if any(deed.action.args.get("path") == path for deed in deeds.done)]
    return f"changing {', '.join(named)}" if named else ""


WHOLE_BLOCK = (0, 0)


@dataclass(frozen=True, slots=True)
class RejectionEvidence:
    block: str = ""
    lines: tuple[int, int] = WHOLE_BLOCK
    made: tuple[Block, ...] = ()
    """A block that is not archived yet."""


def find_evidence(judged: StepVerification) -> RejectionEvidence:
    """Of the run that failed; if nothing was run, of what was found instead."""
    verdict = judged.verdict
    if verdict is None or not verdict.runs:
        return RejectionEvidence()
    texts = {one.id: one.text for one in judged.blocks}
    run = find_blamed_run(verdict, texts)
    if not run.block:
        return evidence_from_compile_failure(run)
    text = texts.get(run.block, "")
    return RejectionEvidence(run.block, find_evidence_lines(read_output(run.command, text), text, verdict.regressions))


def find_blamed_run(verdict: Verdict, texts: dict[str, str]) -> CheckRun:
    """The one that names a test which is worse than before, else the first that failed, else the last."""
    failed = [run for run in verdict.runs if run.exit or run.timed_out]
    naming = [run for run in failed if any(test in texts.get(run.block, "") for test in verdict.regressions[:1])]
    return next(iter(naming or failed), verdict.runs[-1])


def find_evidence_lines(reading: OutputReading, text: str, tests: Sequence[str]) -> tuple[int, int]:
    """Lines of the finding about one of these tests, or that name it; else of the first finding."""
    told = [finding for finding in reading.findings if finding.subject in tests]
    if told:
        return told[0].lines
    naming = re.compile(re.escape(tests[0]) + r"(?![\w\[])") if tests else None
    named = [number for number, line in enumerate(text.splitlines(), 1) if naming and naming.search(line)]
    if named:
        return named[-1], named[-1]
    return reading.findings[0].lines if reading.findings else WHOLE_BLOCK


def evidence_from_compile_failure(run: CheckRun) -> RejectionEvidence:
    """A file that does not compile is found before anything is run."""
    made = block_from_text("\n".join(line for failure in run.failures for line in (failure.message, failure.detail) if line))
    return RejectionEvidence(made.id, (1, len(made.text.splitlines())), (made,)) if made.text else RejectionEvidence()
