"""Updates what a store knows about a tree: reads only files whose stamp changed and parses only new contents. Also the store in
memory.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import chain

from afresh.code.languages import registry
from afresh.core.search_words import STOP_WORDS, WORD_PART_PATTERN, drop_stop_words, split_words, stem_word
from afresh.core.symbol import ContentToIndex, FileReading, IndexedContent, IndexTerm, TreeListing
from afresh.errors import AfreshError
from afresh.ports.code import CodeIndexStore
from afresh.ports.workspace import FileTree

MAX_JOINED_PARTS = 3
"""Parts of a compound word that is also indexed as a whole; longer ones are only searched by their exact name."""


@lru_cache(maxsize=200_000)
def stem_identifier(text: str) -> tuple[str, ...]:
    """Return the significant words of an identifier or a path, stemmed."""
    if not (text.isascii() and text.isidentifier()):
        return tuple(map(stem_word, drop_stop_words(split_words(text))))
    parts = WORD_PART_PATTERN.findall(text)
    found = [_stem_cached(part) for part in map(str.lower, parts) if len(part) > 1 and part not in STOP_WORDS]
    if 1 < len(parts) <= MAX_JOINED_PARTS:
        found.append(stem_word("".join(parts).lower()))
    return tuple(found)


_stem_cached = lru_cache(maxsize=50_000)(stem_word)


def count_words(said: Mapping[str, int]) -> dict[str, int]:
    """Return how often each word occurs, given how often each identifier does."""
    words: dict[str, int] = {}
    get = words.get
    for identifier, count in said.items():
        for word in stem_identifier(identifier):
            words[word] = get(word, 0) + count
    return words


def count_words_in_text(text: str) -> Counter[str]:
    return Counter(stem_identifier(text))


def list_content_terms(taken: ContentToIndex) -> Iterable[tuple[IndexTerm, str, int]]:
    yield from ((IndexTerm.WORD, word, count) for word, count in taken.words.items())
    yield from ((IndexTerm.MENTION, name, 1) for name in taken.reading.mentions)
    yield from ((IndexTerm.SYMBOL, name, 1) for name in {symbol.short for symbol in taken.reading.symbols})


READER_VERSION = "4"
"""Part of each content's hash: a new version makes all stored readings stale."""
FILES_PER_BATCH = 1_000
"""Files that are read into memory and committed together."""

MAX_RESTAMPED_FILES = 8
"""If at most this many files have only new stamps, the listing is not stored again: reading them again is cheaper."""

KnownContent = tuple[str, IndexedContent]
"""A content's key and what the store has for it."""


def update_listing(files: FileTree, stamps: Mapping[str, str], tree: str, store: CodeIndexStore) -> TreeListing:
    """Return the listing of the tree as it is now; the store knows the tree by this name."""
    joined = "\0".join(chain.from_iterable(stamps.items()))
    before = store.listing(tree)
    if before and before.stamps == joined:
        return before
    marks = stamps_from_listing(before) if before else dict[str, str]()
    known = find_unchanged_files(before, marks, stamps) if before else dict[str, KnownContent]()
    paths = registry.filter_readable_paths(stamps)
    changed = [path for path in paths if path not in known]
    for first in range(0, len(changed), FILES_PER_BATCH):
        known.update(read_changed_files(files, changed[first : first + FILES_PER_BATCH], store))
    now = TreeListing(joined, [known[path][0] for path in paths], [known[path][1] for path in paths])
    if not (before and len(changed) <= MAX_RESTAMPED_FILES and now.keys == before.keys and list(marks) == list(stamps)):
        store.keep(tree, now)
    return now


def stamps_from_listing(before: TreeListing) -> dict[str, str]:
    parts = before.stamps.split("\0")
    return dict(zip(parts[::2], parts[1::2], strict=False))


def find_unchanged_files(before: TreeListing, marks: Mapping[str, str], stamps: Mapping[str, str]) -> dict[str, KnownContent]:
    """Return the contents of files whose stamp has not changed."""
    then = zip(registry.filter_readable_paths(marks), before.keys, before.contents, strict=True)
    return {path: (key, content) for path, key, content in then if stamps.get(path) == marks[path]}


def read_changed_files(files: FileTree, paths: Sequence[str], store: CodeIndexStore) -> dict[str, KnownContent]:
    keys: dict[str, str] = {}
    wanted: dict[str, Callable[[], ContentToIndex]] = {}
    for path in paths:
        text, fault = _read_text(files, path)
        keys[path] = key = hash_fault(path, fault) if fault else hash_content(path, text)
        wanted.setdefault(key, partial(read_indexed_content, path, text, fault))
    contents = store.add(wanted)
    return {path: (key, contents[key]) for path, key in keys.items()}


def hash_content(path: str, text: str) -> str:
    """Return a hash of the text and of the reader that parses it."""
    mark = blake2b(text.encode(), digest_size=16, key=READER_VERSION.encode())
    mark.update(f"\0{registry.reader_key_from_path(path)}".encode())
    return mark.hexdigest()


def hash_fault(path: str, fault: str) -> str:
    return hash_content(path, f"\0{fault}")


def read_indexed_content(path: str, text: str, fault: str = "") -> ContentToIndex:
    if fault:
        return ContentToIndex(FileReading(registry.detect_language(path), 0, fault=fault), {})
    reading, counter = registry.read_source_and_words(path, text)
    return ContentToIndex(reading, count_words(counter))


def _read_text(files: FileTree, path: str) -> tuple[str, str]:
    """Return the text and an empty string, or an empty text and the reason why it can't be read."""
    try:
        return files.read(path), ""
    except UnicodeError:
        return "", "cannot be read as text"
    except AfreshError as error:
        return "", f"cannot be read: {_fault_reason(str(error), path)}"
    except OSError as error:
        return "", f"cannot be read: {error.strerror or 'it failed'}"


def _fault_reason(text: str, path: str) -> str:
    return text.removeprefix(path).strip(" :").removeprefix("is ").partition("; near")[0] or "it failed"


MAX_SPARE_CONTENTS = 20_000
"""Contents that belong to no current tree and are kept for indexes that are still in use."""


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
        kept = {content.number for tree_listing in self._listings.values() for content in tree_listing.contents}
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
        file_readings = {number: self._taken[number].reading for number in numbers}
        return (
            {number: replace(reading, symbols=(), mentions=()) for number, reading in file_readings.items()}
            if bare
            else file_readings
        )

    def saying(self, term: IndexTerm, name: str) -> Mapping[int, int]:
        return self._terms.get((term, name), {})

    def _drop(self, gone: set[int]) -> None:
        self._contents = {key: content for key, content in self._contents.items() if content.number not in gone}
        for number in gone:
            for term, name, _ in list_content_terms(self._taken.pop(number)):
                self._terms[term, name].pop(number)
