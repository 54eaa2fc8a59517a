"""Small pieces that the views share. Foreign text only ever comes in through `said`."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from afresh.core.text import escape_hidden
from afresh.core.truncate import to_one_line

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from afresh.core.change import Change


WORD_STYLES = {
    "PASS": "green", "done": "green", "applied": "green", "ok": "green", "kept": "green", "added": "green",
    "FAIL": "red", "failed": "red", "fail": "red", "reverted": "red", "removed": "red", "deleted": "red",
    "BLOCKED": "yellow", "blocked": "yellow", "warn": "yellow", "changed": "yellow", "modified": "yellow",
    "running": "cyan",
}  # fmt: skip
_SPARKLINE_SIGNS = "▁▂▃▄▅▆▇█"


def render_text(text: str, style: str = "", limit: int = 0) -> "Text":
    """Text that we did not write ourselves, with nothing hidden in it."""
    from rich.text import Text

    return Text(to_one_line(text, limit) if limit else escape_hidden(text), style=style)


def render_word(text: str) -> "Text":
    """A word that carries its colour."""
    from rich.text import Text

    return Text(text, style=WORD_STYLES.get(text, "dim"))


def render_heading(text: str) -> "Text":
    from rich.text import Text

    return Text(f"\n{text}", style="bold")


def render_fields(rows: Iterable[tuple[str, Any]]) -> "Table":
    """Names on the left, what is held on the right."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    for name, held in rows:
        grid.add_row(name, held)
    return grid


def make_table(*columns: str) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim", expand=False)
    for name in columns:
        right = name.startswith(">")
        table.add_column(name.lstrip(">"), justify="right" if right else "left", no_wrap=right, overflow="fold")
    return table


def render_gauge(tokens: int, budget: int, reserve: int = 0, width: int = 24) -> "Text":
    from rich.text import Text

    return Text.assemble(*draw_gauge(tokens, budget, reserve, width))


def draw_gauge(tokens: int, budget: int, reserve: int = 0, width: int = 24) -> list[tuple[str, str]]:
    """A call against its ceiling: what is sent, what is free, what is kept for the reply. Each part with its style."""
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
        (f", {reserve:,} reserved for the reply" if reserve else "", "dim"),
    ]


def draw_sparkline(values: Sequence[int], top: int, width: int = 32) -> str:
    """Heights against `top`; when there are too many, the highest of each group stands for it."""
    if not values or not top:
        return ""
    count = min(width, len(values))
    groups = [values[i * len(values) // count : (i + 1) * len(values) // count] for i in range(count)]
    return "".join(_SPARKLINE_SIGNS[min(7, max(group) * 8 // top)] for group in groups)


def render_diff(changes: "Sequence[Change]", limit: int) -> tuple["Text", int]:
    """Patches in colour, at most `limit` lines of them, and how many lines were left off."""
    from rich.text import Text

    lines = [line for change in changes for line in escape_hidden(change.patch).rstrip("\n").split("\n") if change.patch]
    shown = Text()
    for line in lines[:limit]:
        shown.append(line + "\n", _choose_diff_style(line))
    shown.rstrip()
    return shown, max(0, len(lines) - limit)


def _choose_diff_style(line: str) -> str:
    if line.startswith(("+++", "---", "diff ", "index ")):
        return "bold dim"
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
