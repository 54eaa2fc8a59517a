"""Section `similar`: the most similar existing code, and where it is registered and used."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from math import log
from pathlib import PurePosixPath

from afresh.code.context_items import match_text
from afresh.code.context_items.match_text import find_named_files
from afresh.code.context_items.named_places import render_name_places
from afresh.code.context_items.related_tests import EXPECTATION_LINE
from afresh.code.context_items.target_definitions import (
    CHANGED_BY_TASK,
    IN_IMPLIED_FILE,
    NAMED_IN_PLAN,
    NAMED_IN_TASK,
    join_user_texts,
    remove_paths_from_texts,
)
from afresh.code.context_items.target_source import cut_definition
from afresh.code.context_items.work_focus import WorkFocus
from afresh.code.ranking.query import find_surely_implied_files
from afresh.core.context_item import Item, Note
from afresh.core.search_words import drop_stop_words, split_words, stem_word
from afresh.core.symbol import ImportedModule, Symbol, SymbolKind, SymbolPlace
from afresh.core.truncate import to_one_line
from afresh.core.verdict import join_first_names

MAX_WHOLE_PATTERN_LINES = 40
MIN_PATTERN_LINES = 4
MIN_FAMILY_SIZE = 3
MAX_WIRING_LINES = 9
"""Limits: lines of a pattern that is shown whole, and the fewest that make one; similar definitions that make a family; lines
about where one is used.
"""
SHOWN_AS_TARGETS = (NAMED_IN_TASK, NAMED_IN_PLAN, CHANGED_BY_TASK, IN_IMPLIED_FILE)
MAX_IMPORTED_CHARACTERS = 300
"""Characters of a test file's imports that are shown."""
FAMILY_WEIGHT = 1.0
MADE_ALIKE_FACTOR = 2.0
MIN_TRUSTED_SCORE_SHARE = 0.5
MAX_SEARCHED_FILES = 12
MAX_FILES_SHARING_MARK = 8
"""Weights of belonging to a family and of sharing a mark with the task's targets; the share of the best score from which on a
rank is trusted; files that are searched; and files that may share a mark in any project.
"""
SMALL_PROJECT_FILES = 40
FLATNESS_RANK = 4
MAX_FLAT_SCORE = 0.87
"""In a project of more than a few files, a ranking whose fifth score is this close to the first is not informative."""


def gather_similar_code(scene: WorkFocus) -> Iterator[Item]:
    """Yield where the best pattern is used, and the pattern itself."""
    found = find_similar_tests(scene) if scene.state.task.judged_as == "write_tests" else find_patterns(scene)
    if not found:
        return
    best, why = found[0]
    path, symbol = best.path, best.symbol
    if not scene.code.is_test(path) and (lines := list(render_wiring(scene, best))):
        yield Note("similar", f"where {short_name_from_place(best)} is wired in", "\n".join(lines[:MAX_WIRING_LINES]))
    if not scene.seen(path, symbol.line, symbol.end):
        cut = cut_definition(scene, "similar", best, (symbol.name, why), MAX_WHOLE_PATTERN_LINES)
        yield replace(cut, basis="test" if scene.code.is_test(path) else "pattern")
    if scene.code.is_test(path):
        names = dict.fromkeys(here for one in scene.code.reading(path).imports for here in list_imported_names(one))
        yield Note("similar", f"imported in {path}", to_one_line(", ".join(names), MAX_IMPORTED_CHARACTERS))


