"""Functions that are over a limit of ruff's complexity family, and what could be done for each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from afresh.adapters import ruff
from afresh.errors import BadInput
from afresh.insight.complexity import LIMIT
from afresh.insight.makeup import depth, makeup
from afresh.insight.reshape.extracting import words
from afresh.insight.reshape.refusals import refusal
from afresh.insight.reshape.suggestion import Suggestion
from afresh.insight.reshape.suggestions import suggestions
from afresh.insight.source import Function, Source, parse


@dataclass(frozen=True, slots=True)
class Measure:
    code: str
    name: str
    value: int
    limit: int


@dataclass(frozen=True, slots=True)
class Violation:
    path: str
    line: int
    function: str
    measures: tuple[Measure, ...]
    made_of: dict[str, int]
    depth: int
    complexity: int
    offer: Suggestion | None = None
    why_not: str = ""

    @property
    def weight(self) -> float:
        """How far over its limits it is, for the order."""
        return max(one.value / max(1, one.limit) for one in self.measures)


def violations(root: Path, places: Sequence[str], offers: bool = True) -> Iterator[Violation]:
    """The worst first. With `offers`, each is worked out as it is asked for, because that takes time."""
    missing = [place for place in places if not (root / place).exists()]
    if missing:
        raise BadInput(
            f"there is no {missing[0]!r} here", next="name files or folders, or none for all", safe="nothing was changed"
        )
    grouped: dict[tuple[str, int], list[ruff.Finding]] = {}
    for finding in ruff.findings(root, places or ["."]):
        grouped.setdefault((finding.path, finding.line), []).append(finding)
    sources = {path: _source(root, path) for path, _ in grouped}
    found = [(_violation(source, here), source) for (path, _), here in grouped.items() if (source := sources[path])]
    taken = _taken(root) if offers and found else frozenset[str]()
    merged = _merged([(one, source) for one, source in found if one is not None])
    for one, source in sorted(merged, key=lambda pair: (-pair[0].weight, pair[0].path, pair[0].line)):
        yield with_offer(one, source, taken) if offers else one


def with_offer(violation: Violation, source: Source, taken: frozenset[str]) -> Violation:
    function = next(one for one in source.functions if one.name == violation.function and one.node.lineno == violation.line)
    if function.complexity <= LIMIT:
        return replace(violation, why_not="changes are worked out for complexity only")
    offer = next(suggestions(source, function, taken), None)
    return replace(violation, offer=offer, why_not="" if offer else refusal(source, function))


def _violation(source: Source, here: Sequence[ruff.Finding]) -> Violation | None:
    """Findings inside a function (a test, a block) belong to the innermost one around them."""
    line = here[0].line
    around = [one for one in source.functions if one.node.lineno <= line <= (one.node.end_lineno or line)]
    if not around:
        return None
    function: Function = max(around, key=lambda one: one.node.lineno)
    measures = tuple(Measure(one.code, ruff.FAMILY[one.code], one.value, one.limit) for one in here)
    made = dict(makeup(function.node).most_common())
    return Violation(
        source.path, function.node.lineno, function.name, measures, made, depth(function.node.body), function.complexity
    )


def _merged(found: list[tuple[Violation, Source]]) -> list[tuple[Violation, Source]]:
    kept: dict[tuple[str, int], tuple[Violation, Source]] = {}
    for one, source in found:
        key = (one.path, one.line)
        if key in kept:
            one = replace(one, measures=tuple(sorted({*kept[key][0].measures, *one.measures}, key=lambda each: each.code)))
        kept[key] = (one, source)
    return list(kept.values())


def _source(root: Path, path: str) -> Source | None:
    try:
        return parse(path, (root / path).read_bytes().decode())
    except (OSError, UnicodeError):
        return None


def _taken(root: Path) -> frozenset[str]:
    """Words of the project, so that a new method overrides nothing."""
    found: set[str] = set()
    for path in ruff.files(root, ["."]):
        source = root / path
        found |= words(source.read_text(encoding="utf-8", errors="replace")) if source.is_file() else frozenset()
    return frozenset(found)
