"""Tries commands that may run the tests: lists what each would run, then, if a time limit is given, runs it."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from afresh.app.test_commands.candidates import CommandCandidate
from afresh.core.action import CommandRun
from afresh.core.truncate import to_one_line
from afresh.ports.workspace import Sandbox
from afresh.verification.checks import read_test_outcomes

LISTING_SECONDS = 60.0
DEFAULT_RUN_SECONDS = 10.0
MAX_REASON_CHARACTERS = 160
MAX_COMMANDS_TRIED = 6
"""Seconds for listing the tests, and for a run if they can't be listed; characters of an error; and commands tried at most."""
PYTEST_COLLECTED = re.compile(
    r"^(?:=+ )?(?:(\d+)(?:/\d+)? tests? collected|no tests collected)(?:.*?, (\d+) errors?)?", re.MULTILINE
)
PYTEST_FILE_COUNT = re.compile(r"^(?=\S*?\.py:)\S+: (\d+)$", re.MULTILINE)
COLLECTION_ERROR = re.compile(r"^(?:ERROR (?:collecting )?\S+|=+ ERRORS =+|.*\b(\d+) errors? in [\d.…]+s)", re.MULTILINE)
TOTAL_OF_OTHER_RUNNERS = re.compile(
    r"^(?:#|ℹ) tests (\d+)$|^[^\S\n]++(\d+) (?:passing|failing)\b|^(?:Passed|Failed)!.*Total:\s+(\d+)|^Found (\d+) test",
    re.MULTILINE,
)
FAILED_OF_OTHER_RUNNERS = re.compile(r"^(?:#|ℹ) fail (\d+)$|^[^\S\n]++(\d+) failing\b|^Failed!.*Failed:\s+(\d+)", re.MULTILINE)
"""What node, mocha, dotnet and Django say of tests that they do not name."""
GO_PACKAGE_PASSED = re.compile(r"^ok\s+\S+\s+(?:[\d.]+s|\(cached\))", re.MULTILINE)
UNITTEST_COUNT_SCRIPT = """
import sys, unittest
sys.path.insert(0, "")
loader = unittest.TestLoader()
print("tests:", loader.discover(sys.argv[1]).countTestCases() - len(loader.errors))
print("".join(loader.errors)[-2000:])
"""
LISTING_KINDS = ("pytest", "unittest")
"""Runners that list their tests by name. Others only show that there are tests, so they must be run."""
PROBE_COMMANDS = {
    "go": "go list ./...",
    "cargo": "cargo metadata --no-deps --offline --format-version 1",
    "mvn": "mvn -o -q validate",
    "gradle": "gradle --offline -q help",
    "dotnet": "dotnet --version",
    "node": "node --version",
    "make": "make --version",
}


class TrialNote(StrEnum):
    """A remark about a trial for the reader."""

    NONE = ""
    CUT_OFF = "cut off"
    """The tests were still running at the time limit."""
    FOREIGN_IMPORT = "foreign import"
    """The tests import a package of the project from another place."""
    NO_TRIAL = "no trial"
    """Nothing could be tried on this machine."""


@dataclass(frozen=True, slots=True)
class CommandTrial:
    """The result of trying one command."""

    command: str
    source: str
    holds: bool = False
    """Whether it runs tests of this tree; they need not pass."""
    ran: bool = False
    """Whether the tests were run, to their end or to the time limit."""
    exit: int = 0
    tests: int = 0
    """0 if unknown."""
    seconds: float = 0.0
    said: str = ""
    """Why it does not work, why it was not tried, or a remark for the reader."""
    tried: bool = True
    note: TrialNote = TrialNote.NONE
    failed: int = 0
    skipped: int = 0
    """Tests that failed or were skipped; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class TrialResults:
    """All trials for one state of the files that they depend on."""

    digest: str = ""
    trials: tuple[CommandTrial, ...] = ()
    tree: str = ""
    """What the tests ran on; empty if that can't be told again."""

    @property
    def best(self) -> CommandTrial | None:
        return next((trial for trial in self.trials if trial.holds), None)


def try_candidates(candidates: Sequence[CommandCandidate], sandbox: Sandbox, limit: float = 0.0) -> tuple[CommandTrial, ...]:
    """Try one after another until one works; the rest are not tried. With a time limit in seconds the tests are run, too."""
    trials, held = list[CommandTrial](), False
    for candidate in candidates:
        if candidate.refused:
            trials.append(CommandTrial(candidate.command, candidate.source, said=candidate.refused, tried=False))
        elif held or sum(trial.tried for trial in trials) >= MAX_COMMANDS_TRIED:
            trials.append(CommandTrial(candidate.command, candidate.source, said="another was tried first", tried=False))
        else:
            trials.append(try_candidate(candidate, sandbox, limit))
            # of tests that all had errors another command may make more; if none does, this one is used
            held = trials[-1].holds and (candidate.kind != "pytest" or bool(trials[-1].tests))
    last = next((trial for trial in reversed(trials) if trial.holds), None) if held else None
    return tuple(replace(trial, holds=trial is last) if last else trial for trial in trials)


