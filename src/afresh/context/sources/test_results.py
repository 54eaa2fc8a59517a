"""What of the changed files the checks have run, before and after, where a check prints it, as `pytest --cov` does. Pure."""

import re
from collections.abc import Callable, Iterator

from afresh.context.file_chunks import extract_function_source
from afresh.context.section import SectionDraft, SectionPiece
from afresh.core.context_item import Note, render_lines
from afresh.core.prompt import Tier
from afresh.core.state import State
from afresh.core.verdict import CheckRun, name_test_function
from afresh.memory.gathered_context import GatheredContext
from afresh.ports.workspace import FileTree, read_text

MAX_FAILING_TEST_SOURCES = 3
MAX_MISSING_LINES_CHARACTERS = 80

COVERAGE_ROW = re.compile(
    r"^(\S+\.\w+|TOTAL)[ \t]+\d+[ \t]+\d+(?:[ \t]+\d+[ \t]+\d+)?[ \t]+(\d+(?:\.\d+)?)%"
    r"(?:[ \t]++([\d,>-](?:[\d,> \t-]*[\d,>-])?))?[ \t]*+$",
    re.MULTILINE,
)
CoverageRows = dict[str, tuple[str, str]]
"""By file: how much of it was run, in percent, and which lines were not."""


def gather_measured_coverage(state: State, read: Callable[[str], str]) -> Iterator[Note]:
    """For the changed files and in all. Only full runs are held against each other."""
    before, after = (
        _parse_coverage_rows(state.verification.baseline.runs if state.verification.baseline else (), read),
        _parse_coverage_rows(state.verification.verdict.runs if state.verification.verdict else (), read),
    )
    for path in (*state.workspace.changed, "TOTAL"):
        if path in after or (path in before and not after):
            yield Note("coverage", path, _render_coverage(path, before, after or before))


def _render_coverage(path: str, before: CoverageRows, after: CoverageRows) -> str:
    old, (new, missing) = before.get(path, ("", ""))[0], after[path]
    grown = f"{old} % → {new} %" if old and old != new else f"{new} %"
    return f"{'all files' if path == 'TOTAL' else path}: {grown} of lines run" + (
        f"; not: {missing[:MAX_MISSING_LINES_CHARACTERS]}" if missing else ""
    )


def _parse_coverage_rows(runs: tuple[CheckRun, ...], read: Callable[[str], str]) -> CoverageRows:
    found: CoverageRows = {}
    for run in runs:
        if run.block and run.scope == "full" and "cov" in run.command:
            found |= {match[1]: (match[2], match[3] or "") for match in COVERAGE_ROW.finditer(read(run.block))}
    return found


def gather_failing_tests(state: State, files: FileTree) -> Iterator[Note]:
    """Source of tests that fail now, so that nobody has to ask for it."""
    failures = dict.fromkeys(name_test_function(failure.test) for failure in state.failures if "::" in failure.test)
    for test in list(failures)[:MAX_FAILING_TEST_SOURCES]:
        path, *names = test.split("::")
        text = read_text(files, path)
        if text is not None and (source := extract_function_source(text, names)):
            yield Note("test", test, source)


FIXTURE_RANK_OFFSET = 100
"""Fixtures come after the tests that use them."""


def draft_failing_tests(memory: GatheredContext) -> SectionDraft:
    """Unless it is among the files, which keep it."""
    pieces = [
        SectionPiece(f"{look.subject}\n{look.text}", f"source of {look.subject}", number)
        for number, look in enumerate(memory.notes("test"))
        if not any(look.text in view.code for view in memory.excerpts("file"))
    ]
    pieces += [
        SectionPiece(render_lines((fixture.subject, *fixture.body)), fixture.subject, FIXTURE_RANK_OFFSET + at)
        for at, fixture in enumerate(memory.excerpts("fixture"))
    ]
    return SectionDraft("failing", "Source of failing tests", Tier.PHASE, tuple(pieces))
