"""The port `CodeStore` in memory: for a view that is made once, and where the store on disk can't be used."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from afresh.code.index.update_index import list_content_terms
from afresh.core.symbol import ContentToIndex, FileReading, IndexedContent, IndexTerm, TreeListing

MAX_SPARE_CONTENTS = 20_000
"""Contents of no tree that are held: so many edits after it was made, a view is no longer asked."""


@dataclass(slots=True, eq=False)
class MemoryCodeStore:
    _listings: dict[str, TreeListing] = field(default_factory=dict[str, TreeListing])
    _contents: dict[str, IndexedContent] = field(default_factory=dict[str, IndexedContent])
    _taken: dict[int, ContentToIndex] = field(default_factory=dict[int, ContentToIndex])
    _last: int = 0
    _terms: dict[tuple[IndexTerm, str], dict[int, int]] = field(default_factory=dict[tuple[IndexTerm, str], dict[int, int]])

    def listing(self, tree: str) -> TreeListing | None:
        return self._listings.get(tree)

    def keep(self, tree: str, listing: TreeListing) -> None:
        self._listings[tree] = listing
        kept = {content.number for one in self._listings.values() for content in one.contents}
        if len(self._taken) > len(kept) + MAX_SPARE_CONTENTS:
            self._drop(set(self._taken) - kept)

    def add(self, wanted: Mapping[str, Callable[[], ContentToIndex]]) -> Mapping[str, IndexedContent]:
        for key, take in wanted.items():
            if key not in self._contents:
                taken, number = take(), self._last + 1
                self._last = number
                self._taken[number] = taken
                for term, name, count in list_content_terms(taken):
                    self._terms.setdefault((term, name), {})[number] = count
                self._contents[key] = IndexedContent(number, sum(taken.words.values()))
        return {key: self._contents[key] for key in wanted}

    def readings(self, numbers: Sequence[int], bare: bool = False) -> Mapping[int, FileReading]:
        found = {number: self._taken[number].reading for number in numbers}
        return {number: replace(one, symbols=(), mentions=()) for number, one in found.items()} if bare else found

    def saying(self, term: IndexTerm, name: str) -> Mapping[int, int]:
        return self._terms.get((term, name), {})

    def _drop(self, gone: set[int]) -> None:
        self._contents = {key: content for key, content in self._contents.items() if content.number not in gone}
        for number in gone:
            for term, name, _ in list_content_terms(self._taken.pop(number)):
                self._terms[term, name].pop(number)
