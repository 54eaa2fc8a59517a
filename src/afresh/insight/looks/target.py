"""Section `target`: the source of what the work is about, whole, as it is on disk now."""

from collections.abc import Iterator

from afresh.domain.code import SymbolKind
from afresh.domain.fact import Item
from afresh.insight.looks.excerpts import render_excerpt, render_line_gap
from afresh.insight.looks.scene import WorkFocus
from afresh.insight.looks.targets import CHANGED_BY_TASK, SHARES_WORDS, TargetDefinition

MAX_WHOLE_CLASS_LINES = 60
CLASS_HEAD_LINES = 12
TOKENS_PER_SOURCE_LINE = 50
"""Lines of a class that is shown whole, and of a longer one before its first method; and tokens of the ceiling for each line of a
function that is shown whole; twice as many where nobody has named it."""


def gather_target_source(scene: WorkFocus) -> Iterator[Item]:
    """What was changed stands under Files. Of two that lie in each other the inner one is shown."""
    chosen = [one for one in scene.targets if one.why != CHANGED_BY_TASK]
    for one in chosen:
        inner = any(other is not one and other.path == one.path and has_inner_target(one, other) for other in chosen)
        if not (inner and is_large_class(one)):
            yield Item("target", render_target_subject(one), render_target(scene, one))


def render_target_subject(one: TargetDefinition) -> str:
    return f"{one.path}:{one.symbol.line}-{one.symbol.end} {one.symbol.name}, {one.why}"


def has_inner_target(outer: TargetDefinition, inner: TargetDefinition) -> bool:
    return inner.symbol.name.startswith(outer.symbol.name + ".")


def is_large_class(one: TargetDefinition) -> bool:
    return (
        one.symbol.kind in (SymbolKind.CLASS, SymbolKind.INTERFACE) and one.symbol.end - one.symbol.line >= MAX_WHOLE_CLASS_LINES
    )


def render_target(scene: WorkFocus, one: TargetDefinition) -> str:
    """Of a large class its beginning and the lines that name its methods."""
    symbol = one.symbol
    if not is_large_class(one):
        return render_excerpt(
            scene,
            one.place,
            scene.state.budget // (TOKENS_PER_SOURCE_LINE if one.why != SHARES_WORDS else 2 * TOKENS_PER_SOURCE_LINE),
        )
    methods = list(scene.methods(one.path, symbol))
    first = min((method.line for method in methods), default=symbol.end)
    head = scene.source(one.path, symbol.line, min(first - 1, symbol.line + CLASS_HEAD_LINES))
    return "\n".join([head, *[render_line_gap(method.line, method.end, method.signature) for method in methods]])
