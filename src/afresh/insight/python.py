"""What can be known of Python code without a model."""

import re
from collections.abc import Callable, Collection, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from afresh.domain.fact import FactKind, Item, Region
from afresh.domain.history import NO_COMMIT_HISTORY, CommitHistory
from afresh.domain.sought import SearchHit
from afresh.domain.state import State
from afresh.insight.code import CodeIndex
from afresh.insight.covering import select_tests_for_change
from afresh.insight.held import MemoryCodeStore
from afresh.insight.index import refresh_code_index
from afresh.insight.looks import gather_code_items as sections
from afresh.insight.looks.beside import gather_nearest_test_file
from afresh.insight.looks.project import render_project_profile
from afresh.insight.looks.scene import build_work_focus
from afresh.insight.looks.violations import explain_complexity
from afresh.insight.outline import list_mentioned_words, render_repo_map, rank_violation_path
from afresh.insight.reshape.extracting import collect_words
from afresh.insight.reshape.suggestion import Suggestion
from afresh.insight.reshape.suggestions import suggest_refactorings
from afresh.insight.search import find_definitions_and_uses
from afresh.insight.source import PythonFunction, PythonSource
from afresh.insight.tree import PythonTreeReader, PythonTree, find_goal_paths, is_within_paths
from afresh.ports import CodeIndexStore, FileTree

VIOLATION_TASK_TYPES = ("fix_violation", "refactor")
MAX_SUGGESTIONS = 5
MAX_VARIANTS_PER_FUNCTION = 8
MAX_LISTED_VIOLATIONS = 20


@dataclass(slots=True)
class SuggestionVariants:
    """The suggestions for one function, worked out only as far as they are asked for."""

    _more: Iterator[Suggestion]
    _known: list[Suggestion] = field(default_factory=list[Suggestion])

    def first(self, number: int) -> list[Suggestion]:
        self._known.extend(islice(self._more, max(0, number - len(self._known))))
        return self._known[:number]

    def untried(self, failed: frozenset[str]) -> list[Suggestion]:
        """Those that have not failed, the ones least like a failed one first."""
        number = 1 if not self._tried(1, failed) else MAX_VARIANTS_PER_FUNCTION
        tried = self._tried(number, failed)
        left = [one for one in self.first(number) if one.id not in failed]
        return sorted(left, key=lambda one: max((one.overlap(other) for other in tried), default=0) > 0.3)

    def _tried(self, number: int, failed: frozenset[str]) -> list[Suggestion]:
        return [one for one in self.first(number) if one.id in failed]


class CodeInsight:
    """Implements the port `Insight`. Holds nothing but caches: the same tree and state always give the same answer."""

    def __init__(
        self,
        store: CodeIndexStore | None = None,
        tree: str = "tree",
        history: Callable[[str], CommitHistory] = lambda base: NO_COMMIT_HISTORY,
        kept: MutableMapping[str, str] | None = None,
    ) -> None:
        """`tree` is what the store knows the task's tree by; `history` tells of the commits that lead to one; `kept` outlives a
        crash, for what is measured once a task."""
        self._reader, self._store, self._tree, self._history = PythonTreeReader(), store or MemoryCodeStore(), tree, history
        self._kept = {} if kept is None else kept
        self._view: CodeIndex | None = None
        self._variants: dict[tuple[str, str, str], SuggestionVariants] = {}

    def looks(self, state: State, files: FileTree, wanted: Collection[str] = (), about: Sequence[Region] = ()) -> Sequence[Item]:
        code = self._code(files)
        seen = build_work_focus(code, state, about, self._history(state.base))
        print = [Item("fingerprint", "", render_project_profile(code, state, self._kept))] if "fingerprint" in wanted else []
        looks = [Item("outline", "", render_repo_map(seen)), *print, *sections(seen, wanted), *gather_nearest_test_file(seen)]
        if state.task.judged_as in VIOLATION_TASK_TYPES:
            tree = self._reader.tree(files)
            found = find_complexity_violations(tree, state)
            offers = self._offers(found, find_failed_suggestions(state), tree)
            looks.append(Item("violations", "", render_violations(found, offers)))
            looks.extend(Item("suggestion", offer.id, offer.text) for offer in offers)
        return looks

    def measure(self, state: State, files: FileTree) -> int:
        if state.task.judged_as not in VIOLATION_TASK_TYPES:
            return 0
        return len(find_complexity_violations(self._reader.tree(files), state))

    def tests_for(self, changed: Sequence[str], files: FileTree) -> Sequence[str]:
        return select_tests_for_change(changed, self._code(files))

    def find(self, text: str, files: FileTree) -> Sequence[SearchHit]:
        return find_definitions_and_uses(self._code(files), text)

    def _code(self, files: FileTree) -> CodeIndex:
        """The view of before as long as the tree is the same, with what it has worked out."""
        code = refresh_code_index(files, self._tree, self._store)
        if self._view is None or (self._view.digest, self._view.paths) != (code.digest, code.paths):
            self._view = code
        return self._view

    def _offers(
        self, found: list[tuple[PythonSource, PythonFunction]], gone: frozenset[str], tree: PythonTree
    ) -> list[Suggestion]:
        """The best of each function first, then the next best of each."""
        taken = (
            frozenset[str]().union(*(collect_words(source.text) for source in tree.sources.values()))
            if found
            else frozenset[str]()
        )
        kept: dict[tuple[str, str, str], SuggestionVariants] = {}
        offers: list[Suggestion] = []
        for source, function in found:
            key = (source.path, function.name, source.text)
            kept[key] = self._variants.get(key) or SuggestionVariants(suggest_refactorings(source, function, taken))
            offers.extend(kept[key].untried(gone)[:1])
            if len(offers) >= MAX_SUGGESTIONS:
                break
        self._variants = kept
        for variants in kept.values():
            spare = (
                [one for one in variants.first(2) if one.id not in gone and one not in offers]
                if len(offers) < MAX_SUGGESTIONS
                else []
            )
            offers.extend(spare[:1])
        return offers[:MAX_SUGGESTIONS]


def find_complexity_violations(tree: PythonTree, state: State) -> list[tuple[PythonSource, PythonFunction]]:
    """In scope, those that the task speaks of first."""
    places, said = find_goal_paths(state.task.goal, tree.paths), list_mentioned_words(state)
    found = [(source, one) for source in tree.code if is_within_paths(source.path, places) for one in source.violations]
    return sorted(found, key=lambda pair: (rank_violation_path(pair[0].path, state, said), pair[0].path, pair[1].node.lineno))


def find_failed_suggestions(state: State) -> frozenset[str]:
    """Ids of suggestions that were tried and reverted."""
    subjects = (fact.subject for fact in state.facts if fact.kind is FactKind.FAILED_APPROACH)
    return frozenset(match[1] for subject in subjects if (match := re.match(r"apply ([0-9a-f]{12})", subject)))


def render_violations(found: list[tuple[PythonSource, PythonFunction]], offers: list[Suggestion]) -> str:
    if not found:
        return "none over 10"
    offered = {(offer.path, offer.function) for offer in offers}
    lines = [
        f"{one.name} {source.path}:{one.node.lineno} complexity {one.complexity}"
        f" ({'suggestion offered' if (source.path, one.name) in offered else 'no suggestion yet'}): {explain_complexity(one)}"
        for source, one in found[:MAX_LISTED_VIOLATIONS]
    ]
    return "\n".join(
        [*lines, *([f"… and {len(found) - MAX_LISTED_VIOLATIONS} more"] if len(found) > MAX_LISTED_VIOLATIONS else [])]
    )
