"""Section `similar`: the definition that shares most words with the task, beside the file that the task is about; for a task that
writes tests, the test beside.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from afresh.code.context_items import match_text
from afresh.code.context_items.target_definitions import find_task_files, remove_paths_from_texts
from afresh.code.context_items.target_source import cut_definition
from afresh.code.context_items.work_focus import WorkFocus
from afresh.core.context_item import Item, Note
from afresh.core.symbol import SymbolKind, SymbolPlace
from afresh.core.truncate import to_one_line

MAX_WHOLE_PATTERN_LINES = 40
MIN_PATTERN_LINES = 4
MAX_SEARCHED_FILES = 12
MAX_IMPORTED_CHARACTERS = 300
"""Limits: lines of a pattern that is shown whole, and the fewest that make one; files that are searched; and characters of a test
file's imports that are shown.
"""


def gather_similar_code(scene: WorkFocus) -> Iterator[Item]:
    code, is_for_tests = scene.code, scene.state.task.judged_as == "write_tests"
    files = list_tests_beside(scene) if is_for_tests else list_sibling_files(scene)
    words = match_text.weigh_words(code, remove_paths_from_texts(scene.state))
    found: list[tuple[float, SymbolPlace]] = []
    for path in files[:MAX_SEARCHED_FILES]:
        for symbol, score in match_text.score_symbols_by_words(code, path, words).items():
            size = symbol.end - symbol.line + 1
            is_test = symbol.short.startswith("test") and symbol.kind is not SymbolKind.CLASS
            fits = is_test if is_for_tests else "." not in symbol.name and size >= MIN_PATTERN_LINES
            if fits and not scene.made(path, symbol.line, symbol.end):
                found.append((score / max(1, size / MAX_WHOLE_PATTERN_LINES), SymbolPlace(path, symbol)))
    if not found:
        return
    _, best = min(found, key=lambda one: (-one[0], one[1].path, one[1].symbol.line))
    why = "a test beside" if is_for_tests else f"one of {len(files)} files in {PurePosixPath(best.path).parent}"
    if not scene.seen(best.path, best.symbol.line, best.symbol.end):
        excerpt = cut_definition(scene, "similar", best, (best.symbol.name, why), MAX_WHOLE_PATTERN_LINES)
        yield replace(excerpt, basis="test" if is_for_tests else "pattern")
    if is_for_tests:
        imports = code.reading(best.path).imports
        names = dict.fromkeys(name for one in imports for name in [here for _, here in one.names] or [one.alias or one.module])
        yield Note("similar", f"imported in {best.path}", to_one_line(", ".join(names), MAX_IMPORTED_CHARACTERS))


def list_sibling_files(scene: WorkFocus) -> list[str]:
    """Return the files beside the one that the task is about."""
    about = find_task_files(scene.code, scene.state)
    folders = {PurePosixPath(path).parent for path in about}
    beside = [path for path in scene.code.files if PurePosixPath(path).parent in folders and path not in about]
    return [path for path in beside if PurePosixPath(path).stem != "__init__" and not scene.code.is_test(path)]


def list_tests_beside(scene: WorkFocus) -> list[str]:
    tests = (test for path in scene.places if path in scene.code.files for test in scene.code.tests_of(path))
    return [path for path in dict.fromkeys(tests) if path in scene.code.files]
