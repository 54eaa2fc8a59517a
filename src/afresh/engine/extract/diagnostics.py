"""Findings of compilers, linters and type checkers, however they are laid out: where, and what is wrong there."""

import re
from collections.abc import Iterable, Sequence

from afresh.engine.extract.arrows import arrows
from afresh.engine.extract.complaint import Complaint
from afresh.engine.extract.linker import LINK, unlinked
from afresh.engine.extract.one_line import one_line
from afresh.engine.extract.output import Output
from afresh.engine.extract.reading import MOST, Finding, Reading, clipped, plural
from afresh.engine.extract.stylish import stylish

CLEAN = re.compile(
    r"^(?:All checks passed!|Success: no issues found|0 issues\.|0 errors, 0 warnings|Found 0 errors|\d+ files? already formatted"
    r"|\d+ files? left unchanged|No (?:errors|issues|problems) found)"
)
"""How linters say that they have nothing to say."""
NEAR_THE_END = 6


def read_diagnostics(output: Output) -> Reading | None:
    lines = output.lines
    found = distinct([*one_line(lines), *arrows(lines), *stylish(lines), *unlinked(lines)])
    if not found:
        return None if output.failed else clean(lines)
    files = {one.place.rpartition(":")[0] or one.place for one in found if not one.place.startswith(LINK)}
    where = f" in {plural(len(files), 'file')}" if files else ""
    shown = sorted(by_place(found), key=lambda one: one.lenient)
    first = shown[0]
    findings = [Finding(one.place, clipped(one.text), 0.9, output.span(one.first, one.last)) for one in shown[:MOST]]
    phrase = clipped(f"{counted(found)}{where}: {first.place} {first.text}")
    return Reading(phrase, tuple(findings), wrong=frozenset(one.place for one in found))


def clean(lines: Sequence[str]) -> Reading | None:
    """What says that nothing was found, unless much else is printed."""
    said = next((line for line in reversed(lines[-NEAR_THE_END:]) if CLEAN.match(line)), None)
    return Reading(clipped(said)) if said else None


def distinct(found: Sequence[Complaint]) -> list[Complaint]:
    """In the order of the output; what is said twice of the same place counts once."""
    ordered = sorted(found, key=lambda one: one.first)
    return list({(one.place, one.text): one for one in reversed(ordered)}.values())[::-1]


def by_place(found: Iterable[Complaint]) -> list[Complaint]:
    """One for each place, since a newer fact about a place supersedes the older: the gravest, else the first."""
    places: dict[str, Complaint] = {}
    for one in found:
        held = places.get(one.place)
        if held is None or (held.lenient and not one.lenient):
            places[one.place] = one
    return list(places.values())


def counted(found: Sequence[Complaint]) -> str:
    """Errors and warnings where they are called so, else findings."""
    errors, warnings = (sum(one.severity == word for one in found) for word in ("error", "warning"))
    rest = len(found) - errors - warnings
    told = [(errors, "error"), (warnings, "warning"), (rest, "finding")]
    return ", ".join(plural(count, word) for count, word in told if count)
