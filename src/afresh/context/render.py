"""A section as text. Of a file no line stands twice, and parts of it that are not shown are told in as few lines as they take."""

import re
from collections.abc import Iterator, Sequence

from afresh.context.section import SectionDraft, SectionPiece

STUB_LINE = re.compile(r" +… (\d+)-(\d+) ?(.*)")
EXCERPT_LINE_NUMBER = re.compile(r"[+ ]\s*\d+ ")
MAX_STUB_NAMES = 6
"""Definitions that one line for what is not shown may name."""


def render_section(draft: SectionDraft, pieces: Sequence[SectionPiece]) -> str:
    """A heading stands above the pieces of each group."""
    lines, group = [f"## {draft.title}"], list[SectionPiece]()
    for piece in (*pieces, None):
        if group and (piece is None or piece.group != group[0].group):
            lines += _render_group(group) if group[0].group else [one.text for one in group]
            group = []
        if piece is not None:
            group.append(piece)
    return "\n".join(lines)


def _render_group(group: Sequence[SectionPiece]) -> Iterator[str]:
    """The lines of one file. What leads to a piece (its `def`, its `class`) is left off where it stands above already."""
    yield group[0].group
    seen, gaps = set[str](), list[re.Match[str]]()
    for line in (line for piece in group for line in piece.text.split("\n")):
        if (gap := STUB_LINE.fullmatch(line)) and (not gaps or int(gaps[-1][2]) + 1 == int(gap[1])):
            gaps.append(gap)
            continue
        if gaps:
            yield _render_stub(gaps)
        gaps = [gap] if gap else []
        if not gap and (line not in seen or not EXCERPT_LINE_NUMBER.match(line)):
            seen.add(line)
            yield line
    if gaps:
        yield _render_stub(gaps)


def _render_stub(gaps: Sequence[re.Match[str]]) -> str:
    names = list(dict.fromkeys(name for gap in gaps for name in gap[3].split(", ") if name and name != "…"))
    more = ", …" if len(names) > MAX_STUB_NAMES or any(gap[3].endswith("…") for gap in gaps) else ""
    return f"     … {gaps[0][1]}-{gaps[-1][2]} {', '.join(names[:MAX_STUB_NAMES])}{more}".rstrip()
