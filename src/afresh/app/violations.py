"""Lists functions over ruff's complexity limits, with refactorings for each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from afresh.code import ruff
from afresh.code.complexity import MAX_COMPLEXITY, count_decisions_by_keyword, measure_nesting_depth
from afresh.code.python_source import PythonFunction, PythonSource, parse_python
from afresh.code.refactoring.identifier_words import collect_words
from afresh.code.refactoring.suggest_refactorings import explain_missing_suggestion, suggest_refactorings
from afresh.code.refactoring.suggestion import Suggestion
from afresh.errors import BadInput


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
        return max(one.value / max(1, one.limit) for one in self.measures)


def list_violations(root: Path, places: Sequence[str], offers: bool = True) -> Iterator[Violation]:
    """Yield violations, worst first. With `offers`, refactorings are computed when each is requested, because that is slow."""
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
    taken = _collect_taken_words(root) if offers and found else frozenset[str]()
    merged = _merge_violations([(one, source) for one, source in found if one is not None])
    for one, source in sorted(merged, key=lambda pair: (-pair[0].weight, pair[0].path, pair[0].line)):
        yield attach_suggestion(one, source, taken) if offers else one


def attach_suggestion(violation: Violation, source: PythonSource, taken: frozenset[str]) -> Violation:
    function = next(one for one in source.functions if one.name == violation.function and one.node.lineno == violation.line)
    if function.complexity <= MAX_COMPLEXITY:
        return replace(violation, why_not="fixes are computed for complexity only")
    offer = next(suggest_refactorings(source, function, taken), None)
    return replace(violation, offer=offer, why_not="" if offer else explain_missing_suggestion(source, function))


def _make_violation(source: PythonSource, here: Sequence[ruff.RuffFinding]) -> Violation | None:
    """Make a violation from findings; those inside a function belong to the innermost one."""
    line = here[0].line
    around = [one for one in source.functions if one.node.lineno <= line <= (one.node.end_lineno or line)]
    if not around:
        return None
    function: PythonFunction = max(around, key=lambda one: one.node.lineno)
    measures = tuple(ComplexityMeasure(one.code, ruff.COMPLEXITY_RULES[one.code], one.value, one.limit) for one in here)
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
    for one, source in found:
        key = (one.path, one.line)
        if key in kept:
            one = replace(one, measures=tuple(sorted({*kept[key][0].measures, *one.measures}, key=lambda each: each.code)))
        kept[key] = (one, source)
    return list(kept.values())


def _parse_file(root: Path, path: str) -> PythonSource | None:
    try:
        return parse_python(path, (root / path).read_bytes().decode())
    except (OSError, UnicodeError):
        return None


def _collect_taken_words(root: Path) -> frozenset[str]:
    """Collect names in use, so that a new method overrides nothing."""
    found: set[str] = set()
    for path in ruff.list_checked_files(root, ["."]):
        source = root / path
        found |= collect_words(source.read_text(encoding="utf-8", errors="replace")) if source.is_file() else frozenset()
    return frozenset(found)
