"""Runs one check in the sandbox and reads what came of it."""

from dataclasses import dataclass

from afresh.domain.action import Completed
from afresh.domain.chain import block_id
from afresh.domain.fact import Block
from afresh.domain.task import Check
from afresh.domain.verdict import CheckRun, Failure
from afresh.engine.verify.command import instrumented, is_single_session
from afresh.engine.verify.outcomes import MESSAGE, Outcomes, clipped, collapsed, plain, to_json
from afresh.engine.verify.pytest_output import read_pytest
from afresh.engine.verify.unittest_output import read_unittest
from afresh.ports import Sandbox


@dataclass(frozen=True, slots=True)
class Ran:
    """A run with all that was read from it and what the archive keeps."""

    run: CheckRun
    outcomes: Outcomes
    blocks: tuple[Block, ...]


NONE: frozenset[str] = frozenset()


def run_check(sandbox: Sandbox, check: Check, *, narrowed: str = "", scope: str = "full", known: frozenset[str] = NONE) -> Ran:
    """`narrowed` replaces the check's command; failures of the tests in `known` are shown last."""
    command = narrowed or check.command
    done = sandbox.run(instrumented(command), check.timeout)
    outcomes = read(command, done)
    output = Block(block_id(done.output), done.output)
    tests = to_json(outcomes.tests) if outcomes.tests else ""
    run = CheckRun(
        command=check.command,
        exit=done.exit,
        scope=scope,
        passed=outcomes.passed,
        failed=outcomes.failed,
        skipped=outcomes.skipped,
        seconds=round(done.seconds, 3),
        timed_out=done.timed_out,
        failures=collapsed(outcomes.failures, known) or _whole(check, done),
        block=output.id,
        tests=block_id(tests) if tests else "",
    )
    return Ran(run, outcomes, (output, Block(run.tests, tests)) if tests else (output,))


def read(command: str, done: Completed) -> Outcomes:
    """Nothing is believed of a run that was cut short."""
    if done.timed_out:
        return Outcomes()
    found = read_pytest(done.output, sessions=1 if is_single_session(command) else 0) or read_unittest(done.output)
    return found or Outcomes()


def _whole(check: Check, done: Completed) -> tuple[Failure, ...]:
    """A failing command whose tests can't be named fails as one."""
    if done.exit == 0 and not done.timed_out:
        return ()
    lines = [line for line in plain(done.output) if line.strip()]
    message = f"timed out after {check.timeout} s and was killed" if done.timed_out else f"exit {done.exit}"
    last = lines[-1].strip() if lines else "no output"
    return (Failure(check.command, f"{message}: {last}"[:MESSAGE], clipped(lines)),)
