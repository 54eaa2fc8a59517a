"""How readings and postings are encoded in the code index."""

import json
import zlib
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from afresh.core.symbol import ContentToIndex, FileReading, ImportedModule, IndexTerm, Symbol, SymbolKind

LARGE_FIELDS = ("symbols", "mentions")
PLAIN_FIELDS = tuple(field.name for field in fields(FileReading) if field.name not in (*LARGE_FIELDS, "imports"))
KIND_BY_VALUE = {kind.value: kind for kind in SymbolKind}
ContentTerms = tuple[Mapping[str, int], Sequence[str], Sequence[str]]
"""What one content says: words with how often, what it mentions, what it defines."""
TermPostings = dict[IndexTerm, dict[str, list[int]]]
"""By kind and term the contents that use it; for words each is followed by how often it says it."""
TERMS_PER_RUN = 64
"""Terms in one row: a row costs more than its content."""


def encode_bare_reading(reading: FileReading) -> str:
    imports = [(module.module, module.line, module.names, module.alias) for module in reading.imports]
    return json.dumps([imports, *(getattr(reading, name) for name in PLAIN_FIELDS)], separators=(",", ":"))


def pack_json(value: Any) -> bytes:
    """Compressed: what is large."""
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 1)


def unpack_json(data: bytes) -> Any:
    return json.loads(zlib.decompress(data))


def encode_reading_rest(reading: FileReading) -> bytes:
    symbols = [
        (symbol.name, symbol.kind, symbol.line, symbol.end, symbol.signature, symbol.doc, symbol.bases)
        for symbol in reading.symbols
    ]
    return pack_json([reading.mentions, symbols])


def decode_reading(plain: str, more: bytes = b"") -> FileReading:
    imports, *values = json.loads(plain)
    kept: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in zip(PLAIN_FIELDS, values, strict=True)
    }
    modules = tuple(ImportedModule(module, line, tuple(map(tuple, names)), alias) for module, line, names, alias in imports)
    mentions, symbols = unpack_json(more) if more else ([], [])
    return FileReading(
        **kept,
        imports=modules,
        mentions=tuple(mentions),
        symbols=tuple(
            Symbol(name, KIND_BY_VALUE[kind], line, end, signature, doc, tuple(bases))
            for name, kind, line, end, signature, doc, bases in symbols
        ),
    )


def encode_terms(taken: ContentToIndex) -> str:
    return json.dumps(collect_terms(taken), separators=(",", ":"))


def decode_terms(plain: str) -> ContentTerms:
    words, mentions, symbols = json.loads(plain)
    return words, mentions, symbols


def collect_terms(taken: ContentToIndex) -> ContentTerms:
    return taken.words, taken.reading.mentions, list_defined_names(taken)


def list_defined_names(taken: ContentToIndex) -> list[str]:
    return list({symbol.short: None for symbol in taken.reading.symbols})


def invert_terms(contents: Iterable[tuple[int, ContentTerms]]) -> TermPostings:
    words: dict[str, list[int]] = {}
    mentions: dict[str, list[int]] = {}
    symbols: dict[str, list[int]] = {}
    for number, (counts, used, named) in contents:
        for word, count in counts.items():
            if word in words:
                words[word] += (number, count)
            else:
                words[word] = [number, count]
        for names, found in ((used, mentions), (named, symbols)):
            for name in names:
                if name in found:
                    found[name].append(number)
                else:
                    found[name] = [number]
    return {IndexTerm.WORD: words, IndexTerm.MENTION: mentions, IndexTerm.SYMBOL: symbols}


def encode_runs(postings: TermPostings) -> Iterator[tuple[str, str, bytes]]:
    """The kind, the first term and the content of each run."""
    for kind, numbers in postings.items():
        names = sorted(numbers)
        for first in range(0, len(names), TERMS_PER_RUN):
            some = {name: numbers[name] for name in names[first : first + TERMS_PER_RUN]}
            yield kind.value, names[first], pack_json(some)


def count_term_by_content(kind: IndexTerm, numbers: list[int]) -> dict[int, int]:
    """How often each content of a posting says its term."""
    return dict(zip(numbers[::2], numbers[1::2], strict=True)) if kind is IndexTerm.WORD else dict.fromkeys(numbers, 1)


def keep_contents(kind: IndexTerm, numbers: list[int], kept: Collection[int]) -> list[int]:
    """The posting without contents that are gone."""
    if kind is not IndexTerm.WORD:
        return [number for number in numbers if number in kept]
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return [part for number, count in pairs if number in kept for part in (number, count)]


def pack_numbers(numbers: Iterable[int]) -> bytes:
    return array("I", numbers).tobytes()


def unpack_numbers(data: bytes) -> list[int]:
    numbers = array("I")
    numbers.frombytes(data)
    return numbers.tolist()
