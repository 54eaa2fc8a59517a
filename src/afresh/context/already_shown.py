"""What other sections show already: lines of files by path and number, and lines of text."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from afresh.context.section import SectionPiece
from afresh.core.context_item import ShownLine, SourceLine
from afresh.core.prompt import Section
from afresh.memory.history.names import find_names_and_implied
from afresh.outputs.printed_files import find_numbered_code


def collect_shown_lines(given: Sequence[str], sections: Iterable[tuple[Section, Sequence[SectionPiece]]]) -> frozenset[str]:
    """Names and lines that the prompt shows; those of file excerpts also as searches and printed files show them."""
    found = [_collect_text_lines(text) | _collect_printed_code(text) for text in given]
    for section, pieces in sections:
        found.append(_collect_text_lines(section.text))
        found += [_collect_typed_code(piece.lines) if piece.lines else _collect_printed_code(piece.text) for piece in pieces]
        found += [frozenset(_list_excerpt_hits(piece)) for piece in pieces if section.name == "files"]
    return frozenset[str]().union(*found)


@lru_cache(maxsize=64)
def _collect_text_lines(text: str) -> frozenset[str]:
    """Cached: most sections are the same in the next prompt."""
    bare = [line.strip() for line in text.splitlines()]
    return frozenset(bare).union(*[find_names_and_implied(line)[1] for line in bare])


@lru_cache(maxsize=256)
def _collect_printed_code(text: str) -> frozenset[str]:
    return frozenset(find_numbered_code(text))


def _collect_typed_code(lines: Sequence[ShownLine]) -> frozenset[str]:
    code = [line.text.strip() for line in lines if isinstance(line, SourceLine)]
    return frozenset(code).union(*[find_numbered_code(line) for line in lines if isinstance(line, str)])


def _list_excerpt_hits(piece: SectionPiece) -> Iterator[str]:
    for line in piece.lines:
        if isinstance(line, SourceLine):
            number, code = line.number, line.text
            yield from (f"{number}: {code.strip()}", f"{piece.group}:{number}: {code.strip()}")
            yield from (
                f"{start}{number}{mark}{code}" for start, mark in ((f"{piece.group}:", ":"), ("", ":"), ("", "-"), ("", "\t"))
            )
