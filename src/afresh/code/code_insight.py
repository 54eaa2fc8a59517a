"""Analysis of Python code without a model: context items, suggestions, the project profile and tests for a change."""

from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import PurePosixPath

from afresh.code.batch_suggestions import (
    MAX_BATCH,
    choose_batch,
    explain_unfixed,
    find_failed_batches,
    find_failed_suggestions,
)
from afresh.code.config_files import read_configuration
from afresh.code.context_items.callers import gather_callers
from afresh.code.context_items.related_tests import gather_fixtures, gather_nearest_test_file, gather_tests
from afresh.code.context_items.repo_map import build_repo_map
from afresh.code.context_items.similar_code import gather_similar_code
from afresh.code.context_items.target_source import gather_target_source
from afresh.code.context_items.violations import find_complexity_violations, render_violations
from afresh.code.context_items.work_focus import WorkFocus, build_work_focus
from afresh.code.index.code_index import CodeIndex, refresh_code_index
from afresh.code.index.update_index import MemoryCodeStore
from afresh.code.languages.registry import read_source
from afresh.code.project_profile.profile import ProfileInputs, build_profile
from afresh.code.python_source import PythonFunction, PythonSource, PythonTree, PythonTreeReader
from afresh.code.refactoring.suggest_extractions import ProjectFacts, Suggestion, suggest_refactorings
from afresh.code.symbol_search import find_definitions_and_uses
from afresh.core.commit import NO_COMMIT_HISTORY, CommitHistory
from afresh.core.context_item import Excerpt, Item, Note
from afresh.core.line_region import Region
from afresh.core.state import State
from afresh.core.symbol import SearchHit, Symbol
from afresh.core.task import FIX_VIOLATION_TYPE, REFACTOR_TYPE
from afresh.core.verdict import UnfixedFunction
from afresh.ports.code import CodeIndexStore
from afresh.ports.workspace import FileTree, read_text

VIOLATION_TASK_TYPES = (FIX_VIOLATION_TYPE, REFACTOR_TYPE)


@dataclass(slots=True)
class SuggestionVariants:
    """The suggestions for one function, generated only as far as they are asked for."""

    _more: Iterator[Suggestion]
    _known: list[Suggestion] = field(default_factory=list[Suggestion])

    def __iter__(self) -> Iterator[Suggestion]:
        yield from self._known
        for suggestion in self._more:
            self._known.append(suggestion)
            yield suggestion


