"""A section as text. Of a file no line is shown twice, and parts of it that are left out take as few lines as possible."""

from collections.abc import Iterator, Sequence

from afresh.context.section import SectionDraft, SectionPiece
from afresh.core.context_item import LEFT_OUT_MARK, LineGap, SourceLine

MAX_STUB_NAMES = 6
"""Definitions that one line for what is not shown may name."""


def render_section(draft: SectionDraft, pieces: Sequence[SectionPiece]) -> str:
    """A heading is put above the pieces of each group."""
    lines, group = [f"## {draft.title}"], list[SectionPiece]()
    for piece in (*pieces, None):
        if group and (piece is None or piece.group != group[0].group):
            lines += _render_group(group) if group[0].group else [one.text for one in group]
            group = []
        if piece is not None:
            group.append(piece)
    return "\n".join(lines)


def _render_group(group: Sequence[SectionPiece]) -> Iterator[str]:
    """The lines of one file. What leads to a piece (its `def`, its `class`) is left off where it is shown above already."""
    yield group[0].group
    seen, gaps = set[int](), list[LineGap]()
    for line in (line for piece in group for line in piece.lines or piece.text.split("\n")):
        gap = line if isinstance(line, LineGap) else None
        if gap and (not gaps or gaps[-1].last + 1 == gap.number):
            gaps.append(gap)
            continue
        if gaps:
            yield str(merge_gaps(gaps))
        gaps = [gap] if gap else []
        if gap or (isinstance(line, SourceLine) and line.number in seen):
            continue
        if isinstance(line, SourceLine):
            seen.add(line.number)
        yield str(line)
    if gaps:
        yield str(merge_gaps(gaps))


def merge_gaps(gaps: Sequence[LineGap]) -> LineGap:
    """Neighbouring gaps as one, with the first of their names."""
    names = list(dict.fromkeys(name for gap in gaps for name in gap.names if name != LEFT_OUT_MARK))
    more = len(names) > MAX_STUB_NAMES or any(gap.names[-1:] == (LEFT_OUT_MARK,) for gap in gaps)
    shown = (*names[:MAX_STUB_NAMES], *([LEFT_OUT_MARK] if more else []))
    return LineGap(gaps[0].number, gaps[-1].last, shown)
