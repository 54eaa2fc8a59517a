"""What was read becomes facts; and what no longer holds is taken back."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from afresh.domain.fact import Fact, FactKind
from afresh.engine.extract.reading import MOST, Reading, steady

LIMITED = re.compile(
    r"(?:^|\s)(?:-k|-m|-t|-x|-o|--?run|--testNamePattern|--lf|--ff|--last-failed|--maxfail|--exitfirst|--bail|--?failfast|--deselect"
    r"|--ignore|--skip|--lib|--bins?|--test|--doc|--onlyChanged|--changed)\b"
)
THROUGH = re.compile(r"\bpython\S*\s+-m\s+")
AT_A_LINE = re.compile(r":\d+$")
TESTS = {
    "pytest": re.compile(r"\.py::|(?:^|/)(?:test_\w+|\w+_test|conftest)\.py$"),
    "unittest": re.compile(r"^\w+\.[\w.]*\w$"),
    "jest": re.compile(r"\.[cm]?[jt]sx?::"),
    "vitest": re.compile(r"\.[cm]?[jt]sx?::"),
    "cargo test": re.compile(r"\.rs::"),
    "go test": re.compile(r"^[^:\s]+(?<!\.py)(?<!\.rs)(?<!\.js)(?<!\.ts)::[A-Z]"),
}
"""How the subjects of a runner's tests look."""
BY_WORD = ("jest", "vitest", "cargo test")
"""Runners that take a bare word for a part of the names of tests."""
SPOKEN = frozenset({"npx", "npm", "yarn", "pnpm", "run", "exec", "test", "t", "jest", "vitest", "cargo", "nextest", "bun", "--"})
AGAIN = 0.85
AS_BEFORE = " (as in step {0}, nothing changed since)"
"""How sure a second failure of the same kind makes; and what is said of it."""


def learnt(
    reading: Reading, source: str, block: str, step: int, known: Sequence[Fact], changed: int | None = None
) -> Iterator[Fact]:
    """New facts, and for each older one that no longer holds one that takes it back. `changed` is the step of the last change,
    if the caller knows it."""
    source = steady(source)
    new = [
        Fact(FactKind.OBSERVED, steady(one.subject) or source, one.text, one.confidence, block, step, source, one.lines)
        for one in reading.findings[:MOST]
    ]
    spoken = {fact.subject for fact in new} | {steady(subject) for subject in reading.wrong}
    for fact in known:
        if fact.kind is FactKind.OBSERVED and fact.subject not in spoken and refuted(fact, reading, source):
            yield Fact(FactKind.OBSERVED, fact.subject, "", fact.confidence, block, step, source)
    yield from [again(fact, known, changed) for fact in new] if reading.failed and changed is not None else new


def again(fact: Fact, known: Sequence[Fact], changed: int) -> Fact:
    """A command that failed before in the same way, with nothing changed since, will do so a third time."""
    before = next((one for one in known if one.subject == fact.subject == fact.source and one.source == fact.source), None)
    if before is None or before.kind is not FactKind.OBSERVED or before.step <= changed or before.step == fact.step:
        return fact
    if before.text != fact.text and not before.text.startswith(f"{fact.text} (as in step "):
        return fact
    told = before.text if before.text != fact.text else fact.text + AS_BEFORE.format(before.step)
    return replace(fact, text=told, confidence=max(fact.confidence, AGAIN))


def refuted(fact: Fact, reading: Reading, source: str) -> bool:
    """By the same command, by a pass of its own, or by a run that would have said it again."""
    if fact.source == source or fact.subject in reading.fine:
        return True
    command, holder = THROUGH.sub("", source), fact.subject.partition("::")[0]
    if LIMITED.search(command):
        return False
    if AT_A_LINE.search(fact.subject):
        return alike(THROUGH.sub("", fact.source), command) and covers(command, holder)
    if holder in reading.fine:
        return True
    pattern = TESTS.get(reading.runner) if reading.complete else None
    return bool(pattern and pattern.search(fact.subject)) and covers(command, fact.subject, reading.runner)


def alike(one: str, other: str) -> bool:
    """The same command for other files."""
    first, second = ([word for word in command.split() if word != "." and not is_place(word)] for command in (one, other))
    return first == second != []


def covers(command: str, subject: str, runner: str = "") -> bool:
    """Whether a run of what the command names, or of all if it names nothing, is about this too."""
    words = command.split()[1:]
    bare = [word for word in words if word not in SPOKEN and not word.startswith("-")] if runner in BY_WORD else []
    named = [word for word in words if is_place(word)]
    inside = any(within(subject, word) for word in named) if named else True
    return inside and all(word in subject for word in bare if not is_place(word))


def is_place(word: str) -> bool:
    if word.startswith("-"):
        return False
    return "/" in word or "::" in word or bool(re.search(r"\w\.\w+$", word))


def within(subject: str, word: str) -> bool:
    """A folder of Go's goes without the name of its module; `...` is all below it."""
    place = word.removeprefix("./").removesuffix("...").rstrip("/")
    return (
        not place or subject.startswith(place) or f"/{place}::" in subject or (word.endswith("...") and f"/{place}/" in subject)
    )
