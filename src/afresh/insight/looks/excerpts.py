"""Source of a definition as it is now: whole, or the parts that speak of the task."""

from collections.abc import Iterator

from afresh.domain.code import SymbolPlace
from afresh.domain.text import number_line
from afresh.insight.looks import relevance
from afresh.insight.looks.scene import WorkFocus
from afresh.insight.looks.targets import remove_paths_from_texts

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
    words = relevance.weigh_words(scene.code, remove_paths_from_texts(scene.state))
    scores = {
        number: relevance.score_words_in_text(lines[number - 1], "", words, 1) for number in range(symbol.line, symbol.end + 1)
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