def find_patterns(scene: WorkFocus) -> list[tuple[SymbolPlace, str]]:
    """Return patterns by the words of the task and by shared decorator, base class or folder. Only files that the task names,
    their neighbours and trusted files are searched: a shared word alone makes no pattern.
    """
    code, text = scene.code, join_user_texts(scene.state)
    words, named = match_text.weigh_words(code, remove_paths_from_texts(scene.state)), find_named_files(code, text)
    folder, about = find_sibling_files(scene, text), set(find_surely_implied_files(code, text))
    trust = find_trusted_files(scene) | dict.fromkeys((*named, *folder), 1.0)
    scores = {
        path: score
        for path, score in match_text.score_files_by_words(code, words).items()
        if path in trust and is_existing_code(scene, path)
    }
    near = [path for path in (*named, *folder) if path in scores] or [path for path in scores if path not in about]
    kinds, found = list_shared_marks(scene, about), list[tuple[float, SymbolPlace, str]]()
    for path in sorted(near, key=lambda path: (-scores[path], path))[:MAX_SEARCHED_FILES]:
        held = find_definition_marks(scene, path)
        kin = find_family_members(held)
        for symbol, score in match_text.score_symbols_by_words(code, path, words).items():
            made, size = kin.get(symbol, ""), symbol.end - symbol.line + 1
            fitting = made or path in folder or match_text.has_word_in_name(symbol.name, words)
            if symbol.kind is not SymbolKind.METHOD and "." not in symbol.name and size >= MIN_PATTERN_LINES and fitting:
                alike = int(made.split()[0]) if made else 0
                like = MADE_ALIKE_FACTOR if kinds & held.get(symbol, set()) else 1.0
                found.append(
                    (
                        like * trust[path] * weigh_pattern(score, size, alike),
                        SymbolPlace(path, symbol),
                        explain_pattern(path, made, folder),
                    )
                )
    found.sort(key=lambda one: (-one[0], one[1].path, one[1].symbol.line))
    known = {(one.path, one.symbol.name) for one in scene.targets if one.why in SHOWN_AS_TARGETS}
    return [
        (place, why)
        for _, place, why in found
        if (place.path, place.symbol.name) not in known and not is_written_by_task(scene, place)
    ]


def find_trusted_files(scene: WorkFocus) -> dict[str, float]:
    """Return the highest ranked files with their score; empty if the ranking is flat. Scores are relative to the best
    file that the task has not changed, since changed files rank high for that alone.
    """
    if (
        len(scene.code.files) > SMALL_PROJECT_FILES
        and len(scene.ranked) > FLATNESS_RANK
        and scene.ranked[FLATNESS_RANK].score > MAX_FLAT_SCORE
    ):
        return {}
    scores = {one.path: one.score for one in scene.ranked if not scene.code.is_test(one.path)}
    best = max((score for path, score in scores.items() if path not in scene.state.workspace.changed), default=1.0) or 1.0
    return {path: min(1.0, score / best) for path, score in scores.items() if score >= MIN_TRUSTED_SCORE_SHARE * best}


def list_shared_marks(scene: WorkFocus, paths: Collection[str]) -> set[str]:
    """Return the decorators and base classes of the public definitions in these files."""
    return {mark for path in paths for held in find_definition_marks(scene, path).values() for mark in held}