class CodeInsight:
    """Implements the port `Insight`. It holds only caches: the same tree and state always give the same answer."""

    def __init__(
        self,
        store: CodeIndexStore | None = None,
        tree: str = "tree",
        history: Callable[[str], CommitHistory] = lambda base: NO_COMMIT_HISTORY,
        kept: MutableMapping[str, str] | None = None,
        missing: frozenset[str] = frozenset(),
    ) -> None:
        """`tree` is the name under which the store knows the task's tree; `history` returns the commits that lead to a base
        commit; `kept` survives a crash and stores what is measured once per task; `missing` linters are not named.
        """
        self._reader, self._store, self._tree, self._history = PythonTreeReader(), store or MemoryCodeStore(), tree, history
        self._kept, self._missing = {} if kept is None else kept, missing
        self._view: CodeIndex | None = None
        self._variants: dict[tuple[str, str, str], SuggestionVariants] = {}
        self.check_cancelled: Callable[[], object] = lambda: None
        """Asked before suggestions are computed for a function, because that takes long in a large project."""

    def looks(self, state: State, files: FileTree, wanted: Collection[str] = (), about: Sequence[Region] = ()) -> Sequence[Item]:
        code = self._code(files)
        seen = build_work_focus(code, state, about, self._history(state.workspace.base))
        profile = render_project_profile(code, state, self._kept, self._missing) if "fingerprint" in wanted else ""
        looks: list[Item] = [
            build_repo_map(seen),
            *([Note("fingerprint", "", profile)] if profile else []),
            *gather_code_items(seen, wanted),
            *gather_nearest_test_file(seen),
        ]
        if state.task.judged_as in VIOLATION_TASK_TYPES:
            tree = self._reader.tree(files)
            violations = find_complexity_violations(tree, state)
            offers = self._offers(violations, find_failed_suggestions(state), self._read_project(tree, files))
            looks.append(Note("violations", "", render_violations(violations, offers)))
            looks.extend(Note("suggestion", offer.id, offer.text) for offer in offers)
            texts = {path: source.text for path, source in tree.sources.items()}
            looks.extend(Note("batch", one, "") for one in choose_batch(offers, find_failed_batches(state), texts))
        return looks

    def measure(self, state: State, files: FileTree) -> int:
        if state.task.judged_as not in VIOLATION_TASK_TYPES:
            return 0
        return len(find_complexity_violations(self._reader.tree(files), state))

    def measure_functions(self, paths: Collection[str], files: FileTree) -> Mapping[str, int]:
        sources = [source for source in self._reader.tree(files).code if source.path in paths]
        return {f"{function.name} {source.path}": function.complexity for source in sources for function in source.functions}

    def tests_for(self, changed: Sequence[str], files: FileTree) -> Sequence[str]:
        return select_tests_for_change(changed, self._code(files))

    def definitions(self, path: str, text: str) -> Sequence[Symbol]:
        return read_source(path, text).symbols

    def find(self, text: str, files: FileTree) -> Sequence[SearchHit]:
        return find_definitions_and_uses(self._code(files), text)

    def explain_unfixed(self, state: State, files: FileTree) -> Sequence[UnfixedFunction]:
        if state.task.judged_as != FIX_VIOLATION_TYPE:
            return ()
        tree, failed = self._reader.tree(files), find_failed_suggestions(state)
        violations = find_complexity_violations(tree, state)
        project = self._read_project(tree, files)
        offers = self._offers(violations, failed, project)

        def find_failure(source: PythonSource, function: PythonFunction) -> str:
            self.check_cancelled()
            variants = self._variants[source.path, function.name, source.text]
            return next((failed[variant.id] for variant in variants if variant.id in failed), "") if failed else ""

        known = [pair for pair in violations if (pair[0].path, pair[1].name, pair[0].text) in self._variants]
        return explain_unfixed(known, offers, find_failure, project)

    def _code(self, files: FileTree) -> CodeIndex:
        """Return the previous index, with its caches, as long as the tree has not changed."""
        code = refresh_code_index(files, self._tree, self._store)
        if self._view is None or (self._view.digest, self._view.paths) != (code.digest, code.paths):
            self._view = code
        return self._view

    def _read_project(self, tree: PythonTree, files: FileTree) -> ProjectFacts:
        texts = {path: source.text for path, source in tree.sources.items()}
        return ProjectFacts(texts, read_configuration(tree.paths, partial(read_text, files)))

    def _offers(
        self, found: list[tuple[PythonSource, PythonFunction]], failed: Collection[str], project: ProjectFacts
    ) -> list[Suggestion]:
        """Return of each function the best suggestion that has not failed."""
        kept: dict[tuple[str, str, str], SuggestionVariants] = {}
        offers: list[Suggestion] = []
        for source, function in found:
            key = (source.path, function.name, source.text)
            if key not in self._variants:
                self.check_cancelled()
            kept[key] = self._variants.get(key) or SuggestionVariants(suggest_refactorings(source, function, project))
            offers.extend(islice((suggestion for suggestion in kept[key] if suggestion.id not in failed), 1))
            if len(offers) >= MAX_BATCH:
                break
        self._variants = kept
        return offers


ITEM_SOURCES: dict[str, Callable[[WorkFocus], Iterator[Item]]] = {
    "similar": gather_similar_code,
    "target": gather_target_source,
    "callers": gather_callers,
    "tests": gather_tests,
    "failing": gather_fixtures,
}


def gather_code_items(scene: WorkFocus, wanted: Collection[str]) -> Iterator[Item]:
    """Yield items only for the sections that the layout wants. No definition is shown in two sections."""
    made = {name: list(look(scene)) for name, look in ITEM_SOURCES.items() if name in wanted}
    patterns = {look.region for look in made.get("similar", ()) if isinstance(look, Excerpt)}
    for name, found in made.items():
        yield from (look for look in found if name == "similar" or not (isinstance(look, Excerpt) and look.region in patterns))


PROJECT_PROFILE_TOKENS = 55
MAX_CACHED_PROFILES = 64
"""Tokens of the project's level in a prompt, and how many tasks' profiles are cached."""


def render_project_profile(
    code: CodeIndex, state: State, kept: MutableMapping[str, str], missing: frozenset[str] = frozenset()
) -> str:
    """Return the profile as it was measured when the task began. The task's own changes hardly affect it, and a stable text keeps
    the prompt prefix.
    """
    key = f"{state.task.id} {state.workspace.first_snapshot}"
    if key not in kept:
        about = ProfileInputs(type=state.task.judged_as, missing=missing)
        profile = build_profile(code, read_configuration(code.paths, code.text), about)
        for old in list(kept)[: max(0, len(kept) - MAX_CACHED_PROFILES + 1)]:
            del kept[old]
        kept[key] = profile.render("project", PROJECT_PROFILE_TOKENS)
    return kept[key]


TESTED_FAMILIES = (
    (".py",),
    (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"),
    (".go",),
    (".rs",),
)
"""Suffixes of files that test one another."""


def select_tests_for_change(changed: Sequence[str], code: CodeIndex) -> list[str]:
    """Return the test files for all changed files; empty if the tests of any of them can't be determined."""
    found: set[str] = set()
    for path in changed:
        family = next((one for one in TESTED_FAMILIES if path.endswith(one)), None)
        if family is None or PurePosixPath(path).name == "conftest.py":
            return []
        covering = [test for test in code.tests_of(path) if test.endswith(family)]
        if not covering and path in code.paths:
            return []
        found.update(covering)
    return sorted(found)
