"""Section `target`: the source of what the work is about, whole, as it is on disk now."""

from collections.abc import Iterator

from afresh.code.context_items import word_relevance
from afresh.code.context_items.find_targets import CHANGED_BY_TASK, SHARES_WORDS, TargetDefinition, remove_paths_from_texts
from afresh.code.context_items.work_focus import WorkFocus
from afresh.core.item import Item
from afresh.core.symbol import SymbolKind, SymbolPlace
from afresh.core.text import number_line

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


NEIGHBOUR_LINES = 3
"""Lines beside one that speaks of the task."""


def render_excerpt(scene: WorkFocus, place: SymbolPlace, most: int) -> str:
    symbol = place.symbol
    if symbol.end - symbol.line < most:
        return scene.source(place.path, symbol.line, symbol.end)
    return "\n".join(render_excerpt_parts(scene, place, most))


def render_excerpt_parts(scene: WorkFocus, place: SymbolPlace, most: int) -> Iterator[str]:
    """Its first lines, and the lines that say most of the task's words with a few around them, in their order."""
    lines, symbol = scene.code.text(place.path).splitlines(), place.symbol
    words = word_relevance.weigh_words(scene.code, remove_paths_from_texts(scene.state))
    scores = {
        number: word_relevance.score_words_in_text(lines[number - 1], "", words, 1)
        for number in range(symbol.line, symbol.end + 1)
    }
    kept = set(range(symbol.line, min(symbol.end, symbol.line + NEIGHBOUR_LINES) + 1))
    for number in sorted((one for one in scores if scores[one]), key=lambda number: (-scores[number], number)):
        if len(kept) < most * 3 // 4:
            kept |= {
                near
                for near in range(number - NEIGHBOUR_LINES, number + NEIGHBOUR_LINES + 1)
                if symbol.line <= near <= symbol.end
            }
    last = symbol.line - 1
    for number in sorted(kept):
        if number > last + 1:
            yield render_line_gap(last + 1, number - 1)
        yield number_line(number, lines[number - 1])
        last = number
    if last < symbol.end:
        yield render_line_gap(last + 1, symbol.end)


def render_line_gap(start: int, end: int, what: str = "") -> str:
    return f"     … {start}-{end} {what}".rstrip()
