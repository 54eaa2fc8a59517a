"""Section `coverage`: what of the change, or of what is to be tested, no test comes to."""

from collections.abc import Iterator, Sequence

from afresh.domain.fact import Look
from afresh.insight.looks.reached import UNASKED, Reach
from afresh.insight.looks.scene import Scene, listed
from afresh.insight.looks.targets import CHANGED, WORDS, Target

TOLD = 12
BARE = "no test leads to"
NAMED = "named in tests"


def coverage(scene: Scene) -> Iterator[Look]:
    """File by file, by names and by the calls that can be followed; where lines were counted, that is told instead."""
    reach, found = Reach(scene.code), concerned(scene)
    for path in dict.fromkeys(one.path for one in found):
        if text := told(reach, [one for one in found if one.path == path]):
            yield Look("coverage", path, f"{path}: {text}")


def told(reach: Reach, found: Sequence[Target]) -> str:
    """What lacks a test first."""
    kinds: dict[str, list[str]] = {BARE: []}
    for one in found:
        if (through := reach.through(one.place)) == UNASKED:
            continue
        kind = BARE if through is None else f"tests name only {through}, which leads to" if through else NAMED
        kinds.setdefault(kind, []).append(f"{one.symbol.name} ({one.symbol.line})")
    return "; ".join(f"{kind}: {listed(names, TOLD)}" for kind, names in kinds.items() if names)


def concerned(scene: Scene) -> list[Target]:
    """What was changed; of a task that is to write tests, or that looks at code, what it is about."""
    if scene.state.task.judged_as in ("write_tests", "code_review"):
        return [one for one in scene.targets if one.why != WORDS]
    return [one for one in scene.targets if one.why == CHANGED or scene.made(one.path, one.symbol.line, one.symbol.end)]
