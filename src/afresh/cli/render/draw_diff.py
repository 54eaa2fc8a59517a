"""Patches as coloured lines."""

from collections.abc import Iterable

from afresh.cli.render.widgets import choose_diff_style
from afresh.views.page import Span


def list_diff_lines(patches: Iterable[str], limit: int) -> tuple[list[list[Span]], int]:
    """Return about `limit` lines, and the number of lines left out; a few more are shown, too."""
    lines = [line for patch in patches if patch for line in patch.rstrip("\n").split("\n")]
    limit = len(lines) if len(lines) <= limit + limit // 4 else limit
    return [[(line, choose_diff_style(line))] for line in lines[:limit]], max(0, len(lines) - limit)
