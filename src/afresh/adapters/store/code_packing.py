"""Readings and postings as they stand in the index of code."""

import json
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from afresh.domain.code import Import, Kind, Reading, Symbol, Taken, Term

LARGE = ("symbols", "mentions")
PLAIN = tuple(field.name for field in fields(Reading) if field.name not in (*LARGE, "imports"))
KINDS = {kind.value: kind for kind in Kind}
Terms = tuple[Mapping[str, int], Sequence[str], Sequence[str]]
"""What one content says: words with how often, what it mentions, what it defines."""
Postings = dict[Term, dict[str, list[int]]]
"""By kind and term the contents that use it; for words each is followed by how often it says it."""
RUN = 64
"""Terms that stand next to each other in a row: rows are dearer than what is in them."""


def bare(reading: Reading) -> str:
    imports = [(one.module, one.line, one.names, one.alias) for one in reading.imports]
    return json.dumps([imports, *(getattr(reading, name) for name in PLAIN)], separators=(",", ":"))


def rest(reading: Reading) -> str:
    symbols = [(one.name, one.kind, one.line, one.end, one.signature, one.doc, one.bases) for one in reading.symbols]
    return json.dumps([reading.mentions, symbols], separators=(",", ":"))


def unpacked(plain: str, more: str = "") -> Reading:
    imports, *values = json.loads(plain)
    kept: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in zip(PLAIN, values, strict=True)
    }
    found = tuple(Import(module, line, tuple(map(tuple, names)), alias) for module, line, names, alias in imports)
    mentions, symbols = json.loads(more) if more else ([], [])
    return Reading(
        **kept,
        imports=found,
        mentions=tuple(mentions),
        symbols=tuple(
            Symbol(name, KINDS[kind], line, end, signature, doc, tuple(bases))
            for name, kind, line, end, signature, doc, bases in symbols
        ),
    )


def loose(taken: Taken) -> str:
    return json.dumps(terms(taken), separators=(",", ":"))


def loosened(plain: str) -> Terms:
    words, mentions, symbols = json.loads(plain)
    return words, mentions, symbols


def terms(taken: Taken) -> Terms:
    return taken.words, taken.reading.mentions, defined(taken)


def defined(taken: Taken) -> list[str]:
    return list({symbol.short: None for symbol in taken.reading.symbols})


def inverted(contents: Iterable[tuple[int, Terms]]) -> Postings:
    words: dict[str, list[int]] = {}
    mentions: dict[str, list[int]] = {}
    symbols: dict[str, list[int]] = {}
    for number, (said, used, named) in contents:
        for word, count in said.items():
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
    return {Term.WORD: words, Term.MENTION: mentions, Term.SYMBOL: symbols}


def runs(postings: Postings) -> Iterator[tuple[str, str, str]]:
    """The kind, the first term and the text of each run."""
    for kind, found in postings.items():
        names = sorted(found)
        for first in range(0, len(names), RUN):
            some = {name: found[name] for name in names[first : first + RUN]}
            yield kind.value, names[first], json.dumps(some, separators=(",", ":"))


def counts(kind: Term, numbers: list[int]) -> dict[int, int]:
    """How often each content of a posting says its term."""
    return dict(zip(numbers[::2], numbers[1::2], strict=True)) if kind is Term.WORD else dict.fromkeys(numbers, 1)


def only(kind: Term, numbers: list[int], kept: Collection[int]) -> list[int]:
    """The posting without contents that are gone."""
    if kind is not Term.WORD:
        return [number for number in numbers if number in kept]
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return [part for number, count in pairs if number in kept for part in (number, count)]


def packed(numbers: Iterable[int]) -> bytes:
    return array("I", numbers).tobytes()


def numbers_in(data: bytes) -> list[int]:
    found = array("I")
    found.frombytes(data)
    return found.tolist()
