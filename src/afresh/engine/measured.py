"""What of the changed files the checks have run, before and after, where a check prints it, as `pytest --cov` does. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence

from afresh.domain.fact import Look
from afresh.domain.state import State
from afresh.domain.verdict import CheckRun

ROW = re.compile(r"^(\S+\.\w+|TOTAL)\s+\d+\s+\d+(?:\s+\d+\s+\d+)?\s+(\d+(?:\.\d+)?)%(?:\s+([\d\s,>-]+?))?\s*$", re.MULTILINE)
MISSING = 80
COUNTED = "measured "
"""Characters of the list of lines that nothing has run; and how a look is called that tells of lines that were counted."""
Rows = dict[str, tuple[str, str]]
"""By file: how much of it was run, in percent, and which lines were not."""


def measured(state: State, read: Callable[[str], str]) -> Iterator[Look]:
    """For the changed files and in all. Only full runs are held against each other."""
    before, after = (
        rows(state.baseline.runs if state.baseline else (), read),
        rows(state.verdict.runs if state.verdict else (), read),
    )
    for path in (*state.changed, "TOTAL"):
        if path in after or (path in before and not after):
            yield Look("coverage", f"{COUNTED}{path}", told(path, before, after or before))


def uncounted(looks: Sequence[Look], counted: Sequence[Look]) -> list[Look]:
    """Without what was guessed about files of which lines were counted."""
    paths = {look.subject.removeprefix(COUNTED) for look in counted}
    return [look for look in looks if look.kind != "coverage" or look.subject not in paths]


def told(path: str, before: Rows, after: Rows) -> str:
    old, (new, missing) = before.get(path, ("", ""))[0], after[path]
    grown = f"{old} % → {new} %" if old and old != new else f"{new} %"
    return f"{'all files' if path == 'TOTAL' else path}: {grown} of lines run" + (
        f"; not: {missing[:MISSING]}" if missing else ""
    )


def rows(runs: tuple[CheckRun, ...], read: Callable[[str], str]) -> Rows:
    found: Rows = {}
    for run in runs:
        if run.block and run.scope == "full" and "cov" in run.command:
            found |= {match[1]: (match[2], match[3] or "") for match in ROW.finditer(read(run.block))}
    return found
