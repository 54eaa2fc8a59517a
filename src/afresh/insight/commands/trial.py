"""A command is believed to run the tests once it was seen to: by what it would run, then, if there is time, by running it."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.domain.action import Completed
from afresh.domain.text import one_line
from afresh.insight.commands.candidates import Candidate
from afresh.ports import Sandbox

QUICK = 60.0
SHORT = 10.0
SAID = 160
MOST = 6
"""Seconds for the look and for a run where there is none, characters of what went wrong, and commands that are tried at most."""
COLLECTED = re.compile(r"^(?:=+ )?(?:(\d+)(?:/\d+)? tests? collected|no tests collected)(?:.*?, (\d+) errors?)?", re.MULTILINE)
COUNTED = re.compile(r"^\S+\.py(?:::\S+)?: (\d+)$", re.MULTILINE)
BROKEN = re.compile(r"^(?:ERROR (?:collecting )?\S+|=+ ERRORS =+|.*\b(\d+) errors? in [\d.]+s)", re.MULTILINE)
RAN = (
    re.compile(r"\b(\d+) (?:passed|failed)\b"),
    re.compile(r"^Ran (\d+) tests? in", re.MULTILINE),
    re.compile(r"^Tests run: (\d+)", re.MULTILINE),
    re.compile(r"^Found (\d+) test", re.MULTILINE),
    re.compile(r"^(?:Passed|Failed)!.*Total:\s+(\d+)", re.MULTILINE),
)
PACKAGES = re.compile(r"^(?:ok|FAIL)\s+\S+\s+(?:[\d.]+s|\(cached\))", re.MULTILINE)
LOADED = """
import sys, unittest
sys.path.insert(0, "")
loader = unittest.TestLoader()
print("tests:", loader.discover(sys.argv[1]).countTestCases() - len(loader.errors))
print("".join(loader.errors)[-2000:])
"""
NAMING = ("pytest", "unittest")
"""Whose look names the tests. Of others it only shows that they are there at all, so that they must be run."""
LOOK = {
    "go": "go list ./...",
    "cargo": "cargo metadata --no-deps --offline --format-version 1",
    "mvn": "mvn -o -q validate",
    "gradle": "gradle --offline -q help",
    "dotnet": "dotnet --version",
    "node": "node --version",
}


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of one command."""

    command: str
    source: str
    holds: bool = False
    """It runs tests of this tree; whether they pass is another matter."""
    ran: bool = False
    """The tests themselves were run, to their end or to the limit."""
    exit: int = 0
    tests: int = 0
    """0 where that is not told."""
    seconds: float = 0.0
    said: str = ""
    """Why it does not hold, why it was not tried, or what a reader should know of it."""
    tried: bool = True
    collected: int = 0
    """Tests that it would run, as it says without running them: the same on a slow machine."""


@dataclass(frozen=True, slots=True)
class Tried:
    """All that was tried for one state of the files that decide."""

    digest: str = ""
    trials: tuple[Trial, ...] = ()

    @property
    def best(self) -> Trial | None:
        return next((one for one in self.trials if one.holds), None)


def attempt(found: Sequence[Candidate], sandbox: Sandbox, limit: float = 0.0) -> tuple[Trial, ...]:
    """One after the other until one holds; those after it are not tried. With a limit in seconds the tests are run, too."""
    trials, held = list[Trial](), False
    for one in found:
        if one.refused:
            trials.append(Trial(one.command, one.source, said=one.refused, tried=False))
        elif held or sum(trial.tried for trial in trials) >= MOST:
            trials.append(Trial(one.command, one.source, said="another was tried first", tried=False))
        else:
            trials.append(tried(one, sandbox, limit))
            held = trials[-1].holds and not nothing_but_errors(one, trials[-1])
    last = next((trial for trial in reversed(trials) if trial.holds), None) if held else None
    return tuple(replace(trial, holds=trial is last) if last else trial for trial in trials)


def nothing_but_errors(one: Candidate, trial: Trial) -> bool:
    """Another may do better; if none does, these are the tests."""
    return one.kind == "pytest" and not trial.tests


