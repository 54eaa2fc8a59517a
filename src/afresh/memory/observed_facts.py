"""Makes facts of what outputs show, and ends facts that no longer hold."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from afresh.core.command_output import MAX_FINDINGS, OutputReading, mask_volatile_names
from afresh.core.fact import Fact, FactKind

LIMITING_OPTION = re.compile(
    r"(?:^|\s)(?:-k|-m|-t|-x|-o|--?run|--testNamePattern|--lf|--ff|--last-failed|--maxfail|--exitfirst|--bail|--?failfast|--deselect"
    r"|--ignore|--skip|--lib|--bins?|--test|--doc|--onlyChanged|--changed)\b"
)
PYTHON_MODULE_PREFIX = re.compile(r"\bpython\S{0,40}\s+-m\s+")
LINE_NUMBER_SUFFIX = re.compile(r":\d+$")
TEST_SUBJECTS_BY_RUNNER = {
    "pytest": re.compile(r"\.py::|(?:^|/)(?:test_\w+|\w+_test|conftest)\.py$"),
    "unittest": re.compile(r"^\w+\.[\w.]*\w$"),
    "jest": re.compile(r"\.[cm]?[jt]sx?::"),
    "vitest": re.compile(r"\.[cm]?[jt]sx?::"),
    "cargo test": re.compile(r"\.rs::"),
    "go test": re.compile(r"^[^:\s]+(?<!\.py)(?<!\.rs)(?<!\.js)(?<!\.ts)::[A-Z]"),
}
"""How the subjects of a runner's tests look."""
RUNNERS_FILTERING_BY_WORD = ("jest", "vitest", "cargo test")
"""Runners that take a bare word for a part of the names of tests."""
RUNNER_WORDS = frozenset(
    {"npx", "npm", "yarn", "pnpm", "run", "exec", "test", "t", "jest", "vitest", "cargo", "nextest", "bun", "--"}
)
REPEATED_FAILURE_CONFIDENCE = 0.85
REPEATED_FAILURE_NOTE = " (as in step {0}, nothing changed since)"
"""How sure a second failure of the same kind makes; and what is said of it."""


def facts_from_reading(
    reading: OutputReading, source: str, block: str, step: int, known: Sequence[Fact], changed: int | None = None
) -> Iterator[Fact]:
    """New facts, and for each older one that no longer holds one that takes it back. `changed` is the step of the last change,
    if the caller knows it."""
    source = mask_volatile_names(source)
    new = [
        Fact(
            FactKind.OBSERVED,
            mask_volatile_names(finding.subject) or source,
            finding.text,
            finding.confidence,
            block,
            step,
            source,
            finding.lines,
        )
        for finding in reading.findings[:MAX_FINDINGS]
    ]
    spoken = {fact.subject for fact in new} | {mask_volatile_names(subject) for subject in reading.wrong}
    for fact in known:
        if fact.kind is FactKind.OBSERVED and fact.subject not in spoken and is_refuted(fact, reading, source):
            yield Fact(FactKind.OBSERVED, fact.subject, "", fact.confidence, block, step, source)
    yield from [confirm_repeated_failure(fact, known, changed) for fact in new] if reading.failed and changed is not None else new


def confirm_repeated_failure(fact: Fact, known: Sequence[Fact], changed: int) -> Fact:
    """A command that failed before in the same way, with nothing changed since, will do so a third time."""
    before = next((one for one in known if one.subject == fact.subject == fact.source and one.source == fact.source), None)
    if before is None or before.kind is not FactKind.OBSERVED or before.step <= changed or before.step == fact.step:
        return fact
    if before.text != fact.text and not before.text.startswith(f"{fact.text} (as in step "):
        return fact
    text = before.text if before.text != fact.text else fact.text + REPEATED_FAILURE_NOTE.format(before.step)
    return replace(fact, text=text, confidence=max(fact.confidence, REPEATED_FAILURE_CONFIDENCE))


def is_refuted(fact: Fact, reading: OutputReading, source: str) -> bool:
    """By the same command, by a pass of its own, or by a run that would have said it again."""
    if fact.source == source or fact.subject in reading.fine:
        return True
    command, holder = PYTHON_MODULE_PREFIX.sub("", source), fact.subject.partition("::")[0]
    if LIMITING_OPTION.search(command):
        return False
    if LINE_NUMBER_SUFFIX.search(fact.subject):
        return is_same_command(PYTHON_MODULE_PREFIX.sub("", fact.source), command) and is_covered_by_command(command, holder)
    if holder in reading.fine:
        return True
    pattern = TEST_SUBJECTS_BY_RUNNER.get(reading.runner) if reading.complete else None
    return bool(pattern and pattern.search(fact.subject)) and is_covered_by_command(command, fact.subject, reading.runner)


def is_same_command(one: str, other: str) -> bool:
    """Whether it is the same command for other files."""
    first, second = ([word for word in command.split() if word != "." and not is_path_argument(word)] for command in (one, other))
    return first == second != []


def is_covered_by_command(command: str, subject: str, runner: str = "") -> bool:
    """Whether a run of what the command names, or of all if it names nothing, is about this too."""
    words = command.split()[1:]
    bare = (
        [word for word in words if word not in RUNNER_WORDS and not word.startswith("-")]
        if runner in RUNNERS_FILTERING_BY_WORD
        else []
    )
    named = [word for word in words if is_path_argument(word)]
    inside = any(is_within_path(subject, word) for word in named) if named else True
    return inside and all(word in subject for word in bare if not is_path_argument(word))


def is_path_argument(word: str) -> bool:
    if word.startswith("-"):
        return False
    return "/" in word or "::" in word or bool(re.search(r"\w\.\w+$", word))


def is_within_path(subject: str, word: str) -> bool:
    """A folder of Go's goes without the name of its module; `...` is all below it."""
    place = word.removeprefix("./").removesuffix("...").rstrip("/")
    return (
        not place or subject.startswith(place) or f"/{place}::" in subject or (word.endswith("...") and f"/{place}/" in subject)
    )
