"""An index of the code of one tree at one moment. All answers depend on this tree alone."""

import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property, partial
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any, TypeVar

from afresh.code.index.update_index import (
    MemoryCodeStore,
    count_words_in_text,
    hash_content,
    read_indexed_content,
    update_listing,
)
from afresh.code.languages import registry, rust
from afresh.core.commit import FileChurn
from afresh.core.recognise_test_files import get_file_stem, is_test_code, is_test_file
from afresh.core.search_words import stem_word
from afresh.core.symbol import FileReading, ImportedModule, IndexedContent, IndexTerm, SymbolPlace, TreeListing
from afresh.errors import AfreshError
from afresh.ports.code import CodeIndexStore
from afresh.ports.workspace import FileTree, read_text

PATH_SEPARATORS = re.compile(r"[\W_]+")
T = TypeVar("T")


class CodeIndex:
    """Created by `refresh_code_index`, or by `build_code_index` without a store."""

    def __init__(
        self,
        files: FileTree,
        paths: tuple[str, ...],
        listing: TreeListing,
        store: CodeIndexStore,
        churn: Mapping[str, FileChurn] | None = None,
        measured: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """`measured` maps each file to the test files that were measured to run it."""
        self._files, self._store = files, store
        self._churn: Mapping[str, FileChurn] = {} if churn is None else churn
        self._measured: Mapping[str, Sequence[str]] = {} if measured is None else measured
        self.paths = paths
        """All files that are not ignored, sorted."""
        self.files: Collection[str] = dict.fromkeys(registry.filter_readable_paths(paths)).keys()
        """Paths in a supported language, in the same order."""
        self._keys: dict[str, str] = dict(zip(self.files, listing.keys, strict=True))
        self._contents: dict[str, IndexedContent] = dict(zip(self.files, listing.contents, strict=True))
        self._forget()

    def shows(self, files: FileTree, paths: tuple[str, ...], listing: TreeListing, store: CodeIndexStore) -> bool:
        """Whether an index made from these arguments would be the same."""
        same = self._files == files and self._store is store and self.paths == paths
        return same and list(self._keys.values()) == list(listing.keys)

    @cached_property
    def digest(self) -> str:
        """A hash that changes when any code of the tree does."""
        content = sha256()
        for path in self.paths:
            content.update(f"{path}\0{self._keys.get(path, '')}\n".encode())
        return content.hexdigest()

    def reading(self, path: str) -> FileReading:
        """Return the reading of one file. Raises KeyError if it is not among `files`."""
        number = self._contents[path].number
        if number not in self._readings:
            self._readings |= self._asked(lambda: self._store.readings([self._contents[path].number]))
        return self._readings[self._contents[path].number]

    def readings(self, paths: Iterable[str]) -> Mapping[str, FileReading]:
        """Return many readings at once, which is cheaper than one by one."""
        paths = list(paths)
        self._fill(paths)
        return {path: self.reading(path) for path in paths}

    def text(self, path: str) -> str:
        """Return the text as on disk now, empty if it is none. A cached reading that differs is updated."""
        text = read_text(self._files, path)
        if text is None:
            return ""
        if path in self._keys and self._keys[path] != (key := hash_content(path, text)):
            self._keys[path] = key
            self._contents[path] = self._asked(lambda: self._store.add({key: partial(read_indexed_content, path, text)}))[key]
            self._forget()
        return text

    def defining(self, name: str) -> Sequence[SymbolPlace]:
        """Return the definitions of a qualified name, or of a trailing part of it, by path and line."""
        found = self._found(IndexTerm.SYMBOL, name.rpartition(".")[2])
        self._fill(found)
        return [
            SymbolPlace(path, symbol)
            for path in found
            for symbol in sorted(self.reading(path).symbols, key=lambda symbol: symbol.line)
            if f".{symbol.name}".endswith(f".{name}")
        ]

    def mentioning(self, name: str) -> Sequence[str]:
        """Return the files whose code uses the identifier, sorted."""
        return list(self._found(IndexTerm.MENTION, name))

    def imports(self, path: str) -> Sequence[str]:
        """Return the files of this tree that the file imports, sorted."""
        return self._imports.get(path, ())

    @property
    def imported_by(self) -> Callable[[str], Sequence[ImportedModule]]:
        """Return a function that gives the imports of a file as written; a bound method would be a reference cycle, and keep each
        outdated index in memory."""
        bare = self._bare
        return lambda path: bare[path].imports

    def importers(self, path: str) -> Sequence[str]:
        return self._importers.get(path, ())

    def words(self, word: str) -> Mapping[str, int]:
        """Return how often each file contains a word, as `search_words.split_words` splits it; it is stemmed here. Words of the
        path count; single letters and stop words do not."""
        stemmed = stem_word(word.lower())
        counter = Counter(self._found(IndexTerm.WORD, stemmed))
        counter.update(self._in_paths(stemmed))
        return {path: counter[path] for path in sorted(counter)}

    def length(self, path: str) -> int:
        """Return the number of words in the file and its path."""
        return self._contents[path].length + count_words_in_text(path).total()

    def tests_of(self, path: str) -> Sequence[str]:
        """Return the test files that cover a file: by import, by name, and as measured."""
        measured = (test for test in self._measured.get(path, ()) if test in self._keys)
        return sorted({*find_tests_by_import(self, path), *find_tests_by_name(self, path), *measured})

    @cached_property
    def files_by_stem(self) -> Mapping[str, Sequence[str]]:
        """Return the files by their lower-case name without its last suffix."""
        found: dict[str, list[str]] = {}
        for path in self.files:
            found.setdefault(get_file_stem(path).lower(), []).append(path)
        return found

    def is_test(self, path: str) -> bool:
        return is_test_code(path)

    def is_generated(self, path: str) -> bool:
        return self._bare[path].fault.startswith("generated")

    def churn(self, path: str) -> FileChurn:
        return self._churn.get(path, FileChurn())

    @property
    def entries(self) -> Mapping[str, str]:
        """Files in which a run may begin, with the reason."""
        return {path: file_reading.entry for path, file_reading in self._bare.items() if file_reading.entry}

    @property
    def faults(self) -> Mapping[str, str]:
        """Files that could not be parsed, with the reason."""
        return {path: file_reading.fault for path, file_reading in self._bare.items() if file_reading.fault}

    @cached_property
    def _bare(self) -> dict[str, FileReading]:
        """All readings, without their large fields."""
        numbers = {content.number for content in self._contents.values()}
        file_readings = self._asked(lambda: self._store.readings(sorted(numbers), bare=True))
        return {path: file_readings[content.number] for path, content in self._contents.items()}

    @cached_property
    def _paths_of(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for path, content in self._contents.items():
            found.setdefault(content.number, []).append(path)
        return found

    @cached_property
    def _plain_paths(self) -> list[tuple[str, str]]:
        return [(path, PATH_SEPARATORS.sub("", path).lower()) for path in self.files]

    def _in_paths(self, stemmed: str) -> dict[str, int]:
        """Return how often each path contains a word. Separators are removed first, so that joined words match, too."""
        within = stemmed[:-1] if stemmed.endswith("y") else stemmed
        some = (path for path, plain in self._plain_paths if within in plain or not plain.isascii())
        return {path: count for path in some if (count := count_words_in_text(path)[stemmed])}

    @cached_property
    def _imports(self) -> dict[str, list[str]]:
        return {path: sorted(self._targets(path) - {path}) for path in self.files}

    @cached_property
    def _importers(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path, targets in self._imports.items():
            for target in targets:
                found.setdefault(target, []).append(path)
        return found

    def _targets(self, path: str) -> set[str]:
        reading = self._bare[path]
        if not reading.language:
            return set()
        speaker = registry.load_language(reading.language)
        if reading.language not in self._modules:
            self._modules[reading.language] = speaker.index_modules(self)
        modules = self._modules[reading.language]
        beside = speaker.find_package_uses(path, modules) if hasattr(speaker, "find_package_uses") else ()
        return {*beside, *(target for module in reading.imports for target in speaker.resolve_import(module, path, modules))}

    def _found(self, term: IndexTerm, name: str) -> dict[str, int]:
        """Return the files of this tree that contain the term, sorted."""
        found = self._asked(lambda: self._store.saying(term, name))
        placed = ((path, count) for number, count in found.items() for path in self._paths_of.get(number, ()))
        return dict(sorted(placed))

    def _fill(self, paths: Iterable[str]) -> None:
        lacking = {self._contents[path].number for path in paths} - self._readings.keys()
        if lacking:
            self._readings |= self._asked(lambda: self._store.readings(sorted(lacking)))

    def _asked(self, ask: Callable[[], T]) -> T:
        """Return what the store answers. A store that fails or has lost its data is replaced by one in memory."""
        try:
            return ask()
        except (AfreshError, KeyError):
            self._store = MemoryCodeStore()
            listing = update_listing(self._files, dict.fromkeys(self.paths, ""), "", self._store)
            self._keys = dict(zip(self.files, listing.keys, strict=True))
            self._contents = dict(zip(self.files, listing.contents, strict=True))
            self._forget()
            return ask()

    def _forget(self) -> None:
        self._readings: dict[int, FileReading] = {}
        self._modules: dict[str, Any] = {}
        for name in ("_bare", "_paths_of", "_imports", "_importers", "digest"):
            self.__dict__.pop(name, None)


def build_code_index(
    files: FileTree, churn: Mapping[str, FileChurn] | None = None, measured: Mapping[str, Sequence[str]] | None = None
) -> CodeIndex:
    """Build the index of a new tree, without a store."""
    stamps, store = dict.fromkeys(files.paths(), ""), MemoryCodeStore()
    return CodeIndex(files, tuple(stamps), update_listing(files, stamps, "", store), store, churn, measured)


_recent_indexes: deque[CodeIndex] = deque(maxlen=4)
"""The last indexes, whose caches are valid while their tree is the same."""


def refresh_code_index(
    files: FileTree,
    tree: str,
    store: CodeIndexStore,
    churn: Mapping[str, FileChurn] | None = None,
    measured: Mapping[str, Sequence[str]] | None = None,
) -> CodeIndex:
    """Return the index of a tree as it is now; the store knows the tree by this name. If the store fails, it is not used."""
    stamps = files.stamps()
    try:
        listing = update_listing(files, stamps, tree, store)
    except AfreshError:
        store = MemoryCodeStore()
        listing = update_listing(files, stamps, tree, store)
    if churn is not None or measured is not None:
        return CodeIndex(files, tuple(stamps), listing, store, churn, measured)
    for view in tuple(_recent_indexes):
        if view.shows(files, tuple(stamps), listing, store):
            return view
    _recent_indexes.appendleft(CodeIndex(files, tuple(stamps), listing, store))
    return _recent_indexes[0]


MAX_IMPORT_DEPTH = 3
"""Imports between a test and the file that it covers."""


def find_tests_by_import(code: CodeIndex, path: str) -> set[str]:
    """Return the tests from which a few imports lead to the file, including the file itself if it holds tests."""
    rusty = path.endswith(".rs") and path in code.files and rust.has_test_module(code.reading(path))
    tests = {path} if rusty or (path in code.files and is_test_file(path)) else set[str]()
    seen, layer = {path}, {path}
    for _ in range(MAX_IMPORT_DEPTH):
        before = {importer for one in layer for importer in code.importers(one)} - seen
        seen |= before
        tests.update(one for one in before if is_test_file(one))
        tests.update(test for one in before if one.endswith("conftest.py") for test in list_tests_below(one, code.files))
        # names that a package re-exports are followed one by one, not the package as a whole
        layer = {one for one in before if not one.endswith("__init__.py")}
    return tests


def find_tests_by_name(code: CodeIndex, path: str) -> set[str]:
    stem = PurePosixPath(path).stem.strip("_").lower()
    if stem in ("", "init"):
        return set()
    named = {f"test_{stem}", f"{stem}_test", f"{stem}.test", f"{stem}.spec", f"{stem}-test", f"{stem}test", f"{stem}tests"}
    return {one for name in named for one in code.files_by_stem.get(name, ()) if is_test_file(one) and one != path}


def list_tests_below(conftest: str, files: Iterable[str]) -> list[str]:
    folder = str(PurePosixPath(conftest).parent)
    return [path for path in files if is_test_file(path) and (folder == "." or path.startswith(folder + "/"))]
