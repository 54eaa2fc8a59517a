"""The console for all views. Streams that lack our symbols get plain ones."""

import io
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console


_PLAIN_SIGNS = str.maketrans(
    {
        "✓": "+",
        "✗": "x",
        "↺": "<",
        "•": "*",
        "·": "-",
        "→": ">",
        "…": "~",
        "−": "-",
        "━": "#",
        "╸": "-",
        "─": "-",
        "┄": ".",
        "│": "|",
    }
    | dict(zip("▁▂▃▄▅▆▇█", "__..--=#", strict=True))
)


class PlainStream(io.TextIOBase):
    """Writes to a stream whose encoding lacks our symbols."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.stream.encoding

    def write(self, text: str) -> int:
        data = text.translate(_PLAIN_SIGNS).encode(self.encoding, "backslashreplace")
        return self.stream.write(data.decode(self.encoding))

    def flush(self) -> None:
        self.stream.flush()

    def isatty(self) -> bool:
        return self.stream.isatty()

    def fileno(self) -> int:
        return self.stream.fileno()


def choose_stream(stream: TextIO) -> "TextIO | PlainStream":
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
    return stream if encoding.startswith("utf") else PlainStream(stream)


def open_console(stream: TextIO | None = None, width: int | None = None) -> "Console":
    """Open a console; colour and control codes only on a terminal and without NO_COLOR."""
    from rich.console import Console

    file = choose_stream(stream or sys.stdout)
    return Console(file=file, width=width, highlight=False, markup=False, emoji=False)  # pyright: ignore[reportArgumentType]
