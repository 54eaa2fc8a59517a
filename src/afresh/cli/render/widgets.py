"""Lines of styled text without rich, whose import is slow. Foreign text passes through `quote_text`."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

from afresh.core.reply import OFFLINE_MODEL
from afresh.core.text import escape_hidden
from afresh.core.truncate import to_one_line
from afresh.views.task_facts import format_share

if TYPE_CHECKING:
    from afresh.core.prompt import CallAudit
    from afresh.core.states.ceiling_state import CallFigures

Span = tuple[str, str]
"""A text and its style: keys of STYLE_CODES, or an empty string."""
Line = Sequence[Span]
STYLE_CODES = {"bold": 1, "dim": 2, "italic": 3, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
"""ANSI codes."""
FIELD_GAP_COLUMNS = 2
TAB = " " * 4
_PART_ENDS = "/:_.,-=[("
"""A path or an id that is longer than a line is broken after one of these."""
_WORD_WITH_BLANKS = re.compile(r"\S+\s*|\s+")
_QUOTED_WORD = re.compile(r"[^\s`]*`[^`\s][^`\n]*`[^\s`]*\s*|\S+\s*|\s+")
"""Quoted words, such as a command to copy, are kept together."""


def quote_text(text: str, style: str = "", limit: int = 0) -> Line:
    """Return foreign text with control characters made visible."""
    return [((to_one_line(text, limit) if limit else escape_hidden(text)).replace("\t", TAB), style)]


def count_columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def wrap_line(line: Line, width: int) -> list[Line]:
    """Wrap at line ends and between words; words longer than a line are split, and what is in backticks is not if it fits."""
    text = "".join(part for part, _ in line)
    return [cut_line(line, start, end) for start, end in _find_rows(text, max(width, 2))]


def _find_rows(text: str, width: int) -> Iterable[tuple[int, int]]:
    """Yield start and end of each row, without trailing blanks."""
    start = 0
    for paragraph in text.split("\n"):
        used, row = 0, start
        for match in _find_words(paragraph, width):
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


def _find_words(paragraph: str, width: int) -> Iterable[re.Match[str]]:
    for match in _QUOTED_WORD.finditer(paragraph):
        if count_columns(match[0].rstrip()) <= width:
            yield match
        else:
            yield from _WORD_WITH_BLANKS.finditer(paragraph, match.start(), match.end())


def _count_fitting(text: str, width: int) -> int:
    """Return how many characters of a long word fit, at least one; up to a natural end of a part of it if there is one."""
    used, most = 0, len(text)
    for place, letter in enumerate(text):
        used += count_columns(letter)
        if used > width and place:
            most = place
            break
    ends = [place + 1 for place in range(most // 2, most) if text[place] in _PART_ENDS]
    return ends[-1] if ends else most


def cut_line(line: Line, start: int, end: int) -> Line:
    spans: list[Span] = []
    at = 0
    for text, style in line:
        if part := text[max(0, start - at) : max(0, end - at)]:
            spans.append((part, style))
        at += len(text)
    return spans


def lay_out_fields(rows: Sequence[tuple[Span, Line]], width: int, least: int = 0) -> list[Line]:
    """Lay out labels on the left and values on the right. `least` is the minimum width of the labels."""
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


WORD_STYLES = {
    "PASS": "green", "done": "green", "unchanged": "green", "applied": "green", "ok": "green", "kept": "green", "added": "green",
    "FAIL": "red", "failed": "red", "fail": "red", "reverted": "red", "removed": "red", "deleted": "red",
    "BLOCKED": "yellow", "blocked": "yellow", "warn": "yellow", "changed": "yellow", "modified": "yellow",
    "running": "cyan", "interrupted": "yellow", "paused": "yellow", "ready": "cyan",
}  # fmt: skip
_SPARKLINE_SIGNS = "▁▂▃▄▅▆▇█"
MAX_SERIES_COLUMNS = 16
"""Width of a small chart, so that its words fit on the same line."""


def draw_gauge(call: "CallAudit | CallFigures", width: int = 24) -> list[tuple[str, str]]:
    """Draw a call against its limit: sent, free, and reserved for the reply; and its share of the model's window."""
    tokens, budget, reserve, windowed = call.tokens, call.budget, call.reserve, call.window and call.model != OFFLINE_MODEL
    scale = width / budget if budget else 0
    kept = min(width, round(reserve * scale))
    used = min(width - kept, max(1 if tokens else 0, round(tokens * scale)))
    share = tokens / max(1, budget - reserve)
    style = "red" if share > 0.95 else "yellow" if share > 0.8 else "cyan"
    return [
        ("━" * used, style),
        ("─" * (width - kept - used), "dim"),
        ("┄" * kept, "dim"),
        (f" {tokens:,} of {budget:,}", ""),
        (f", {reserve:,} for the reply" if reserve else "", "dim"),
        (f"; {format_share(tokens / call.window)} of the model's window" if windowed else "", "dim"),
    ]


def draw_sparkline(values: Sequence[int], top: int, width: int = 32) -> str:
    """Draw heights relative to `top`; if there are too many values, show the highest of each group."""
    if not values or not top:
        return ""
    count = min(width, len(values))
    groups = [values[i * len(values) // count : (i + 1) * len(values) // count] for i in range(count)]
    return "".join(_SPARKLINE_SIGNS[min(7, max(group) * 8 // top)] for group in groups)


def draw_series(values: Sequence[int], top: int, describe: Callable[[int], str]) -> Line:
    """Draw values in their order, and say the same in words for those who can't see it."""
    from statistics import median

    if not values:
        return []
    named = (("first", values[0]), ("median", round(median(values))), ("last", values[-1]), ("max", max(values)))
    words = ", ".join(f"{name} {describe(value)}" for name, value in named)
    return [(f"{draw_sparkline(values, top, MAX_SERIES_COLUMNS)} ", "cyan"), (words, "")]


def choose_diff_style(line: str) -> str:
    """Return the style of a line of a patch."""
    if line.startswith(("+++", "---", "diff ", "index ")):
        return "bold dim"
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
