"""What is known of the code of one tree at one moment. All answers depend on this tree alone."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any

from afresh.domain.code import Churn, Place, Reading
from afresh.domain.words import split, stem
from afresh.errors import AfreshError
from afresh.insight import languages
from afresh.insight.covers import by_import, by_name, is_test
from afresh.ports import Files

IDENTIFIER = re.compile(r"[^\W\d]\w+")


class Code:
    def __init__(
        self, files: Files, churn: Mapping[str, Churn] | None = None, measured: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        """`measured` has the test files that were seen to run each file."""
        self._files, self._churn, self._measured = files, churn or {}, measured or {}
        self.paths = tuple(files.paths())
        self.files: Sequence[str] = tuple(path for path in self.paths if languages.language_of(path))
        self._known: dict[str, tuple[str, Reading, Counter[str]]] = {path: self._read(path) for path in self.files}
        self._modules: dict[str, Any] = {}

    @property
    def digest(self) -> str:
        """Changes when anything in the code of the tree does."""
        content = sha256()
        for path in self.paths:
            content.update(f"{path}\0{self._known[path][0] if path in self._known else ''}\n".encode("utf-8", "backslashreplace"))
        return content.hexdigest()

    def reading(self, path: str) -> Reading:
        """KeyError for what is not among `files`."""
        return self._known[path][1]

    def text(self, path: str) -> str:
        """As on disk now. What was read before is corrected if it differs."""
        text = self._files.read(path)
        if path in self._known and self._known[path][0] != _mark(text):
            self._known[path] = _taken(path, text)
            self._forget()
        return text

    def defining(self, name: str) -> Sequence[Place]:
        """Of a qualified name, or a trailing part of it; by path and line."""
        found = self._defining.get(name.rpartition(".")[2], ())
        return [place for place in found if f".{place.symbol.name}".endswith(f".{name}")]

    def mentioning(self, name: str) -> Sequence[str]:
        """Files whose code uses the identifier, sorted."""
        return self._mentioning.get(name, ())

    def imports(self, path: str) -> Sequence[str]:
        """Files of this tree that it imports, sorted."""
        return self._imports.get(path, ())

    def importers(self, path: str) -> Sequence[str]:
        return self._importers.get(path, ())

    def words(self, word: str) -> Mapping[str, int]:
        """How often each file says a word, as `domain.words.split` gives it, or another form of it. It is stemmed here."""
        return self._words.get(stem(word.lower()), {})

    def length(self, path: str) -> int:
        """Words in the file."""
        return self._known[path][2].total()

    def tests_of(self, path: str) -> Sequence[str]:
        """Test files that cover it: by what they import, by their name, and as measured."""
        measured = (test for test in self._measured.get(path, ()) if test in self._known)
        return sorted({*by_import(self, path), *by_name(self, path), *measured})

    def is_test(self, path: str) -> bool:
        return is_test(path)

    def churn(self, path: str) -> Churn:
        return self._churn.get(path, Churn())

    @cached_property
    def _defining(self) -> dict[str, list[Place]]:
        found: dict[str, list[Place]] = {}
        for path in self.files:
            for symbol in sorted(self.reading(path).symbols, key=lambda symbol: symbol.line):
                found.setdefault(symbol.short, []).append(Place(path, symbol))
        return found

    @cached_property
    def _mentioning(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self.files:
            for name in self.reading(path).mentions:
                found.setdefault(name, []).append(path)
        return found

    @cached_property
    def _words(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {}
        for path in self.files:
            for word, count in self._known[path][2].items():
                found.setdefault(word, {})[path] = count
        return found

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
        reading = self.reading(path)
        speaker = languages.speaker(reading.language)
        if reading.language not in self._modules:
            self._modules[reading.language] = speaker.modules(self)
        modules = self._modules[reading.language]
        return {target for one in reading.imports for target in speaker.targets(one, path, modules)}

    def _read(self, path: str) -> tuple[str, Reading, Counter[str]]:
        try:
            return _taken(path, self._files.read(path))
        except (OSError, UnicodeError, AfreshError):
            return "", Reading(languages.language_of(path), 0, fault="cannot be read as text"), _said(path, "")

    def _forget(self) -> None:
        self._modules.clear()
        for name in ("_defining", "_mentioning", "_words", "_imports", "_importers"):
            self.__dict__.pop(name, None)


def code_of(files: Files, churn: Mapping[str, Churn] | None = None, measured: Mapping[str, Sequence[str]] | None = None) -> Code:
    """Of a tree that nothing is known of yet, without a store."""
    return Code(files, churn, measured)


def _taken(path: str, text: str) -> tuple[str, Reading, Counter[str]]:
    return _mark(text), languages.read(path, text), _said(path, text)


def _mark(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _said(path: str, text: str) -> Counter[str]:
    said: Counter[str] = Counter(map(stem, split(path)))
    for identifier, count in Counter(IDENTIFIER.findall(text)).items():
        for word in split(identifier):
            said[stem(word)] += count
    return said
