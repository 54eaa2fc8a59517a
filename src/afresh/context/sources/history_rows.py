"""Lines of earlier steps as text: a heading for each entry, and marks for gaps."""

from collections.abc import Iterator, Mapping, Sequence

from afresh.core.step_history import PassageVoice
from afresh.memory.history.trace import TraceEntry, TraceRow
from afresh.outputs.printed_files import has_line_number

HISTORY_STALE_MARK = " (before the last change)"
VOICE_MARKS = {PassageVoice.ACTION: ">", PassageVoice.THOUGHT: ":"}
BLOCK_ID_CHARACTERS = 8
"""Letters of a block's id that are enough to find it."""


def render_history_rows(
    shown: Sequence[tuple[TraceEntry, TraceRow]], changed: int, ids: Mapping[TraceEntry, str], longest_gap: int
) -> Iterator[str]:
    """Rows under a heading for each entry; a mark is put where lines are left out, unless what is missing is shorter than it or
    numbers show it."""
    former: TraceEntry | None = None
    place, last = 0, ""
    for entry, row in shown:
        if entry is not former:
            yield render_entry_heading(entry, row.line.place > 0, changed, ids) + row.line.text
        else:
            between = entry.lines[place : row.line.place]
            if sum(map(len, between)) > longest_gap:
                if not (has_line_number(last) and has_line_number(row.line.text)):
                    yield "…"
            elif any(between):
                yield from [line.rstrip() for line in between if line.strip()]
            yield row.line.text
        former, place, last = entry, row.line.place + 1, row.line.text


def render_entry_heading(entry: TraceEntry, cut: bool, changed: int, ids: Mapping[TraceEntry, str]) -> str:
    """Stands before an action or a thought on its line; before an output on one of its own, so that its indentation stays.
    An action says how it ended, and by which id its output is to be had if nothing of it is shown."""
    if entry.voice is not PassageVoice.OUTPUT:
        how = f" {entry.passage.ended}" if entry.passage.ended else ""
        found = ids.get(entry, "")
        return f"{entry.step}{how}{found}{VOICE_MARKS[entry.voice]} {'… ' if cut else ''}"
    stale = HISTORY_STALE_MARK if entry.passage.before(changed) else ""
    return f"{entry.step}= {entry.passage.block[:BLOCK_ID_CHARACTERS]}{stale}{' …' if cut else ''}\n"
