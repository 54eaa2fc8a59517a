"""A section as text. Of a file no line is shown twice, and parts of it that are left out take as few lines as possible."""

from collections.abc import Container, Iterator, Sequence

from afresh.context.section import SectionDraft, SectionPiece
from afresh.core.change import group_consecutive
from afresh.core.context_item import LEFT_OUT_MARK, LineGap, SourceLine

MAX_STUB_NAMES = 6
"""Definitions that one line for what is not shown may name."""


def render_section(draft: SectionDraft, pieces: Sequence[SectionPiece]) -> str:
    """A heading is put above the pieces of each group."""
    if draft.render:
        return draft.render(pieces)
    lines, group = [f"## {draft.title}"], list[SectionPiece]()
    for piece in (*pieces, None):
        if group and (piece is None or piece.group != group[0].group):
            lines += _render_group(group) if group[0].group else [one.text for one in group]
            group = []
        if piece is not None:
            group.append(piece)
    return "\n".join(lines)


def _render_group(group: Sequence[SectionPiece]) -> Iterator[str]:
    """The lines of one file in their order, each once: what leads to a piece (its `def`, its `class`) may lead to others, too."""
    yield group[0].group
    shown, others, gaps, number = dict[int, SourceLine](), list[tuple[int, str]](), list[LineGap](), 0
    for line in (line for piece in group for line in piece.lines or piece.text.split("\n")):
        number = number if isinstance(line, str) else line.number
        match line:
            case SourceLine():
                shown.setdefault(number, line)
            case LineGap():
                gaps.append(line)
            case _:
                others.append((number, str(line)))
    rows = [*shown.items(), *others, *[(gap.number, gap) for gap in _merge_gaps(gaps, shown)]]
    yield from (str(line) for _, line in sorted(rows, key=lambda row: row[0]))


def _merge_gaps(gaps: Sequence[LineGap], shown: Container[int]) -> Iterator[LineGap]:
    """What they leave of the lines that are not shown, neighbours as one with the first of their names."""
    told = {LEFT_OUT_MARK}
    for first, last in group_consecutive({n for gap in gaps for n in range(gap.number, gap.last + 1) if n not in shown}):
        here = [gap for gap in gaps if gap.number <= last and first <= gap.last]
        names = [name for name in dict.fromkeys(name for gap in here for name in gap.names) if name not in told]
        told.update(names)
        more = len(names) > MAX_STUB_NAMES or any(gap.names[-1:] == (LEFT_OUT_MARK,) for gap in here)
        yield LineGap(first, last, (*names[:MAX_STUB_NAMES], *([LEFT_OUT_MARK] if more else [])))
