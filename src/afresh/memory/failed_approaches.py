"""Failed approaches: what was tried, why it failed and the lines that show it, remembered so that it is not tried again."""

from collections.abc import Sequence
from dataclasses import dataclass

from afresh.core.action import describe_action, describe_subject
from afresh.core.archived_block import Block, block_from_text
from afresh.core.command_output import OutputReading
from afresh.core.fact import COMPLETION_SUBJECT, Fact, FactKind
from afresh.core.step_result import ActionResult, StepActions, StepVerification, shorten_action, truncate_first_line
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.core.verdict import CheckRun, Verdict
from afresh.outputs.read_output import find_last_line_naming, read_output


def remember_failed_approach(step: int, actions: StepActions, verified: StepVerification) -> tuple[Fact, tuple[Block, ...]]:
    """The fact about a step that was reverted, and the blocks that it refers to and that are not archived yet."""
    reason, shown = verified.verdict.reason if verified.verdict else "", find_evidence(verified)
    suggestion = find_tried_suggestion(actions)
    fact = Fact(
        FactKind.FAILED_APPROACH,
        describe_approach(actions),
        reason,
        block=shown.block,
        step=step,
        lines=shown.lines,
        suggestion=suggestion,
    )
    return fact, shown.made


def remember_refusal(step: int, verified: StepVerification) -> tuple[Fact, tuple[Block, ...]]:
    """Why completion was refused, as an observation: to complete again is right once that is fixed."""
    reason, shown = verified.verdict.reason if verified.verdict else "", find_evidence(verified)
    subject = COMPLETION_SUBJECT
    fact = Fact(FactKind.OBSERVED, subject, f"refused: {reason}", 1.0, shown.block, step, subject, shown.lines)
    return fact, shown.made


def describe_approach(deeds: StepActions) -> str:
    return "; ".join(map(describe_attempt, list_attempts(deeds)))


def list_attempts(deeds: StepActions) -> list[ActionResult]:
    """What was changed; what was only looked at was not tried."""
    done = [deed for deed in deeds.done if deed.outcome.ok]
    return [one for one in done if has_trait(one.action, ToolTrait.CHANGES)] or done


def find_tried_suggestion(deeds: StepActions) -> str:
    """The id that the first attempt took up; empty where it took up none."""
    return next((str(one.action.args.get("id", "")) for one in list_attempts(deeds)[:1]), "")


def describe_attempt(deed: ActionResult) -> str:
    """Enough to know it again: for an edit, what was to become what; for a suggestion, its id and title."""
    action = deed.action
    if has_trait(action, ToolTrait.APPLIES):
        return f"{action.tool} {action.args['id']} ({describe_subject(shorten_action(deed))})"
    if has_trait(action, ToolTrait.WRITES) and {"old", "new"} <= action.args.keys():
        old, new = (truncate_first_line(str(action.args[name]).strip(), 60) for name in ("old", "new"))
        return f"{describe_action(action)} ({old} → {new})"
    return describe_action(action)


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
    if tests and (line := find_last_line_naming(text, tests[0])):
        return line, line
    return reading.findings[0].lines if reading.findings else WHOLE_BLOCK


def evidence_from_compile_failure(run: CheckRun) -> RejectionEvidence:
    """A file that does not compile is found before anything is run."""
    made = block_from_text("\n".join(line for failure in run.failures for line in (failure.message, failure.detail) if line))
    return RejectionEvidence(made.id, (1, len(made.text.splitlines())), (made,)) if made.text else RejectionEvidence()
