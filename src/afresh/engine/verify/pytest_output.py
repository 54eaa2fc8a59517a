"""Reads what pytest 7, 8 and 9 print, quiet or verbose, with or without xdist."""

import re
from collections.abc import Iterator, Mapping, Sequence

from afresh.domain.verdict import Failure
from afresh.engine.verify.outcomes import ERROR, FAILED, MESSAGE, PASSED, SKIPPED, Outcomes, clipped, plain, worst

_TITLE = re.compile(r"=+ short test summary info =+\s*$")
_COUNTS = re.compile(r"^(?:=+ )?((?:\d+ [a-z ]+?(?:, )?)+|no tests ran) in [\d.]+s(?: \([\d:, a-z]+\))?(?: =+)?\s*$")
_COUNT = re.compile(r"(\d+) ([a-z ]+)")
_LINE = re.compile(r"^(PASSED|FAILED|ERROR|XFAIL|XPASS|SUBFAIL(?:ED)?\b\S*?(?: .*?)?) (\S.*?)\s*$")
SECTION = re.compile(r"^_+ (?:ERROR at (?:setup|teardown) of |ERROR collecting )?(.+?) _+\s*$")
_RULE = re.compile(r"^(?:=+ .* =+|!+ .* !+)\s*$")
_MEANING = {"PASSED": PASSED, "FAILED": FAILED, "ERROR": ERROR, "XFAIL": SKIPPED, "XPASS": SKIPPED}


def read_pytest(output: str, sessions: int = 0) -> Outcomes | None:
    """The outcomes of the last `sessions` pytest sessions in the output (0: of all); None if there was none.

    A project that tests pytest plugins shows the sessions of its own tests too: for one command only the last is its own.
    """
    lines = plain(output)
    summaries = _summaries(lines)[-sessions:]
    begin = summaries[0][0] if summaries else 0
    counts = [_counts(line) for line in lines[begin:] if _COUNTS.match(line)][-sessions:]
    if not counts and not summaries:
        return None
    sections = _sections(lines)
    found = [entry for start, end in summaries for entry in _entries(lines[start:end], {name for name, _ in sections})]
    tests = worst((test, outcome) for test, outcome, _ in found)
    passed, failed, skipped = (sum(column) for column in zip(*counts or [_tally(tests)], strict=True))
    named = bool(found) and sum(outcome == PASSED for _, outcome, _ in found) >= passed
    return Outcomes(tests, passed, failed, skipped, named, tuple(_failures(found, sections)))


def _tally(tests: Mapping[str, str]) -> tuple[int, int, int]:
    """Very quiet runs print no counts."""
    said = list(tests.values())
    return said.count(PASSED), said.count(FAILED) + said.count(ERROR), said.count(SKIPPED)


def _summaries(lines: Sequence[str]) -> list[tuple[int, int]]:
    """From each title to the next rule, which ends it."""
    starts = [number + 1 for number, line in enumerate(lines) if _TITLE.match(line)]
    return [(start, _first_end(lines, start)) for start in starts]


def _first_end(lines: Sequence[str], start: int) -> int:
    for number in range(start, len(lines)):
        if _COUNTS.match(lines[number]) or _RULE.match(lines[number]):
            return number
    return len(lines)


def _counts(line: str) -> tuple[int, int, int]:
    match = _COUNTS.match(line)
    counts = {word.strip().rstrip("s"): int(number) for number, word in _COUNT.findall(match[1] if match else "")}
    failed = counts.get("failed", 0) + counts.get("error", 0)
    return counts.get("passed", 0), failed, counts.get("skipped", 0) + counts.get("xfailed", 0) + counts.get("xpassed", 0)


def _entries(lines: Sequence[str], titles: set[str]) -> Iterator[tuple[str, str, str]]:
    """Test, outcome and the (perhaps shortened) message of each summary line."""
    for line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        word, rest = match[1], match[2]
        if word.startswith("SUB"):
            rest = line[_where_the_id_begins(line) :].rstrip()
        if word == "PASSED":
            yield rest, PASSED, ""
        else:
            yield _split(rest, titles, _MEANING.get(word, FAILED))


def _where_the_id_begins(line: str) -> int:
    """A sub-test's line tells its parameters first; the id is the first word with a double colon."""
    for match in re.finditer(r"\S+", line):
        if "::" in match[0]:
            return match.start()
    return line.index(" ") + 1


def _split(rest: str, titles: set[str], outcome: str) -> tuple[str, str, str]:
    """Both ids and messages may hold ' - ': a cut whose id heads a traceback is right, else the first with whole brackets."""
    cuts = [match.start() for match in re.finditer(r" - ", rest)]
    for cut in cuts:
        if title(rest[:cut]) in titles:
            return rest[:cut], outcome, rest[cut + 3 :]
    for cut in cuts:
        if title(rest) not in titles and ("[" not in rest[:cut] or rest[:cut].endswith("]")):
            return rest[:cut], outcome, rest[cut + 3 :]
    return rest, outcome, ""


def title(test: str) -> str:
    """How pytest heads the traceback of a test."""
    _, separator, name = test.partition("::")
    return name.replace("::", ".") if separator else test


def _sections(lines: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Each traceback under its title, without captured output."""
    found: list[tuple[str, list[str]]] = []
    inside = False
    for line in lines:
        heading = SECTION.match(line)
        if heading:
            found.append((heading[1], []))
            inside = True
        elif _RULE.match(line) or re.match(r"^-+ Captured .* -+\s*$", line):
            inside = False
        elif inside:
            found[-1][1].append(line)
    return found


def _failures(found: Sequence[tuple[str, str, str]], sections: list[tuple[str, list[str]]]) -> Iterator[Failure]:
    left = list(sections)
    for test, outcome, message in found:
        if outcome not in (FAILED, ERROR):
            continue
        wanted = title(test)
        place = next((at for at, (name, _) in enumerate(left) if name == wanted or name.startswith(wanted + " (")), None)
        lines = left.pop(place)[1] if place is not None else []
        yield Failure(test, (_reason(lines) or message)[:MESSAGE], clipped(lines))


def _reason(lines: Sequence[str]) -> str:
    """The first line of the last exception."""
    reason, before = "", ""
    for line in lines:
        if line.startswith("E ") and not before.startswith("E"):
            reason = line[1:].strip()
        before = line
    return reason
