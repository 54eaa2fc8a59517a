"""One line on the terminal that says what goes on, for whatever takes longer than a second. Nothing in a pipe or a file."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TextIO

from afresh.cli.output import wants_json

DELAY_SECONDS = 1.0
"""Work that is faster shows no line."""
REFRESH_SECONDS = 0.5
CLEAR_LINE = "\r\x1b[K"


class ActivityLine:
    """Draws in its own thread; the command only says what it does."""

    def __init__(self, stream: TextIO, what: str) -> None:
        self.stream, self.what = stream, what
        self.began, self.ended = time.monotonic(), Event()
        self.thread = Thread(target=self._draw, daemon=True)

    def tell(self, what: str) -> None:
        self.what = what

    def stop(self) -> None:
        self.ended.set()
        self.thread.join()

    def _draw(self) -> None:
        if self.ended.wait(DELAY_SECONDS):
            return
        if os.environ.get("TERM") == "dumb":
            self._write(f"{self._line}\n")
            return
        while not self.ended.is_set():
            self._write(f"{CLEAR_LINE}{self._line}")
            self.ended.wait(REFRESH_SECONDS)
        self._write(CLEAR_LINE)

    @property
    def _line(self) -> str:
        from afresh.cli.render.console import choose_stream
        from afresh.cli.render.progress import format_duration
        from afresh.core.truncate import to_one_line

        seconds = format_duration(time.monotonic() - self.began)
        sign = "…" if choose_stream(self.stream) is self.stream else "..."
        return to_one_line(f"{self.what} {sign} {seconds}", max(20, measure_stream_width(self.stream) - 1))

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


def measure_stream_width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return 80


@contextmanager
def show_activity_line(what: str) -> Iterator[Callable[[str], None]]:
    """Show it until the end; what is given to the value replaces it. Nothing with --json."""
    if not sys.stderr.isatty() or wants_json():
        yield lambda what: None
        return
    line = ActivityLine(sys.stderr, what)
    line.thread.start()
    try:
        yield line.tell
    finally:
        line.stop()
