"""Section `target`: the full source of the targets, as on disk now."""

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from textwrap import dedent

from afresh.code.context_items import match_text
from afresh.code.context_items.named_places import cut_name_places, find_unshown_names
from afresh.code.context_items.repo_map import find_changelogs
from afresh.code.context_items.target_definitions import (
    CHANGED_BY_TASK,
    NAMED_IN_TASK,
    SHARES_WORDS,
    TargetDefinition,
    remove_paths_from_texts,
)
from afresh.code.context_items.work_focus import WorkFocus
from afresh.core.change import group_consecutive
from afresh.core.context_item import Excerpt, LineGap, SourceLine
from afresh.core.symbol import SymbolKind, SymbolPlace

MAX_WHOLE_CLASS_LINES = 120
CLASS_HEAD_LINES = 12
CHANGELOG_HEAD_LINES = 10
TOKENS_PER_SOURCE_LINE = 50
"""Lines of a class that is shown whole; lines of a longer one before its first method; lines of a changelog; and tokens of the
ceiling per line of a function that is shown whole, twice as many if the task does not name it.
"""


def gather_target_source(scene: WorkFocus) -> Iterator[Excerpt]:
    """Yield excerpts of a changelog that the task names, of the targets, of places of other names, and of what shares words with
    the task; without changed ones (see `files`), large classes that have a target inside, and lines that an earlier
    one shows.
    """
    chosen, shown = [one for one in scene.targets if one.why != CHANGED_BY_TASK], set[tuple[str, int]]()
    outer = [
        one
        for one in chosen
        if is_large_class(one)
        and any(other is not one and other.path == one.path and has_inner_target(one, other) for other in chosen)
    ]
    cuts = [(one.is_sure, cut_target(scene, one)) for one in chosen if one not in outer]
    places = [cut for name in find_unshown_names(scene, scene.state.topic) for cut in cut_name_places(scene, name)]
    for cut in (
        *cut_changelog_head(scene),
        *[cut for sure, cut in cuts if sure],
        *places,
        *[cut for sure, cut in cuts if not sure],
    ):
        new = tuple([line for line in cut.lines if (cut.path, line.number) not in shown])
        shown.update((cut.path, line.number) for line in new)
        if new:
            yield replace(cut, lines=new)


def cut_changelog_head(scene: WorkFocus) -> list[Excerpt]:
    """Return the first lines of the longest changelog, if the task names one: there the change is noted."""
    heads = [(path, scene.source(path, 1, CHANGELOG_HEAD_LINES)) for path in find_changelogs(scene.code, scene.state)]
    path, head = max(heads, key=lambda one: len(one[1]), default=("", ()))
    return [Excerpt("target", path, 1, len(head), (NAMED_IN_TASK,), head, basis="named")] if head else []


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
        most = scene.state.task.budget // (2 * TOKENS_PER_SOURCE_LINE if unnamed else TOKENS_PER_SOURCE_LINE)
        most = MAX_CONSTANT_LINES if symbol.kind is SymbolKind.CONSTANT else most
        return replace(cut_definition(scene, "target", one.place, one.names, most), basis=one.basis)
    methods = list(scene.methods(one.path, symbol))
    first = min((method.line for method in methods), default=symbol.end)
    folded = find_folded_lines(scene, one.place)
    head = scene.source(one.path, symbol.line, min(first - 1, symbol.line + CLASS_HEAD_LINES))
    gaps = tuple([LineGap(method.line, method.end, (method.signature,)) for method in methods])
    shown = tuple([line for line in head if line.number not in folded])
    return Excerpt("target", one.path, symbol.line, symbol.end, one.names, shown, gaps, one.basis)


NEIGHBOUR_LINES = 3
MIN_FOLDED_LINES = 3
MAX_CONSTANTS = 3
MAX_CONSTANT_LINES = 12
"""Lines around one that shares words with the task; lines of a docstring that are folded; constants that are shown with
a function; and lines of one that the task names.
"""


def cut_definition(scene: WorkFocus, kind: str, place: SymbolPlace, names: tuple[str, ...], most: int) -> Excerpt:
    """Return the definition without the rest of a long docstring, or its relevant lines if these are more than `most`; above it
    the constants that it reads.
    """
    symbol = place.symbol
    shown = set(range(symbol.line, symbol.end + 1))
    body = shown - find_folded_lines(scene, place)
    numbers = body if len(body) <= most else select_telling_lines(scene, place, body, most)
    held = scene.source(place.path, symbol.line, symbol.end)
    lines = [line for line in held if line.number in numbers]
    gaps = tuple([LineGap(*run) for run in group_consecutive(shown - numbers)])
    above = find_constants_read(scene, place)
    return Excerpt(kind, place.path, symbol.line, symbol.end, names, (*above, *lines), gaps)


def find_folded_lines(scene: WorkFocus, place: SymbolPlace) -> set[int]:
    """Return the lines of a Python docstring after its first line of text, if they are many: the body matters more."""
    symbol = place.symbol
    lines = scene.code.text(place.path).splitlines()[symbol.line - 1 : symbol.end]
    try:
        node = ast.parse(dedent("\n".join(lines))).body[0]
        first = getattr(node, "body", [None])[0]
    except (SyntaxError, ValueError, IndexError):
        return set()
    if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)):
        return set()
    start = first.lineno + (not lines[first.lineno - 1].strip().strip("rR\"'"))
    rest = range(start + 1, (first.end_lineno or 0) + 1)
    return {symbol.line - 1 + number for number in rest} if len(rest) >= MIN_FOLDED_LINES else set()


def find_constants_read(scene: WorkFocus, place: SymbolPlace) -> list[SourceLine]:
    """Return the first lines of the constants of the file that a definition reads."""
    symbol, reading = place.symbol, scene.code.reading(place.path)
    read = set(re.findall(r"\w+", "\n".join(line.text for line in scene.source(place.path, symbol.line, symbol.end))))
    constants = [one for one in reading.symbols if one.kind is SymbolKind.CONSTANT and "." not in one.name and one.name in read]
    above = [one.line for one in constants if one.line < symbol.line and one.name.isupper()]
    return [line for number in above[:MAX_CONSTANTS] for line in scene.source(place.path, number, number)]


def select_telling_lines(scene: WorkFocus, place: SymbolPlace, body: Collection[int], most: int) -> set[int]:
    """Return the numbers of its first lines and of the lines that share most words with the task, with some context."""
    lines, symbol = scene.code.text(place.path).splitlines(), place.symbol
    words = match_text.weigh_words(scene.code, remove_paths_from_texts(scene.state))
    scores = {number: match_text.score_words_in_text(lines[number - 1], "", words, 1) for number in sorted(body)}
    kept = set(range(symbol.line, min(symbol.end, symbol.line + NEIGHBOUR_LINES) + 1))
    for number in sorted((one for one in scores if scores[one]), key=lambda number: (-scores[number], number)):
        if len(kept) < most * 3 // 4:
            kept |= {near for near in range(number - NEIGHBOUR_LINES, number + NEIGHBOUR_LINES + 1) if near in body}
    return kept
