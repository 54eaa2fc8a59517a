"""Runs one check in the sandbox and reads what came of it."""

from dataclasses import dataclass, replace

from afresh.core.action import PLAIN_MANNER, CommandRun, FileAccess, RunManner
from afresh.core.archived_block import Block, block_id_from_text
from afresh.core.redaction import redact_value
from afresh.core.rewrite_check_command import NO_BYTECODE, instrument_command, is_single_pytest_session
from afresh.core.task import Check
from afresh.core.verdict import NO_EVIDENCE, CheckRun, EvidenceSource, FailedTest, TestEvidence
from afresh.outputs.outcomes import (
    MAX_MESSAGE_CHARACTERS,
    OutcomesByTest,
    collapse_failures,
    outcomes_to_json,
    split_plain_lines,
    truncate_traceback,
)
from afresh.ports.workspace import Sandbox
from afresh.verification.report_channel import evidence_from_reports, outcomes_from_reports, read_session_reports
from afresh.verification.runner_reports import (
    describe_failed_command,
    instrument_check,
    read_printed_tests,
    read_runner_reports,
)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A run with all that was read from it and what the archive keeps."""

    run: CheckRun
    outcomes: OutcomesByTest
    blocks: tuple[Block, ...]
    evidence: TestEvidence = NO_EVIDENCE
    """The whole of it: a run on record keeps less."""
    files: FileAccess | None = None
    """What it opened and wrote, if that was watched."""


NO_TESTS: frozenset[str] = frozenset()


def run_check(
    sandbox: Sandbox,
    check: Check,
    *,
    narrowed: str = "",
    scope: str = "full",
    known: frozenset[str] = NO_TESTS,
    manner: RunManner = PLAIN_MANNER,
    limit: float = 0.0,
) -> CheckResult:
    """`narrowed` replaces the check's command, `limit` its time; failures of the tests in `known` are shown last."""
    command = narrowed or check.command
    told = f"{NO_BYTECODE}\n{command}" if manner.elsewhere else instrument_command(instrument_check(sandbox, command))
    ran = sandbox.run(told, limit or check.timeout, reports=not manner.elsewhere, manner=manner)
    reports, done = read_session_reports(ran), redact_value(replace(ran, reports={}, keys=()))
    written = None if ran.timed_out else redact_value(read_runner_reports(ran.reports, done.output))
    printed = written or read_test_outcomes(command, done)
    outcomes = redact_value(outcomes_from_reports(reports, printed)) if reports else printed
    evidence = redact_value(evidence_from_reports(reports, printed, EvidenceSource.RUNNER if written else EvidenceSource.TEXT))
    output = Block(block_id_from_text(done.output), done.output)
    tests = outcomes_to_json(outcomes.tests) if outcomes.tests else ""
    run = CheckRun(
        command=check.command,
        exit=done.exit,
        scope=scope,
        passed=outcomes.passed,
        failed=outcomes.failed,
        skipped=outcomes.skipped,
        seconds=round(done.seconds, 3),
        timed_out=done.timed_out,
        failures=collapse_failures(outcomes.failures, known) or _fail_whole_command(check, done),
        block=output.id,
        tests=block_id_from_text(tests) if tests else "",
        evidence=replace(evidence, plugins=(), modules=()),
    )
    blocks = (output, Block(run.tests, tests)) if tests else (output,)
    return CheckResult(run, outcomes, blocks, evidence, done.files)


def read_test_outcomes(command: str, done: CommandRun) -> OutcomesByTest:
    """Nothing is believed of a run that was cut short."""
    if done.timed_out:
        return OutcomesByTest()
    return read_printed_tests(done.output, is_single_pytest_session(command)) or OutcomesByTest()


def _fail_whole_command(check: Check, done: CommandRun) -> tuple[FailedTest, ...]:
    """A failing command whose tests can't be named fails as one."""
    if done.exit == 0 and not done.timed_out:
        return ()
    lines = [line for line in split_plain_lines(done.output) if line.strip()]
    message = f"timed out after {check.timeout} s and was killed" if done.timed_out else f"exit {done.exit}"
    if not done.timed_out and (said := describe_failed_command(check.command, done.output)):
        return (FailedTest(check.command, f"{message}: {said[0]}"[:MAX_MESSAGE_CHARACTERS], said[1]),)
    last = lines[-1].strip() if lines else "no output"
    return (FailedTest(check.command, f"{message}: {last}"[:MAX_MESSAGE_CHARACTERS], truncate_traceback(lines)),)