def tried(one: Candidate, sandbox: Sandbox, limit: float) -> Trial:
    look = looking(one)
    first = judged(one, sandbox.run(look, QUICK)) if look else None
    if first and (not first.holds or ((first.tests or one.kind in NAMING) and not limit)):
        return first
    # as a check is run: what can't be imported does not keep the rest from running
    lenient = "export PYTEST_ADDOPTS=--continue-on-collection-errors\n" if one.kind == "pytest" else ""
    done = whole(one, sandbox.run(lenient + one.command, limit or SHORT), first)
    return replace(done, collected=first.collected if first else 0)


def looking(one: Candidate) -> str:
    """The command that only looks which tests there are; empty where nothing less than a run tells."""
    head, _, command = one.command.rpartition(" && ")
    words = shlex.split(command)
    folder = f"{head} && " if head else ""
    if one.kind == "pytest":
        quiet = [] if any(re.fullmatch(r"-q+|--quiet", word) for word in words) else ["-q"]
        return folder + shlex.join([*words, "--collect-only", *quiet])
    if one.kind == "unittest" and (words[-1] in ("discover", "unittest") or words[-2] == "-s"):
        return folder + shlex.join(["python", "-c", LOADED, words[-1] if words[-2] == "-s" else "."])
    if one.kind == "package":
        return f"{words[0]} --version"
    return folder + LOOK[one.kind] if one.kind in LOOK else ""


def judged(one: Candidate, done: Completed) -> Trial:
    """By the look alone. Tests that can't be imported are tests all the same: to mend them may be the task."""
    if one.kind in NAMING:
        tests, broken = counted(done.output)
        found = tests > 0 or (broken and done.exit in (0, 1, 2))
        said = "" if done.exit in (0, 5) and found else last_words(done)
        said = "there are no tests in it" if not found and done.exit in (0, 5) else said
        holds = found and done.exit in (0, 1, 2)
        seconds = round(done.seconds, 2)
        return Trial(one.command, one.source, holds, False, done.exit, tests, seconds, said, collected=tests)
    holds = done.exit == 0
    return Trial(one.command, one.source, holds, False, done.exit, 0, round(done.seconds, 2), "" if holds else last_words(done))


def counted(output: str) -> tuple[int, bool]:
    """Tests that were found, and whether some could not be read."""
    if match := re.search(r"^tests: (\d+)$", output, re.MULTILINE):
        return int(match[1]), False
    broken = bool(BROKEN.search(output))
    if said := list(COLLECTED.finditer(output)):
        return int(said[-1][1] or 0), broken
    return sum(int(number) for number in COUNTED.findall(output)), broken


def whole(one: Candidate, done: Completed, first: Trial | None) -> Trial:
    """By the run. One that is cut off by the clock was running. Where the look has not named tests, some must have been run."""
    tests = max((sum(map(int, pattern.findall(done.output))) for pattern in RAN), default=0)
    named = bool(first) and one.kind in NAMING
    started = named or bool(tests) or bool(PACKAGES.search(done.output)) or "test result:" in done.output
    known = first.tests if first else 0
    if done.timed_out:
        said = f"still running after {done.seconds:.0f} s"
        return Trial(one.command, one.source, bool(first) or started, True, done.exit, known, round(done.seconds, 2), said)
    holds = (done.exit == 0 and (started or one.kind in ("script", "package", "mvn", "gradle"))) or (done.exit != 0 and started)
    said = "" if done.exit == 0 and holds else "there were no tests in it" if done.exit == 0 else last_words(done)
    return Trial(one.command, one.source, holds, True, done.exit, tests or known, round(done.seconds, 2), said)


def last_words(done: Completed) -> str:
    """The line that says most: the last that speaks of an error, else the last."""
    lines = [line.strip() for line in done.output.split("\n") if line.strip()]
    errors = [line for line in lines if re.search(r"error|no module|not found|cannot|no such|unrecognized", line, re.IGNORECASE)]
    said = (errors or lines or ["it printed nothing"])[-1]
    return one_line(f"exit {done.exit}: {said}", SAID)
