"""Section `target`: the full source of the targets, as on disk now."""

from collections.abc import Iterator

from afresh.code.context_items import match_text
from afresh.code.context_items.work_focus import (
    CHANGED_BY_TASK,
    SHARES_WORDS,
    TargetDefinition,
    WorkFocus,
    remove_paths_from_texts,
)
from afresh.core.change import group_consecutive
from afresh.core.context_item import Excerpt, LineGap
from afresh.core.symbol import SymbolKind, SymbolPlace

MAX_WHOLE_CLASS_LINES = 60
CLASS_HEAD_LINES = 12
TOKENS_PER_SOURCE_LINE = 50
"""Lines of a class that is shown whole; lines of a longer one before its first method; and tokens of the ceiling per line of a
function that is shown whole, twice as many if the task does not name it.
"""


def gather_target_source(scene: WorkFocus) -> Iterator[Excerpt]:
    """Yield excerpts of the targets, without changed ones (see `files`) and large classes that have a target inside."""
    chosen = [one for one in scene.targets if one.why != CHANGED_BY_TASK]
    for one in chosen:
        inner = any(other is not one and other.path == one.path and has_inner_target(one, other) for other in chosen)
        if not (inner and is_large_class(one)):
            yield cut_target(scene, one)


def has_inner_target(outer: TargetDefinition, inner: TargetDefinition) -> bool:
    return inner.symbol.name.startswith(outer.symbol.name + ".")


def is_large_class(one: TargetDefinition) -> bool:
    return (
        one.symbol.kind in (SymbolKind.CLASS, SymbolKind.INTERFACE) and one.symbol.end - one.symbol.line >= MAX_WHOLE_CLASS_LINES
    )


def cut_target(scene: WorkFocus, one: TargetDefinition) -> Excerpt:
    """Return the excerpt of a target; for a large class, its beginning and its methods' signatures."""
    symbol = one.symbol
    if not is_large_class(one):
        unnamed = one.why == SHARES_WORDS
        most = scene.state.budget // (2 * TOKENS_PER_SOURCE_LINE if unnamed else TOKENS_PER_SOURCE_LINE)
        return cut_definition(scene, "target", one.place, one.why, most)
    methods = list(scene.methods(one.path, symbol))
    first = min((method.line for method in methods), default=symbol.end)
    head = scene.source(one.path, symbol.line, min(first - 1, symbol.line + CLASS_HEAD_LINES))
    gaps = tuple([LineGap(method.line, method.end, (method.signature,)) for method in methods])
    return Excerpt("target", one.path, symbol.line, symbol.end, (symbol.name, one.why), head, gaps)


NEIGHBOUR_LINES = 3
"""Lines shown around one that shares words with the task."""


def cut_definition(scene: WorkFocus, kind: str, place: SymbolPlace, why: str, most: int) -> Excerpt:
    """Return the whole definition, or its relevant lines if it is longer than `most` lines."""
    symbol = place.symbol
    shown = range(symbol.line, symbol.end + 1)
    numbers = shown if len(shown) <= most else select_telling_lines(scene, place, most)
    held = scene.source(place.path, symbol.line, symbol.end)
    lines = tuple([line for line in held if line.number in numbers])
    gaps = tuple([LineGap(*run) for run in group_consecutive(set(shown) - set(numbers))])
    return Excerpt(kind, place.path, symbol.line, symbol.end, (symbol.name, why), lines, gaps)


def select_telling_lines(scene: WorkFocus, place: SymbolPlace, most: int) -> set[int]:
    """Return the numbers of its first lines and of the lines that share most words with the task, with some context."""
    lines, symbol = scene.code.text(place.path).splitlines(), place.symbol
    words = match_text.weigh_words(scene.code, remove_paths_from_texts(scene.state))
    scores = {
        number: match_text.score_words_in_text(lines[number - 1], "", words, 1) for number in range(symbol.line, symbol.end + 1)
    }
    kept = set(range(symbol.line, min(symbol.end, symbol.line + NEIGHBOUR_LINES) + 1))
    for number in sorted((one for one in scores if scores[one]), key=lambda number: (-scores[number], number)):
        if len(kept) < most * 3 // 4:
            kept |= {
                near
                for near in range(number - NEIGHBOUR_LINES, number + NEIGHBOUR_LINES + 1)
                if symbol.line <= near <= symbol.end
            }
    return kept
