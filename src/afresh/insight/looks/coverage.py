"""Section `coverage`: what of the change, or of what is to be tested, no test comes to."""

from collections.abc import Iterator, Sequence

from afresh.domain.fact import Item
from afresh.insight.looks.reached import NOT_SEARCHED, ReachFromTests
from afresh.insight.looks.scene import WorkFocus, join_first_names
from afresh.insight.looks.targets import CHANGED_BY_TASK, SHARES_WORDS, TargetDefinition

MAX_LISTED_DEFINITIONS = 12
UNTESTED_LABEL = "no test leads to"
NAMED_IN_TESTS_LABEL = "named in tests"


def gather_coverage(scene: WorkFocus) -> Iterator[Item]:
    """File by file, by names and by the calls that can be followed; where lines were counted, that is told instead."""
    reach, found = ReachFromTests(scene.code), select_coverage_targets(scene)
    for path in dict.fromkeys(one.path for one in found):
        if text := render_file_coverage(reach, [one for one in found if one.path == path]):
            yield Item("coverage", path, f"{path}: {text}")


def render_file_coverage(reach: ReachFromTests, found: Sequence[TargetDefinition]) -> str:
    """What lacks a test first."""
    kinds: dict[str, list[str]] = {UNTESTED_LABEL: []}
    for one in found:
        if (through := reach.through(one.place)) == NOT_SEARCHED:
            continue
        kind = (
            UNTESTED_LABEL
            if through is None
            else f"tests name only {through}, which leads to"
            if through
            else NAMED_IN_TESTS_LABEL
        )
        kinds.setdefault(kind, []).append(f"{one.symbol.name} ({one.symbol.line})")
    return "; ".join(f"{kind}: {join_first_names(names, MAX_LISTED_DEFINITIONS)}" for kind, names in kinds.items() if names)


def select_coverage_targets(scene: WorkFocus) -> list[TargetDefinition]:
    """What was changed; of a task that is to write tests, or that looks at code, what it is about."""
    if scene.state.task.judged_as in ("write_tests", "code_review"):
        return [one for one in scene.targets if one.why != SHARES_WORDS]
    return [one for one in scene.targets if one.why == CHANGED_BY_TASK or scene.made(one.path, one.symbol.line, one.symbol.end)]
