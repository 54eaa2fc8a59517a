"""Source of a definition as it is now: whole, or the parts that speak of the task."""

from collections.abc import Iterator

from afresh.domain.code import Place
from afresh.domain.text import numbered
from afresh.insight.looks import relevance
from afresh.insight.looks.scene import Scene
from afresh.insight.looks.targets import wording

NEAR = 3
"""Lines beside one that speaks of the task."""


def excerpt(scene: Scene, place: Place, most: int) -> str:
    symbol = place.symbol
    if symbol.end - symbol.line < most:
        return scene.source(place.path, symbol.line, symbol.end)
    return "\n".join(parts(scene, place, most))


def parts(scene: Scene, place: Place, most: int) -> Iterator[str]:
    """Its first lines, and the lines that say most of the task's words with a few around them, in their order."""
    lines, symbol = scene.code.text(place.path).splitlines(), place.symbol
    words = relevance.weights(scene.code, wording(scene.state))
    scores = {number: relevance.weighed(lines[number - 1], "", words, 1) for number in range(symbol.line, symbol.end + 1)}
    kept = set(range(symbol.line, min(symbol.end, symbol.line + NEAR) + 1))
    for number in sorted((one for one in scores if scores[one]), key=lambda number: (-scores[number], number)):
        if len(kept) < most * 3 // 4:
            kept |= {near for near in range(number - NEAR, number + NEAR + 1) if symbol.line <= near <= symbol.end}
    last = symbol.line - 1
    for number in sorted(kept):
        if number > last + 1:
            yield gap(last + 1, number - 1)
        yield numbered(number, lines[number - 1])
        last = number
    if last < symbol.end:
        yield gap(last + 1, symbol.end)


def gap(start: int, end: int, what: str = "") -> str:
    return f"     … {start}-{end} {what}".rstrip()
