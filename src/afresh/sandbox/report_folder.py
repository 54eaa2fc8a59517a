"""Where test runners leave their reports: a folder beside the tree that a command can write to, and reporters that it can't.

A run with `reports=True` gets the variable `AFRESH_REPORTS` (the folder) and Python's `PYTHONPATH` leads to the reporters of this
package. All that lies in the folder when the command has ended comes back as `CommandRun.reports`, by file name. A runner with a
machine format of its own is told to write it there: `--outputFile="$AFRESH_REPORTS/jest.json"`. Code under test can write such a
file, too. The reporters here sign what they write: see `verification/report_channel.py`.
"""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from afresh.core.action import CommandRun

REPORTERS_FOLDER = Path(__file__).parent / "reporters"
SEEN_FOLDER = Path("/tmp/afresh")
"""Where a command sees both folders, as far as they can be mounted, and what its output calls them."""
KEYS_FILE = "keys"
MAX_SESSIONS = 16
"""Test sessions of one command that can report, one after another."""
MAX_REPORT_BYTES = 32_000_000
MAX_REPORT_FILES = 64


@dataclass(frozen=True, slots=True)
class ReportFolder:
    """A new one for each run. Its keys are in a file that the first reporter reads and removes."""

    place: Path
    """On the host."""
    keys: tuple[str, ...]

    @classmethod
    def make(cls, parent: Path) -> "ReportFolder":
        place = parent / "reports"
        place.mkdir()
        keys = tuple(secrets.token_hex(16) for _ in range(MAX_SESSIONS))
        (place / KEYS_FILE).write_text("\n".join(keys))
        return cls(place, keys)

    def mounts(self) -> Iterator[str]:
        """Options of bubblewrap that show both folders."""
        yield from ("--ro-bind", str(REPORTERS_FOLDER), str(SEEN_FOLDER / "reporters"))
        yield from ("--bind", str(self.place), str(SEEN_FOLDER / "reports"))

    def collect(self, done: CommandRun) -> CommandRun:
        """The run with what it has reported. Only plain files are read: a link may lead anywhere."""
        names = sorted(entry.name for entry in os.scandir(self.place) if entry.name != KEYS_FILE)
        texts = {name: text for name in names[:MAX_REPORT_FILES] if (text := _read_plain_file(self.place / name)) is not None}
        output = done.output.replace(str(self.place), str(SEEN_FOLDER / "reports"))
        output = output.replace(str(REPORTERS_FOLDER), str(SEEN_FOLDER / "reporters"))
        return replace(done, output=output, reports=texts, keys=self.keys)


def make_report_variables(reporters: Path, reports: Path | None, tree: Path) -> dict[str, str]:
    """Variables for `sitecustomize` and the reporters."""
    told = {"AFRESH_REPORTS": str(reports)} if reports else {}
    return told | {"AFRESH_TREE": str(tree), "PYTHONPATH": str(reporters)}


def _read_plain_file(path: Path) -> str | None:
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if stat.S_ISREG(status.st_mode) and status.st_size <= MAX_REPORT_BYTES:
                return file.read().decode(errors="replace")
    return None
