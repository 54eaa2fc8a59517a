"""Lists functions over ruff's complexity limits, with the cuts that bring each within the limit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from afresh.code import ruff
from afresh.code.complexity import MAX_COMPLEXITY, count_decisions_by_keyword, measure_nesting_depth
from afresh.code.config_files import read_configuration
from afresh.code.python_source import PythonFunction, PythonSource, parse_python
from afresh.code.refactoring.suggest_extractions import (
    NO_PROJECT,
    ProjectFacts,
    Suggestion,
    explain_missing_suggestion,
    suggest_refactorings,
)
from afresh.errors import BadInput
from afresh.ports.workspace import read_text
from afresh.workspace.checkout_files import CheckoutFiles


@dataclass(frozen=True, slots=True)
class ComplexityMeasure:
    code: str
    name: str
    value: int
    limit: int


@dataclass(frozen=True, slots=True)
class Violation:
    path: str
    line: int
    function: str
    measures: tuple[ComplexityMeasure, ...]
    made_of: dict[str, int]
    depth: int
    complexity: int
    offer: Suggestion | None = None
    why_not: str = ""

    @property
    def weight(self) -> float:
        """How far the function is over its limits, for sorting."""
        return max(measure.value / max(1, measure.limit) for measure in self.measures)


def list_violations(root: Path, places: Sequence[str], offers: bool = True) -> Iterator[Violation]:
    """Yield violations, worst first. With `offers`, cuts are computed when each is requested, because that is slow."""
    missing = [place for place in places if not (root / place).exists()]
    if missing:
        raise BadInput(
            f"no such file or folder: {missing[0]!r}", next="give files or folders, or none for all", safe="nothing was changed"
        )
    grouped: dict[tuple[str, int], list[ruff.RuffFinding]] = {}
    for finding in ruff.find_violations(root, places or ["."]):
        grouped.setdefault((finding.path, finding.line), []).append(finding)
    sources = {path: _parse_file(root, path) for path, _ in grouped}
    found = [(_make_violation(source, here), source) for (path, _), here in grouped.items() if (source := sources[path])]
    project = _read_project(root) if offers and found else NO_PROJECT
    merged = _merge_violations([(one, source) for one, source in found if one is not None])
    for violation, source in sorted(merged, key=lambda pair: (-pair[0].weight, pair[0].path, pair[0].line)):
        yield attach_suggestion(violation, source, project) if offers else violation


def attach_suggestion(violation: Violation, source: PythonSource, project: ProjectFacts) -> Violation:
    function = next(
        python_function
        for python_function in source.functions
        if python_function.name == violation.function and python_function.node.lineno == violation.line
    )
    if function.complexity <= MAX_COMPLEXITY:
        return replace(violation, why_not="fixes are computed for complexity only")
    if offer := next(suggest_refactorings(source, function, project), None):
        return replace(violation, offer=offer)
    return replace(violation, why_not=explain_missing_suggestion(source, function, project))


def _make_violation(source: PythonSource, here: Sequence[ruff.RuffFinding]) -> Violation | None:
    """Make a violation from findings; those inside a function belong to the innermost one."""
    line = here[0].line
    around = [
        python_function
        for python_function in source.functions
        if python_function.node.lineno <= line <= (python_function.node.end_lineno or line)
    ]
    if not around:
        return None
    function: PythonFunction = max(around, key=lambda python_function: python_function.node.lineno)
    measures = tuple(
        ComplexityMeasure(finding.code, ruff.COMPLEXITY_RULES[finding.code], finding.value, finding.limit) for finding in here
    )
    made = dict(count_decisions_by_keyword(function.node).most_common())
    return Violation(
        source.path,
        function.node.lineno,
        function.name,
        measures,
        made,
        measure_nesting_depth(function.node.body),
        function.complexity,
    )


def _merge_violations(found: list[tuple[Violation, PythonSource]]) -> list[tuple[Violation, PythonSource]]:
    kept: dict[tuple[str, int], tuple[Violation, PythonSource]] = {}
    for violation, source in found:
        key = (violation.path, violation.line)
        if key in kept:
            violation = replace(
                violation, measures=tuple(sorted({*kept[key][0].measures, *violation.measures}, key=lambda each: each.code))
            )
        kept[key] = (violation, source)
    return list(kept.values())


def _parse_file(root: Path, path: str) -> PythonSource | None:
    try:
        return parse_python(path, (root / path).read_bytes().decode())
    except (OSError, UnicodeError):
        return None


def _read_project(root: Path) -> ProjectFacts:
    """Read the names in use, so that a new method overrides nothing, and the settings for complexity."""
    texts = {
        path: (root / path).read_text(encoding="utf-8", errors="replace")
        for path in ruff.list_checked_files(root)
        if (root / path).is_file()
    }
    names = [path.name for path in root.iterdir() if path.is_file()]
    settings = read_configuration(names, partial(read_text, CheckoutFiles(root)))
    return ProjectFacts(texts, settings)
