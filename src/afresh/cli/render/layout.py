"""Lines for a terminal, laid out without rich: importing that takes longer than a list or one task takes to read."""

import re
from collections.abc import Iterable, Sequence
from unicodedata import combining, east_asian_width

from afresh.core.text import escape_hidden
from afresh.core.truncate import to_one_line

Span = tuple[str, str]
"""A text and its style: words of STYLE_CODES, or nothing."""
Line = Sequence[Span]
STYLE_CODES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
"""ANSI codes."""
FIELD_GAP_COLUMNS = 2
TAB = " " * 4
_WORD_WITH_BLANKS = re.compile(r"\S+\s*|\s+")


def quote_text(text: str, style: str = "", limit: int = 0) -> Line:
    """Text that we did not write ourselves, with nothing hidden in it."""
    return [((to_one_line(text, limit) if limit else escape_hidden(text)).replace("\t", TAB), style)]


def count_columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def wrap_line(line: Line, width: int) -> list[Line]:
    """Broken at line ends and between words; a word that is wider than a line is broken too."""
    text = "".join(part for part, _ in line)
    return [_cut_line(line, start, end) for start, end in _find_rows(text, max(width, 2))]


def _find_rows(text: str, width: int) -> Iterable[tuple[int, int]]:
    """Where each row begins and ends, without the blanks at its end."""
    start = 0
    for paragraph in text.split("\n"):
        used, row = 0, start
        for match in _WORD_WITH_BLANKS.finditer(paragraph):
            at, word = start + match.start(), match[0].rstrip()
            if used and used + count_columns(word) > width:
                yield row, row + len(text[row:at].rstrip())
                used, row = 0, at
            while count_columns(text[row : at + len(word)]) > width:
                cut = _count_fitting(text[row : at + len(word)], width)
                yield row, row + cut
                row += cut
            used = count_columns(text[row : at + len(match[0])])
        end = start + len(paragraph)
        yield row, row + len(text[row:end].rstrip())
        start = end + 1


def _count_fitting(text: str, width: int) -> int:
    """Letters that fit, at least one."""
    used = 0
    for place, letter in enumerate(text):
        used += count_columns(letter)
        if used > width and place:
            return place
    return len(text)


def _cut_line(line: Line, start: int, end: int) -> Line:
    spans: list[Span] = []
    at = 0
    for text, style in line:
        if part := text[max(0, start - at) : max(0, end - at)]:
            spans.append((part, style))
        at += len(text)
    return spans


def lay_out_fields(rows: Sequence[tuple[Span, Line]], width: int, least: int = 0) -> list[Line]:
    """Names on the left, what is held on the right. `least`: columns for the names."""
    widest = max([least, *(count_columns(name) for (name, _), _ in rows)])
    lines: list[Line] = []
    for (name, style), held in rows:
        blank = " " * (widest + FIELD_GAP_COLUMNS)
        first = [(name, style), (blank[count_columns(name) :], "")]
        for place, line in enumerate(wrap_line(held, width - len(blank))):
            lines.append([*(first if place == 0 else [(blank, "")]), *line])
    return lines


def draw_lines(lines: Iterable[Line], colour: bool) -> str:
    return "".join("".join(_draw_span(*span, colour) for span in line).rstrip() + "\n" for line in lines)


def _draw_span(text: str, style: str, colour: bool) -> str:
    codes = ";".join(str(STYLE_CODES[word]) for word in style.split()) if colour and text.strip() else ""
    return f"\x1b[{codes}m{text}\x1b[0m" if codes else text
