"""What a watcher tells: one line for each change."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

from afresh.app.watch_checkout import IndexUpdate
from afresh.core.truncate import to_one_line

MAX_PATHS_NAMED = 3
"""Files that are told by name."""


def describe_index_update(flush: IndexUpdate, root: Path | None = None) -> str:
    """With the root: what stands at the beginning."""
    took = format_seconds(flush.seconds)
    if root is not None:
        return f"watching {to_one_line(str(root))}: {flush.files:,} source files, {len(flush.read):,} indexed now, {took}"
    parts = [part for part in (list_changed_paths(flush.read, "read"), list_changed_paths(flush.gone, "gone")) if part]
    return f"{time.strftime('%H:%M:%S')}  {', '.join(parts)}  {took}"


def index_update_to_json(flush: IndexUpdate) -> str:
    return json.dumps(
        {"read": flush.read, "gone": flush.gone, "milliseconds": round(flush.seconds * 1_000), "files": flush.files}
    )


def list_changed_paths(paths: Sequence[str], what: str) -> str:
    if not paths:
        return ""
    if len(paths) <= MAX_PATHS_NAMED:
        return f"{', '.join(to_one_line(path, 80) for path in paths)} {what}"
    return f"{len(paths):,} files {what} ({', '.join(to_one_line(path, 60) for path in paths[:MAX_PATHS_NAMED])}, …)"


def format_seconds(seconds: float) -> str:
    return f"{seconds * 1_000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
