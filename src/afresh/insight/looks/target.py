"""Section `target`: the source of what the work is about, whole, as it is on disk now."""

from collections.abc import Iterator

from afresh.domain.code import Kind
from afresh.domain.fact import Look
from afresh.insight.looks.excerpts import excerpt, gap
from afresh.insight.looks.scene import Scene
from afresh.insight.looks.targets import CHANGED, WORDS, Target

WHOLE = 60
HEAD = 12
PER_LINE = 50
"""Lines of a class that is shown whole, and of a longer one before its first method; and tokens of the ceiling for each line of a
function that is shown whole; twice as many where nobody has named it."""


def target(scene: Scene) -> Iterator[Look]:
    """What was changed stands under Files. Of two that lie in each other the inner one is shown."""
    chosen = [one for one in scene.targets if one.why != CHANGED]
    for one in chosen:
        inner = any(other is not one and other.path == one.path and holds(one, other) for other in chosen)
        if not (inner and large(one)):
            yield Look("target", subject(one), shown(scene, one))


def subject(one: Target) -> str:
    return f"{one.path}:{one.symbol.line}-{one.symbol.end} {one.symbol.name}, {one.why}"


def holds(outer: Target, inner: Target) -> bool:
    return inner.symbol.name.startswith(outer.symbol.name + ".")


def large(one: Target) -> bool:
    return one.symbol.kind in (Kind.CLASS, Kind.INTERFACE) and one.symbol.end - one.symbol.line >= WHOLE


def shown(scene: Scene, one: Target) -> str:
    """Of a large class its beginning and the lines that name its methods."""
    symbol = one.symbol
    if not large(one):
        return excerpt(scene, one.place, scene.state.budget // (PER_LINE if one.why != WORDS else 2 * PER_LINE))
    methods = list(scene.methods(one.path, symbol))
    first = min((method.line for method in methods), default=symbol.end)
    head = scene.source(one.path, symbol.line, min(first - 1, symbol.line + HEAD))
    return "\n".join([head, *[gap(method.line, method.end, method.signature) for method in methods]])
