"""What can be known of Python code without a model."""

import re
from collections.abc import Callable, Collection, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from afresh.domain.fact import FactKind, Look, Region
from afresh.domain.history import UNTOLD_HISTORY, History
from afresh.domain.sought import Sought
from afresh.domain.state import State
from afresh.insight.code import Code
from afresh.insight.covering import tests_for
from afresh.insight.held import HeldCode
from afresh.insight.index import refresh
from afresh.insight.looks import looks as sections
from afresh.insight.looks.beside import beside
from afresh.insight.looks.project import project
from afresh.insight.looks.scene import scene
from afresh.insight.looks.violations import because
from afresh.insight.outline import mentioned, outline, rank
from afresh.insight.reshape.extracting import words
from afresh.insight.reshape.suggestion import Suggestion
from afresh.insight.reshape.suggestions import suggestions
from afresh.insight.search import find
from afresh.insight.source import Function, Source
from afresh.insight.tree import Reader, Tree, scope, within
from afresh.ports import CodeStore, Files

COUNTED = ("fix_violation", "refactor")
OFFERED = 5
VARIANTS = 8
LISTED = 20


@dataclass(slots=True)
class Variants:
    """The suggestions for one function, worked out only as far as they are asked for."""

    _more: Iterator[Suggestion]
    _known: list[Suggestion] = field(default_factory=list[Suggestion])

    def first(self, number: int) -> list[Suggestion]:
        self._known.extend(islice(self._more, max(0, number - len(self._known))))
        return self._known[:number]

    def untried(self, failed: frozenset[str]) -> list[Suggestion]:
        """Those that have not failed, the ones least like a failed one first."""
        number = 1 if not self._tried(1, failed) else VARIANTS
        tried = self._tried(number, failed)
        left = [one for one in self.first(number) if one.id not in failed]
        return sorted(left, key=lambda one: max((one.overlap(other) for other in tried), default=0) > 0.3)

    def _tried(self, number: int, failed: frozenset[str]) -> list[Suggestion]:
        return [one for one in self.first(number) if one.id in failed]


class PythonInsight:
    """Implements the port `Insight`. Holds nothing but caches: the same tree and state always give the same answer."""

    def __init__(
        self,
        store: CodeStore | None = None,
        tree: str = "tree",
        history: Callable[[str], History] = lambda base: UNTOLD_HISTORY,
        kept: MutableMapping[str, str] | None = None,
    ) -> None:
        """`tree` is what the store knows the task's tree by; `history` tells of the commits that lead to one; `kept` outlives a
        crash, for what is measured once a task."""
        self._reader, self._store, self._tree, self._history = Reader(), store or HeldCode(), tree, history
        self._kept = {} if kept is None else kept
        self._view: Code | None = None
        self._variants: dict[tuple[str, str, str], Variants] = {}

    def looks(self, state: State, files: Files, wanted: Collection[str] = (), about: Sequence[Region] = ()) -> Sequence[Look]:
        code = self._code(files)
        seen = scene(code, state, about, self._history(state.base))
        print = [Look("fingerprint", "", project(code, state, self._kept))] if "fingerprint" in wanted else []
        looks = [Look("outline", "", outline(seen)), *print, *sections(seen, wanted), *beside(seen)]
        if state.task.judged_as in COUNTED:
            tree = self._reader.tree(files)
            found = violations(tree, state)
            offers = self._offers(found, failed(state), tree)
            looks.append(Look("violations", "", _listing(found, offers)))
            looks.extend(Look("suggestion", offer.id, offer.text) for offer in offers)
        return looks

    def measure(self, state: State, files: Files) -> int:
        if state.task.judged_as not in COUNTED:
            return 0
        return len(violations(self._reader.tree(files), state))

    def tests_for(self, changed: Sequence[str], files: Files) -> Sequence[str]:
        return tests_for(changed, self._code(files))

    def find(self, text: str, files: Files) -> Sequence[Sought]:
        return find(self._code(files), text)

    def _code(self, files: Files) -> Code:
        """The view of before as long as the tree is the same, with what it has worked out."""
        code = refresh(files, self._tree, self._store)
        if self._view is None or (self._view.digest, self._view.paths) != (code.digest, code.paths):
            self._view = code
        return self._view

    def _offers(self, found: list[tuple[Source, Function]], gone: frozenset[str], tree: Tree) -> list[Suggestion]:
        """The best of each function first, then the next best of each."""
        taken = frozenset[str]().union(*(words(source.text) for source in tree.sources.values())) if found else frozenset[str]()
        kept: dict[tuple[str, str, str], Variants] = {}
        offers: list[Suggestion] = []
        for source, function in found:
            key = (source.path, function.name, source.text)
            kept[key] = self._variants.get(key) or Variants(suggestions(source, function, taken))
            offers.extend(kept[key].untried(gone)[:1])
            if len(offers) >= OFFERED:
                break
        self._variants = kept
        for variants in kept.values():
            spare = (
                [one for one in variants.first(2) if one.id not in gone and one not in offers] if len(offers) < OFFERED else []
            )
            offers.extend(spare[:1])
        return offers[:OFFERED]


def violations(tree: Tree, state: State) -> list[tuple[Source, Function]]:
    """In scope, those that the task speaks of first."""
    places, said = scope(state.task.goal, tree.paths), mentioned(state)
    found = [(source, one) for source in tree.code if within(source.path, places) for one in source.violations]
    return sorted(found, key=lambda pair: (rank(pair[0].path, state, said), pair[0].path, pair[1].node.lineno))


def failed(state: State) -> frozenset[str]:
    """Ids of suggestions that were tried and reverted."""
    subjects = (fact.subject for fact in state.facts if fact.kind is FactKind.FAILED_APPROACH)
    return frozenset(match[1] for subject in subjects if (match := re.match(r"apply ([0-9a-f]{12})", subject)))


def _listing(found: list[tuple[Source, Function]], offers: list[Suggestion]) -> str:
    if not found:
        return "none over 10"
    offered = {(offer.path, offer.function) for offer in offers}
    lines = [
        f"{one.name} {source.path}:{one.node.lineno} complexity {one.complexity}"
        f" ({'suggestion offered' if (source.path, one.name) in offered else 'no suggestion yet'}): {because(one)}"
        for source, one in found[:LISTED]
    ]
    return "\n".join([*lines, *([f"… and {len(found) - LISTED} more"] if len(found) > LISTED else [])])
