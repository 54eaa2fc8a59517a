"""What a window may show of the code, one file a section. Each says of every piece why it is there."""

from collections.abc import Callable, Collection, Iterator

from afresh.domain.fact import Look
from afresh.insight.looks.callers import callers
from afresh.insight.looks.contracts import contracts
from afresh.insight.looks.coverage import coverage
from afresh.insight.looks.expectations import expectations
from afresh.insight.looks.fixtures import fixtures
from afresh.insight.looks.graph import graph
from afresh.insight.looks.scene import Scene
from afresh.insight.looks.similar import similar
from afresh.insight.looks.target import target

SECTIONS: dict[str, Callable[[Scene], Iterator[Look]]] = {
    "graph": graph, "contracts": contracts, "similar": similar, "target": target, "callers": callers, "tests": expectations,
    "coverage": coverage, "failing": fixtures,
}  # fmt: skip


def looks(scene: Scene, wanted: Collection[str]) -> Iterator[Look]:
    """Only what the layout has a place for is worked out. No definition is shown as two things."""
    made = {name: list(look(scene)) for name, look in SECTIONS.items() if name in wanted}
    patterns = {look.subject.partition(" ")[0] for look in made.get("similar", ())}
    for name, found in made.items():
        yield from (look for look in found if name == "similar" or look.subject.partition(" ")[0] not in patterns)
