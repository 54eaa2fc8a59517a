"""What test runners other than Python's say of each test: in a report of theirs, else in what they print."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from afresh.core.command_output import CommandOutput
from afresh.core.rewrite_check_command import narrow_to_tests
from afresh.core.verdict import FailedTest
from afresh.outputs.outcomes import (
    MAX_DETAIL_LINES,
    MAX_MESSAGE_CHARACTERS,
    OutcomesByTest,
    ReportedTest,
    join_detail,
    outcomes_from_reported_tests,
    outcomes_from_run,
    split_plain_lines,
)
from afresh.outputs.printed_tests import parse_test_run
from afresh.outputs.read_output import read_output
from afresh.outputs.runners import (
    FOLDER_REPORT,
    RUNNERS,
    find_package_folder,
    find_runner_command,
    instrument_runner,
    narrow_runner,
)
from afresh.outputs.test_reports import parse_tap
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import Sandbox, read_text

READERS = {runner.report: runner.read for runner in RUNNERS if runner.read}
"""By the name of the file that a runner is made to write."""
CUT_OUTPUT_MARK = "[afresh: "
"""Stands where a part of a long output was left out."""
FINDING_LINES = 6
"""Lines shown of a compiler's error, from its first on."""
SURE = 0.8
"""Confidence from which on a finding is shown in place of the last lines."""


def instrument_check(sandbox: Sandbox, command: str) -> str:
    """The command of a check, made to leave a report where its runner is known. Scripts are read as the sandbox sees them."""
    folder = find_package_folder(command)
    package = sandbox.run(f"cat ./{folder}/package.json", 10).output if folder is not None else ""
    found = find_runner_command(command, parse_package_scripts(package))
    return instrument_runner(found) if found else command


def narrow_check(context: ToolContext, command: str, tests: Sequence[str]) -> str | None:
    """The command of a check for these test files only; None when that can't be done safely."""
    folder = find_package_folder(command)
    path = f"{folder}/package.json".lstrip("/") if folder is not None else ""
    package = (read_text(context.files, path) if path else "") or ""
    found = find_runner_command(command, parse_package_scripts(package))
    return narrow_runner(found, tests) if found else narrow_to_tests(command, tests)


def parse_package_scripts(text: str) -> Mapping[str, str]:
    """The scripts of a package.json; none if it can't be read."""
    try:
        scripts = json.loads(text)["scripts"]
        return {str(name): script for name, script in scripts.items() if isinstance(script, str)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def read_runner_reports(reports: Mapping[str, str], output: str = "") -> OutcomesByTest | None:
    """The outcomes of all reports that a command left; None if it left none that can be read. A failure without a reason, as that
    of a file that can't be loaded, has it in the output."""
    folder = reports.get(FOLDER_REPORT, "").strip()
    found = list[ReportedTest]()
    for name, parse in READERS.items():
        if text := reports.get(name):
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
                found += parse(text.replace(f"{folder}/", "") if folder else text)
    outcomes = outcomes_from_reported_tests(found)
    return replace(outcomes, failures=_explain_failures(outcomes.failures, output)) if outcomes else None


def read_printed_tests(text: str, last_session: bool = False) -> OutcomesByTest | None:
    """The outcomes that the text of a runner tells, of one command those of its last session of pytest; None if no runner is
    recognised."""
    lines = tuple(split_plain_lines(text))
    run = parse_test_run(CommandOutput(lines, tuple(range(1, len(lines) + 1))), last_session)
    found = outcomes_from_run(run) if run else outcomes_from_reported_tests(parse_tap(text))
    return replace(found, named=found.named and CUT_OUTPUT_MARK not in text) if found else None


def _explain_failures(failures: tuple[FailedTest, ...], output: str) -> tuple[FailedTest, ...]:
    if all(failure.message for failure in failures) or not (said := describe_failed_command("", output)):
        return failures
    return tuple(one if one.message else replace(one, message=said[0], detail=said[1]) for one in failures)


def describe_failed_command(command: str, output: str) -> tuple[str, str] | None:
    """Message and lines of what a compiler or an uncaught error says; None if nothing is recognised for sure."""
    reading, lines = read_output(command, output), output.splitlines()
    sure = [one for one in reading.findings if one.confidence >= SURE and one.lines[0]]
    if not sure:
        return None
    shown = [line for one in sure for line in lines[one.lines[0] - 1 : max(one.lines[1], one.lines[0] + FINDING_LINES - 1)]]
    return " ".join((sure[0].subject, sure[0].text)).strip()[:MAX_MESSAGE_CHARACTERS], join_detail(shown[:MAX_DETAIL_LINES])