def find_definition_marks(scene: WorkFocus, path: str) -> dict[Symbol, set[str]]:
    """Return the marks (decorators, base classes) of each definition in a file, without those that more than a fifth of the files
    share.
    """
    lines, most = scene.code.text(path).splitlines(), max(MAX_FILES_SHARING_MARK, len(scene.code.files) // 5)
    found: dict[Symbol, set[str]] = {}
    for symbol in scene.code.reading(path).symbols:
        if "." not in symbol.name and symbol.kind in (SymbolKind.FUNCTION, SymbolKind.CLASS):
            decorated = re.match(r"@[\w.]+", lines[symbol.line - 1].strip() if symbol.line <= len(lines) else "")
            found[symbol] = {*([decorated[0]] if decorated else []), *[f"({base})" for base in symbol.bases if base != "object"]}
    names = {mark: (re.findall(r"\w+", mark) or [mark])[-1] for held in found.values() for mark in held}
    common = {mark: len(scene.code.mentioning(name)) for mark, name in names.items()}
    return {symbol: {mark for mark in held if common[mark] <= most} for symbol, held in found.items()}


def is_existing_code(scene: WorkFocus, path: str) -> bool:
    """Whether most of the file existed before the task: the task's own code is no pattern."""
    return not scene.code.is_test(path) and not scene.made(path, 1, scene.code.reading(path).lines)


def is_written_by_task(scene: WorkFocus, place: SymbolPlace) -> bool:
    return scene.made(place.path, place.symbol.line, place.symbol.end)


def weigh_pattern(score: float, size: int, alike: int = 0) -> float:
    """Return the weight of a pattern: shorter ones and members of large families weigh more."""
    return (score + FAMILY_WEIGHT * log(1 + alike)) / (1 + max(0, size - MAX_WHOLE_PATTERN_LINES) / MAX_WHOLE_PATTERN_LINES)


def explain_pattern(path: str, made: str, folder: list[str]) -> str:
    if path in folder:
        return f"one of {len(folder)} in {PurePosixPath(path).parent}"
    return f"one of the {made} here" if made else "the nearest by its words"


def find_sibling_files(scene: WorkFocus, text: str) -> list[str]:
    """Return the files beside the one that the task is about; otherwise those of a trusted folder whose name is a word of the
    task (`a plugin`, `plugins/`). The word `test` names no folder here.
    """
    if about := find_surely_implied_files(scene.code, text):
        beside = [path for path in scene.code.files if PurePosixPath(path).parent == PurePosixPath(about[0]).parent]
        return [path for path in beside if path not in about and PurePosixPath(path).stem != "__init__"]
    said = {stem_word(word) for word in drop_stop_words(split_words(text))} - {"test"}
    folders: dict[str, list[str]] = {}
    for path in scene.code.files:
        pure = PurePosixPath(path)
        if stem_word(pure.parent.name.lower()) in said and not scene.code.is_test(path) and pure.stem != "__init__":
            folders.setdefault(str(pure.parent), []).append(path)
    top = {scene.code.paths[0].split("/")[0]} if scene.code.paths else set[str]()
    best = {
        str(PurePosixPath(one.path).parent)
        for one in [one for one in scene.ranked if not scene.code.is_test(one.path)][:MIN_FAMILY_SIZE]
    }
    large = [
        found for at, found in folders.items() if len(found) >= MIN_FAMILY_SIZE and "/" in at and at not in top and at in best
    ]
    return max(large, key=len, default=[])


def find_family_members(held: Mapping[Symbol, Collection[str]]) -> dict[Symbol, str]:
    """Return the definitions that share a decorator or a base class with others of the file, with the count and the mark."""
    counts = Counter(mark for found in held.values() for mark in found)
    first = {one: max(found) for one, found in held.items() if found}
    return {one: f"{counts[mark]} {mark}" for one, mark in first.items() if counts[mark] >= MIN_FAMILY_SIZE}


def find_similar_tests(scene: WorkFocus) -> list[tuple[SymbolPlace, str]]:
    """Return existing tests as patterns, with imports and fixtures: the most similar by words and by what they cover."""
    code = scene.code
    words = match_text.weigh_words(code, remove_paths_from_texts(scene.state))
    files = dict.fromkeys(test for path in scene.places if path in code.files for test in code.tests_of(path))
    found: list[tuple[float, SymbolPlace, str]] = []
    for path in [path for path in files if path in code.files][:6]:
        lines = code.text(path).splitlines()
        for symbol, score in match_text.score_symbols_by_words(code, path, words).items():
            expects = any(EXPECTATION_LINE.match(line) for line in lines[symbol.line - 1 : symbol.end])
            if symbol.kind is not SymbolKind.CLASS and symbol.short.startswith("test") and expects:
                found.append((weigh_pattern(score, symbol.end - symbol.line + 1), SymbolPlace(path, symbol), "a test beside"))
    found.sort(key=lambda one: (-one[0], one[1].path, one[1].symbol.line))
    return [(place, why) for _, place, why in found if not is_written_by_task(scene, place)]


def list_imported_names(one: ImportedModule) -> list[str]:
    return [here for _, here in one.names] or [one.alias or one.module]


def short_name_from_place(place: SymbolPlace) -> str:
    return place.symbol.short


def render_wiring(scene: WorkFocus, best: SymbolPlace) -> Iterator[str]:
    """Yield lines about where a definition is exported, registered, used, tested and documented."""
    code, name = scene.code, short_name_from_place(best)
    if len(code.defining(name)) > MIN_FAMILY_SIZE:
        return  # the name is ambiguous
    yield from render_name_places(scene, name, best)
    for path in code.importers(best.path):
        starred = [one.line for one in code.reading(path).imports if ("*", "*") in one.names]
        lines = [number for number in starred if PurePosixPath(best.path).stem in scene.line(path, number)]
        if lines:
            yield f"{path}:{lines[0]} {scene.line(path, lines[0])}"
    if named := [path for path in code.paths if PurePosixPath(path).stem == name and path != best.path]:
        yield f"files of that name: {join_first_names(named, 4)}"
