"""A real terminal with the command line in it: what a person sees there, and what they type and press."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

from person import SOURCE

PATIENCE = 300.0
"""Seconds until a test is given up that waits for what never comes."""
SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-Z\\-_])")
CTRL_C, CTRL_D = "\x03", "\x04"


class Terminal:
    """The process is the leader of its own session, with this as its terminal, so that keys reach it as from a shell."""

    def __init__(self, at: Path, *arguments: str, columns: int = 100, rows: int = 40, **environment: str) -> None:
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before: list[Any] = termios.tcgetattr(self.slave)
        self.raw, self.read = b"", 0
        variables = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR", "CI")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "afresh.cli.main", *arguments], cwd=at, stdin=self.slave, stdout=self.slave, stderr=self.slave,
            env={**variables, "PYTHONPATH": SOURCE, "TERM": "xterm-256color", **environment}, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    @property
    def text(self) -> str:
        """All that was written so far, without colours and movements."""
        return SEQUENCE.sub("", self.raw.decode(errors="replace")).replace("\r", "")

    @property
    def new(self) -> str:
        """Of it, what was not looked at before."""
        return self.text[self.read :]

    def sees(self, words: str) -> str:
        """Waits until these words are there, however they are wrapped; what came up to then."""
        until, pattern = time.monotonic() + PATIENCE, r"\s+".join(map(re.escape, words.split()))
        while not (found := re.search(pattern, self.new)):
            assert self._more(until), f"{words!r} never came; there was:\n{self.new}"
        seen = self.new[: found.end()]
        self.read += found.end()
        return seen

    def types(self, line: str) -> None:
        self.presses(line + "\n")

    def presses(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def presses_until(self, keys: str, words: str) -> None:
        """Presses again and again until these words are there: a key that comes just before a line is read may be lost."""
        until = time.monotonic() + PATIENCE
        while " ".join(words.split()) not in " ".join(self.new.split()):
            assert self.process.poll() is None and time.monotonic() < until, f"{words!r} never came; there was:\n{self.text}"
            self.presses(keys)
            self._more(time.monotonic() + 0.5)
        self.sees(words)

    def ends(self) -> int:
        """Its exit code, once it has ended by itself and left the terminal as it found it."""
        until = time.monotonic() + PATIENCE
        while self.process.poll() is None and self._more(until):
            pass
        code = self.process.wait(PATIENCE)
        while self._more(time.monotonic() + 0.2):
            pass
        assert termios.tcgetattr(self.slave) == self.before, "the terminal is not as it was"
        assert self._shows_cursor, "the cursor is gone"
        assert "Traceback" not in self.text, self.text
        return code

    @property
    def _shows_cursor(self) -> bool:
        written = self.raw.decode(errors="replace")
        return written.rfind("\x1b[?25h") >= written.rfind("\x1b[?25l")

    def _more(self, until: float) -> bool:
        """Reads what there is; false when the time is over."""
        while (left := until - time.monotonic()) > 0:
            if select.select([self.master], [], [], min(left, 0.05))[0]:
                self.raw += os.read(self.master, 65536)
                return True
            if self.process.poll() is not None:
                return False
        return False
