"""What a terminal would show of an output in the end: no colours, and of lines that were drawn again only the last drawing."""

import re
from collections.abc import Sequence

MAX_COLUMNS = 1_000
"""A cursor is moved no further to the right."""
MAX_ROWS_UP = 60
"""A cursor reaches no line that has left the screen."""
_CONTROL = re.compile(r"[\x1b\r\b]")
_UNSEEN = re.compile(r"\x1b\[[\d;:]*m|\x1b\[\?[\d;]*[hl]|\a|(?<!\r)\r+(?=\n)")
"""Colours, modes of the screen, the bell."""
_TITLE = re.compile(r"\x1b[\]PX^_][^\x1b\a\n]*(?:\a|\x1b\\)?")
"""Sequences for the terminal itself: titles, links."""
_TOKEN = re.compile(
    r"(?P<text>[^\x1b\r\n\b]+)"
    r"|\x1b\[(?P<args>[0-?]*)[ -/]*(?P<move>[@-~])"
    r"|\x1b[ -/]*[0-~]?"
    r"|(?P<sign>[\r\n\b])"
)


def render_terminal_text(text: str) -> str:
    """The text as it is when all of it is printed, without blanks at the ends of lines. What is only printed stays: clearing the
    screen scrolls it away."""
    if not _CONTROL.search(text):
        return text
    screen = _Screen()
    for token in _TOKEN.finditer(_UNSEEN.sub("", _TITLE.sub("", text))):
        if token["text"]:
            screen.write(token["text"])
        elif token["move"]:
            screen.move(token["move"], [int(part) for part in re.findall(r"\d{1,6}", token["args"])])
        elif token["sign"]:
            screen.obey(token["sign"])
    return "\n".join("".join(row).rstrip(" ") for row in screen.rows)


class _Screen:
    """Rows of characters without end, and where the next one goes."""

    def __init__(self) -> None:
        self.rows = [list[str]()]
        self.row = self.column = 0

    def write(self, text: str) -> None:
        row, start = self.rows[self.row], self.column
        self.column += len(text)
        row.extend(" " * (start - len(row)))
        row[start : self.column] = text

    def obey(self, sign: str) -> None:
        if sign == "\n":
            self.go_to_row(self.row + 1)
        self.column = max(0, self.column - 1) if sign == "\b" else 0

    def go_to_row(self, row: int) -> None:
        """Down to a new row at most."""
        self.row = max(0, len(self.rows) - MAX_ROWS_UP, min(row, len(self.rows)))
        if self.row == len(self.rows):
            self.rows.append([])

    def move(self, kind: str, numbers: Sequence[int]) -> None:
        first, count, last = numbers[0] if numbers else 0, max([1, *numbers[:1]]), len(self.rows) - 1
        if kind in "AF":
            self.go_to_row(self.row - count)
        elif kind in "BE":
            self.go_to_row(min(self.row + count, last))
        elif kind in "CDG":
            column = {"C": self.column + count, "D": self.column - count, "G": count - 1}[kind]
            self.column = max(0, min(column, MAX_COLUMNS))
        elif kind == "K":
            self.erase(first)
        elif kind == "J" and first == 0:
            self.erase(0)
            del self.rows[self.row + 1 :]
        elif kind in "HfJ" and (self.rows[last] or self.row < last):
            self.go_to_row(last + 1)
        if kind in "EFHf":
            self.column = 0

    def erase(self, part: int) -> None:
        """Erase the row from the cursor on, up to the cursor, or as a whole."""
        row = self.rows[self.row]
        if part == 1:
            row[: self.column + 1] = " " * min(self.column + 1, len(row))
        else:
            del row[self.column if part == 0 else 0 :]
