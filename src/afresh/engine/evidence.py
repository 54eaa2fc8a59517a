"""Which output says why a step was not accepted, and in which of its lines."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from afresh.domain.fact import Block
from afresh.domain.verdict import CheckRun, Verdict
from afresh.engine.extract import OutputReading, read_output
from afresh.engine.judge import StepVerification
from afresh.engine.record import block_from_text

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
    return RejectionEvidence(run.block, find_evidence_lines(read_output("run", run.command, text), text, verdict.regressions))


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
