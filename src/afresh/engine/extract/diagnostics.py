"""Findings of compilers, linters and type checkers, however they are laid out: where, and what is wrong there."""

import re
from collections.abc import Iterable, Sequence

from afresh.engine.extract.arrows import parse_arrow_diagnostics
from afresh.engine.extract.complaint import Diagnostic
from afresh.engine.extract.linker import LINK_SUBJECT_PREFIX, parse_linker_errors
from afresh.engine.extract.one_line import parse_one_line_diagnostics
from afresh.engine.extract.output import CommandOutput
from afresh.engine.extract.reading import MAX_FINDINGS, OutputFinding, OutputReading, truncate_to_one_line, format_plural
from afresh.engine.extract.stylish import parse_stylish_diagnostics

CLEAN_RESULT = re.compile(
    r"^(?:All checks passed!|Success: no issues found|0 issues\.|0 errors, 0 warnings|Found 0 errors|\d+ files? already formatted"
    r"|\d+ files? left unchanged|No (?:errors|issues|problems) found)"
)
"""How linters say that they have nothing to say."""
MAX_CLOSING_LINES = 6


def read_diagnostics(output: CommandOutput) -> OutputReading | None:
    lines = output.lines
    found = drop_duplicate_diagnostics(
        [
            *parse_one_line_diagnostics(lines),
            *parse_arrow_diagnostics(lines),
            *parse_stylish_diagnostics(lines),
            *parse_linker_errors(lines),
        ]
    )
    if not found:
        return None if output.failed else read_clean_result(lines)
    files = {one.place.rpartition(":")[0] or one.place for one in found if not one.place.startswith(LINK_SUBJECT_PREFIX)}
    where = f" in {format_plural(len(files), 'file')}" if files else ""
    shown = sorted(select_gravest_by_place(found), key=lambda one: one.lenient)
    first = shown[0]
    findings = [
        OutputFinding(one.place, truncate_to_one_line(one.text), 0.9, output.span(one.first, one.last))
        for one in shown[:MAX_FINDINGS]
    ]
    phrase = truncate_to_one_line(f"{count_by_severity(found)}{where}: {first.place} {first.text}")
    return OutputReading(phrase, tuple(findings), wrong=frozenset(one.place for one in found))


def read_clean_result(lines: Sequence[str]) -> OutputReading | None:
    """What says that nothing was found, unless much else is printed."""
    said = next((line for line in reversed(lines[-MAX_CLOSING_LINES:]) if CLEAN_RESULT.match(line)), None)
    return OutputReading(truncate_to_one_line(said)) if said else None


def drop_duplicate_diagnostics(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """In the order of the output; what is said twice of the same place counts once."""
    ordered = sorted(found, key=lambda one: one.first)
    return list({(one.place, one.text): one for one in reversed(ordered)}.values())[::-1]


def select_gravest_by_place(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """One for each place, since a newer fact about a place supersedes the older: the gravest, else the first."""
    places: dict[str, Diagnostic] = {}
    for one in found:
        held = places.get(one.place)
        if held is None or (held.lenient and not one.lenient):
            places[one.place] = one
    return list(places.values())


def count_by_severity(found: Sequence[Diagnostic]) -> str:
    """Errors and warnings where they are called so, else findings."""
    errors, warnings = (sum(one.severity == word for one in found) for word in ("error", "warning"))
    rest = len(found) - errors - warnings
    told = [(errors, "error"), (warnings, "warning"), (rest, "finding")]
    return ", ".join(format_plural(count, word) for count, word in told if count)
