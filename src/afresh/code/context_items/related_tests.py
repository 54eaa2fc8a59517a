"""Section `tests`: the tests of the targets; fixtures of failing tests, and the test file nearest to a change."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from afresh.code.context_items import match_text
from afresh.code.context_items.target_definitions import CHANGED_BY_TASK, TargetDefinition, remove_paths_from_texts
from afresh.code.context_items.work_focus import WorkFocus
from afresh.code.graph import calls
from afresh.code.index.code_index import CodeIndex
from afresh.code.search_hit import SymbolUse, UseKind
from afresh.core.context_item import Excerpt, Note
from afresh.core.recognise_test_files import is_test_code, is_test_file
from afresh.core.state import State
from afresh.core.symbol import Symbol, SymbolKind, SymbolPlace
from afresh.core.truncate import to_one_line

MAX_SHOWN_TESTS = 4
MAX_TESTED_TARGETS = 4
MAX_TESTS_PER_TARGET = 2
MAX_TITLE_CHARACTERS = 80
TEST_KINDS = (SymbolKind.FUNCTION, SymbolKind.METHOD)


def gather_tests(scene: WorkFocus) -> Iterator[Note]:
    """Yield the names of a few tests of what the task is about; once something is changed, of what is changed."""
    shown: set[str] = set()
    changed = bool(scene.state.workspace.changed)
    sure = [one for one in scene.targets if one.is_sure and (not changed or one.why == CHANGED_BY_TASK)]
    for target in sure[:MAX_TESTED_TARGETS]:
        for path, test in find_tests_of_target(scene, target):
            name = f"{path}:{test.line} {test.name}"
            if name not in shown and not scene.seen(path, test.line, test.end) and len(shown) < MAX_SHOWN_TESTS:
                shown.add(name)
                yield Note("tests", f"{name} of {target.symbol.name}", render_test_name(name, test))


def find_tests_of_target(scene: WorkFocus, target: TargetDefinition) -> list[tuple[str, Symbol]]:
    """Return the test functions that use the target, those that share words with the task first."""
    code = scene.code
    if code.reading(target.path).language != "python":
        return list_tests_by_use(code, target.place)[:MAX_TESTS_PER_TARGET]
    uses = [one for one in calls.find_callers_cached(code, target.place) if code.is_test(one.path) and one.within]
    held = {(path, one.name): one for path in {one.path for one in uses} for one in code.reading(path).symbols}
    found = dict.fromkeys((one.path, find_outermost_test(one.within)) for one in uses)
    tests = [
        (path, held[path, name]) for path, name in found if (path, name) in held and held[path, name].short.startswith("test")
    ]
    words = match_text.weigh_words(code, remove_paths_from_texts(scene.state))
    scores = {path: match_text.score_symbols_by_words(code, path, words) for path in {path for path, _ in tests}}
    tests.sort(key=lambda pair: (-scores[pair[0]].get(pair[1], 0.0), pair[0], pair[1].line))
    return tests[:MAX_TESTS_PER_TARGET]


TEST_BLOCK = re.compile(
    r"""^\s*(?:await\s+)?(?:\w+\.)?(?:it|test|specify|describe|suite|context)(?:\.\w+)*\(\s*(['"`])(?P<title>.+?)\1"""
)
TEST_MARK = re.compile(r"#\[(?:\w+::)*test\b|@(?:Parameterized)?Test\b|\[(?:Fact|Theory|Test|TestMethod)\b")
"""Tests without names of their own, as in JavaScript, and attributes of test functions in Rust, Java and C#."""


def list_tests_by_use(code: CodeIndex, place: SymbolPlace) -> list[tuple[str, Symbol]]:
    """Return the tests in which the definition is used by name, those that surely mean it first."""
    uses = [one for one in calls.find_callers_cached(code, place) if one.kind is not UseKind.IMPORT]
    found = [(use, test) for use in uses if (test := find_test_around(code, use))]
    found.sort(key=lambda pair: not pair[0].sure)
    return list(dict.fromkeys((use.path, test) for use, test in found))


def find_test_around(code: CodeIndex, use: SymbolUse) -> Symbol | None:
    """Return the test that holds a use: a marked or named function, or the block with a title around it."""
    lines = code.text(use.path).splitlines()
    held = [one for one in code.reading(use.path).symbols if one.line <= use.line <= one.end and one.kind in TEST_KINDS]
    marked = [one for one in held if TEST_MARK.search("\n".join(lines[max(0, one.line - 3) : one.line]))]
    named = [one for one in held if code.is_test(use.path) and one.short.lower().startswith("test")]
    if tests := marked or named:
        return tests[-1]
    if not code.is_test(use.path):
        return None
    depth = len(lines[use.line - 1]) - len(lines[use.line - 1].lstrip())
    for number in range(use.line, 0, -1):
        block = TEST_BLOCK.match(line := lines[number - 1])
        if block and len(line) - len(line.lstrip()) <= depth:
            return Symbol(to_one_line(block["title"], MAX_TITLE_CHARACTERS), SymbolKind.FUNCTION, number, number, "")
    return None


def find_outermost_test(within: str) -> str:
    """Return the test function; for a use in a nested function, the outermost one."""
    parts = within.split(".")
    first = next((number for number, part in enumerate(parts) if part.startswith("test")), len(parts) - 1)
    return ".".join(parts[: first + 1])


def render_test_name(name: str, test: Symbol) -> str:
    """Return the test's name with the fixtures that it uses."""
    fixtures = list_requested_fixtures(test) if test.signature.startswith(("def ", "async def ")) else []
    return f"{name}({', '.join(fixtures)})" if fixtures else name


def list_requested_fixtures(test: Symbol) -> list[str]:
    inside = re.search(r"\((.*)\)", test.signature)
    asked = [part.split(":")[0].split("=")[0].strip() for part in inside[1].split(",")] if inside else []
    return [part for part in asked if part.isidentifier() and part not in ("self", "cls")]


MAX_FAILING_TESTS = 3
MAX_FIXTURE_LINES = 20


def gather_fixtures(scene: WorkFocus) -> Iterator[Excerpt]:
    shown: set[SymbolPlace] = set()
    for path, test in find_failing_tests(scene):
        for name in list_requested_fixtures(test):
            place = next(
                (one for one in scene.code.defining(name) if is_fixture(scene, one) and is_visible_fixture(one.path, path)), None
            )
            if place and place not in shown and not scene.seen(place.path, place.symbol.line, place.symbol.end):
                shown.add(place)
                end = min(place.symbol.end, place.symbol.line + MAX_FIXTURE_LINES - 1)
                names, lines = (name, f"fixture of {test.short}"), scene.source(place.path, place.symbol.line, end)
                yield Excerpt("fixture", place.path, place.symbol.line, end, names, lines)


def find_failing_tests(scene: WorkFocus) -> Iterator[tuple[str, Symbol]]:
    for failure in [one for one in scene.state.failures if "::" in one.test][:MAX_FAILING_TESTS]:
        path, *names = failure.test.split("[")[0].split("::")
        held = scene.code.reading(path).symbols if path in scene.code.files else ()
        yield from ((path, one) for one in held if one.name == ".".join(names))


def is_fixture(scene: WorkFocus, place: SymbolPlace) -> bool:
    lines = scene.code.text(place.path).splitlines()[place.symbol.line - 1 : place.symbol.end]
    return bool(lines) and bool(re.match(r"\s*@(?:pytest\.|pytest_asyncio\.)?fixture\b", lines[0]))


def is_visible_fixture(fixture: str, test: str) -> bool:
    """Whether the fixture is in the test's own file, or in a conftest.py of a parent folder."""
    folder, _, name = fixture.rpartition("/")
    return fixture == test or (name == "conftest.py" and test.startswith(f"{folder}/" if folder else ""))


RECENT_STEPS = 3
TEST_WORD = re.compile(r"\btest(?:s|ed|ing)?\b", re.IGNORECASE)


def gather_nearest_test_file(scene: WorkFocus) -> Iterator[Note]:
    """Yield the test file nearest to what was changed last, as a model for tests of new code that has none yet."""
    changed = [one.path for one in scene.state.memory.regions if one.changed and one.path in scene.code.files]
    sources = [path for path in dict.fromkeys(changed) if not is_test_code(path)]
    if why := explain_tests_next(scene.state) if sources else "":
        used = [other for path in sources for other in scene.code.imports(path) if not is_test_code(other)]
        found = rank_nearest_tests(scene, sources) or rank_nearest_tests(scene, used)
        yield from (Note("beside", path, why) for path in found[:1])


def explain_tests_next(state: State) -> str:
    """Return why tests are next: the plan says so, all else looks done, or code was just changed without its tests."""
    if any(TEST_WORD.search(item.text) for item in state.work.plan if not item.done):
        return "your plan speaks of tests"
    if state.phase == "verify":
        return "phase verify"
    steps = {is_test_code(one.path): one.step for one in sorted(state.memory.regions, key=lambda one: one.step) if one.changed}
    return "the code was just changed" if steps.get(False, 0) > max(steps.get(True, 0), state.work.step - RECENT_STEPS) else ""


def rank_nearest_tests(scene: WorkFocus, sources: Sequence[str]) -> list[str]:
    """Return test files: those that the task changed or read first, then those named after a source, then those that cover most
    sources.
    """
    covers = {path: [test for test in scene.code.tests_of(path) if is_test_file(test)] for path in sources}
    touched, names = {one.path for one in scene.state.memory.regions}, {PurePosixPath(path).stem for path in sources}
    counts = Counter(test for tests in covers.values() for test in tests)
    return sorted(
        counts,
        key=lambda test: (test not in touched, not any(one in PurePosixPath(test).stem for one in names), -counts[test], test),
    )
