"""What a watcher tells: one line for each change."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

from afresh.app.watching import Flush
from afresh.domain.text import one_line

NAMED = 3
"""Files that are told by name."""


def told(flush: Flush, root: Path | None = None) -> str:
    """With the root: what stands at the beginning."""
    took = duration(flush.seconds)
    if root is not None:
        return f"watching {one_line(str(root))}: {flush.files:,} files of code, {len(flush.read):,} of them read just now, {took}"
    parts = [part for part in (counted(flush.read, "read"), counted(flush.gone, "gone")) if part]
    return f"{time.strftime('%H:%M:%S')}  {', '.join(parts)}  {took}"


def told_json(flush: Flush) -> str:
    return json.dumps(
        {"read": flush.read, "gone": flush.gone, "milliseconds": round(flush.seconds * 1_000), "files": flush.files}
    )


def counted(paths: Sequence[str], what: str) -> str:
    if not paths:
        return ""
    if len(paths) <= NAMED:
        return f"{', '.join(one_line(path, 80) for path in paths)} {what}"
    return f"{len(paths):,} files {what} ({', '.join(one_line(path, 60) for path in paths[:NAMED])}, …)"


def duration(seconds: float) -> str:
    return f"{seconds * 1_000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
