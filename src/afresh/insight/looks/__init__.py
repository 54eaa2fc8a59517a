"""What a window may show of the code, one file a section. Each says of every piece why it is there."""

from collections.abc import Callable, Collection, Iterator

from afresh.domain.fact import Item
from afresh.insight.looks.callers import gather_callers
from afresh.insight.looks.contracts import gather_contracts
from afresh.insight.looks.coverage import gather_coverage
from afresh.insight.looks.expectations import gather_tests
from afresh.insight.looks.fixtures import gather_fixtures
from afresh.insight.looks.graph import gather_dependency_graph
from afresh.insight.looks.scene import WorkFocus
from afresh.insight.looks.similar import gather_similar_code
from afresh.insight.looks.target import gather_target_source

ITEM_SOURCES: dict[str, Callable[[WorkFocus], Iterator[Item]]] = {
    "graph": gather_dependency_graph, "contracts": gather_contracts, "similar": gather_similar_code, "target": gather_target_source, "callers": gather_callers, "tests": gather_tests,
    "coverage": gather_coverage, "failing": gather_fixtures,
}  # fmt: skip


def gather_code_items(scene: WorkFocus, wanted: Collection[str]) -> Iterator[Item]:
    """Only what the layout has a place for is worked out. No definition is shown as two things."""
    made = {name: list(look(scene)) for name, look in ITEM_SOURCES.items() if name in wanted}
    patterns = {look.subject.partition(" ")[0] for look in made.get("similar", ())}
    for name, found in made.items():
        yield from (look for look in found if name == "similar" or look.subject.partition(" ")[0] not in patterns)
