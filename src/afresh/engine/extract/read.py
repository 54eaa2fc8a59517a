"""Read an output with whatever understands it, and turn what it says into facts."""

import re
from collections.abc import Iterator, Sequence

from afresh.domain.fact import Fact, FactKind
from afresh.engine.extract.diagnostics import read_diagnostics
from afresh.engine.extract.git import read_git
from afresh.engine.extract.hits import read_hits, read_listing
from afresh.engine.extract.reading import MOST, Reading, clipped
from afresh.engine.extract.tests import read_tests
from afresh.engine.extract.tracebacks import read_traceback

TELLING = re.compile(
    r"error|exception|fail|traceback|warning|assert|passed|no such|not found|refused|denied"
    r"|\*\*\*|unable|cannot|can't|unknown|invalid",
    re.IGNORECASE,
)
ENDED = re.compile(r"^(exit \d+|timed out and was killed)(?:, no output)?$", re.MULTILINE)
PLACE = re.compile(r"^(?:cd\s+\S+|export\s+\S+|source\s+\S+|set\s+-\S+)\s*(?:&&|;)\s*")
TAIL = re.compile(r"\s*(?:2>&1|2>/dev/null|\|\s*(?:head|tail|less|cat)\b[^|;&]*)\s*$")
LIMITED = re.compile(r"(?:^|\s)(?:-k|-m|--lf|--ff|--last-failed|-x|--maxfail|--exitfirst|--deselect|--ignore)\b")
RUNNER = re.compile(r"\bpython\S*\s+-m\s+")
READ = 60_000
"""Characters of an output that are looked at, half of them from its end."""


def read(tool: str, command: str, text: str) -> Reading:
    body = looked_at(told(text))
    if tool == "search":
        return read_listing(body) or Reading(fallback(body))
    git, hits = read_git(body, command), read_hits(body, command)
    found = git or hits or read_tests(body) or read_diagnostics(body) or read_traceback(body)
    return found or Reading(fallback(body))


def looked_at(text: str) -> str:
    return text if len(text) <= READ else f"{text[: READ // 2]}\n{text[-READ // 2 :]}"


def commanded(text: str) -> str:
    """The command that an output begins with, as `run` and `test` print it: more than its first line if it had more."""
    if not text.startswith("$ "):
        return ""
    end = ENDED.search(text)
    return text[2 : end.start()].rstrip("\n") if end else text[2:].partition("\n")[0]


def told(text: str) -> str:
    """Without the echo of the command, which may hold a whole script."""
    end = ENDED.search(text) if text.startswith("$ ") else None
    return text[end.start() :] if end else text


def fallback(body: str) -> str:
    """How it ended if badly, and the line that says why; else the line that it begins with."""
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    ended = lines.pop(0) if lines and ENDED.match(lines[0]) else ""
    bad = "" if ended.startswith("exit 0") else ended
    telling = [line for line in lines if TELLING.search(line)]
    line = telling[-1] if bad and telling else next(iter(telling or lines), "")
    return clipped(f"{bad}: {line}" if bad and line else bad or line or "no output")


def purpose(command: str) -> str:
    """What a command is for: without the way to its folder, without what only shortens its output, and of a script its head."""
    text = command.strip()
    while (shorter := PLACE.sub("", text, count=1)) != text:
        text = shorter
    first, *more = text.splitlines() or [""]
    while (shorter := TAIL.sub("", first)) != first:
        first = shorter
    return clipped(first, 100) + (" …" if more and not first.endswith("…") else "")


def learnt(reading: Reading, source: str, block: str, step: int, known: Sequence[Fact]) -> Iterator[Fact]:
    """New facts, and for each older one that no longer holds one that takes it back."""
    new = [
        Fact(FactKind.OBSERVED, finding.subject or source, finding.text, finding.confidence, block, step, source)
        for finding in reading.findings[:MOST]
    ]
    subjects = {fact.subject for fact in new}
    for fact in known:
        if fact.kind is FactKind.OBSERVED and fact.subject not in subjects and refuted(fact, reading, source):
            yield Fact(FactKind.OBSERVED, fact.subject, "", fact.confidence, block, step, source)
    yield from new


def refuted(fact: Fact, reading: Reading, source: str) -> bool:
    if fact.source == source or fact.subject in reading.fine:
        return True
    command = RUNNER.sub("", source)
    return reading.complete and "::" in fact.subject and not LIMITED.search(command) and covers(command, fact.subject)


def covers(command: str, test: str) -> bool:
    """Whether a run of the tests that the command names, or of all if it names none, runs this one too."""
    named = [word for word in command.split()[1:] if not word.startswith("-") and (".py" in word or "/" in word or "::" in word)]
    return not named or any(test.startswith(word.removeprefix("./").rstrip("/")) for word in named)