def try_candidate(candidate: CommandCandidate, sandbox: Sandbox, limit: float) -> CommandTrial:
    look = make_listing_command(candidate)
    first = judge_listing(candidate, sandbox.run(look, LISTING_SECONDS)) if look else None
    if first and (not first.holds or ((first.tests or candidate.kind in LISTING_KINDS) and not limit)):
        return first
    # as checks are run: a module that can't be imported does not stop the rest
    lenient = "export PYTEST_ADDOPTS=--continue-on-collection-errors\n" if candidate.kind == "pytest" else ""
    return judge_run(candidate, sandbox.run(lenient + candidate.command, limit or DEFAULT_RUN_SECONDS), first)


def make_listing_command(candidate: CommandCandidate) -> str:
    """Return the command that only lists the tests; empty if the tests must be run."""
    head, _, command = candidate.command.rpartition(" && ")
    words = shlex.split(command)
    folder = f"{head} && " if head else ""
    if candidate.kind == "pytest":
        quiet = [] if any(re.fullmatch(r"-q+|--quiet", word) for word in words) else ["-q"]
        return folder + shlex.join([*words, "--collect-only", *quiet])
    python = next((word for word in words if word.startswith("python")), "python")
    if candidate.kind == "unittest" and (words[-1] in ("discover", "unittest") or words[-2] == "-s"):
        return folder + shlex.join([python, "-c", UNITTEST_COUNT_SCRIPT, words[-1] if words[-2] == "-s" else "."])
    if candidate.kind == "package":
        return f"{words[0]} --version"
    return folder + PROBE_COMMANDS[candidate.kind] if candidate.kind in PROBE_COMMANDS else ""


def judge_listing(candidate: CommandCandidate, done: CommandRun) -> CommandTrial:
    """Judge a command by its listing. Tests that can't be imported count as tests: fixing them may be the task."""
    tests, holds = 0, done.exit == 0
    error_line = "" if holds else find_error_line(done)
    if candidate.kind in LISTING_KINDS:
        tests, broken = count_listed_tests(done.output)
        holds = done.exit in (0, 1, 2) and (tests > 0 or broken)
        error_line = "there are no tests in it" if not holds and done.exit in (0, 5) else error_line
    return CommandTrial(candidate.command, candidate.source, holds, False, done.exit, tests, round(done.seconds, 2), error_line)


def count_listed_tests(output: str) -> tuple[int, bool]:
    """Return the number of tests found, and whether some could not be read."""
    if match := re.search(r"^tests: (\d+)$", output, re.MULTILINE):
        return int(match[1]), False
    broken = bool(COLLECTION_ERROR.search(output))
    if matches := list(PYTEST_COLLECTED.finditer(output)):
        return int(matches[-1][1] or 0), broken
    return sum(int(number) for number in PYTEST_FILE_COUNT.findall(output)), broken


def judge_run(candidate: CommandCandidate, done: CommandRun, first: CommandTrial | None) -> CommandTrial:
    """Judge a command by its run. A run that reached the time limit works. If no tests were listed, some must have been run."""
    tests, failed, skipped = count_tests_run(candidate.command, done)
    listed = bool(first) and candidate.kind in LISTING_KINDS
    known, seconds = first.tests if first else 0, round(done.seconds, 2)
    if done.timed_out:
        text = f"still running after {done.seconds:.0f} s"
        holds = bool(first) or bool(tests)
        return CommandTrial(
            candidate.command, candidate.source, holds, True, done.exit, known, seconds, text, note=TrialNote.CUT_OFF
        )
    started = listed or bool(tests) or bool(GO_PACKAGE_PASSED.search(done.output))
    holds = started or (done.exit == 0 and candidate.kind in ("script", "package", "mvn", "gradle", "make"))
    text = "" if done.exit == 0 and holds else "there were no tests in it" if done.exit == 0 else find_error_line(done)
    return CommandTrial(
        candidate.command, candidate.source, holds, True, done.exit, tests or known, seconds, text, failed=failed, skipped=skipped
    )


def count_tests_run(command: str, done: CommandRun) -> tuple[int, int, int]:
    """Return how many tests there were, how many of them failed and were skipped, as far as the runner says it."""
    outcomes = read_test_outcomes(command, done)
    if outcomes.readable:
        return outcomes.passed + outcomes.failed + outcomes.skipped, outcomes.failed, outcomes.skipped
    totals, failures = (
        sum(int(number) for match in pattern.findall(done.output) for number in match if number)
        for pattern in (TOTAL_OF_OTHER_RUNNERS, FAILED_OF_OTHER_RUNNERS)
    )
    return totals, failures, 0


def find_error_line(done: CommandRun) -> str:
    """Return the most informative line: what the sandbox says of a missing file, the last that mentions an error, or the last."""
    lines = [line.strip() for line in done.output.split("\n") if line.strip()]
    if lines and lines[-1].startswith("[afresh: "):
        return f"exit {done.exit}: {lines[-1].removeprefix('[afresh: ').removesuffix(']')}"
    errors = [line for line in lines if re.search(r"error|no module|not found|cannot|no such|unrecognized", line, re.IGNORECASE)]
    error = (errors or lines or ["it printed nothing"])[-1]
    return to_one_line(f"exit {done.exit}: {error}", MAX_REASON_CHARACTERS)
