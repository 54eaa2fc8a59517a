"""What the views are made of, drawn with rich, whose import is slow. Foreign text passes through `render_text`."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.containers import Lines
from rich.table import Table
from rich.text import Text

from afresh.cli.render.widgets import WORD_STYLES, choose_diff_style, draw_gauge, find_rows
from afresh.core.change import Change
from afresh.core.prompt import CallAudit
from afresh.core.states.ceiling_state import CallFigures
from afresh.core.text import escape_hidden
from afresh.core.truncate import to_one_line


class WrappedText(Text):
    """Wrapped as `wrap_line` does: long words are broken at the end of a part of them."""

    def wrap(self, console: Console, width: int, *args: Any, **options: Any) -> Lines:
        overflow = options.get("overflow") or self.overflow
        if options.get("no_wrap") or self.no_wrap or overflow in ("ellipsis", "crop", "ignore") or "\t" in self.plain:
            return super().wrap(console, width, *args, **options)
        return Lines(self[start:end] for start, end in find_rows(self.plain, max(width, 2)))


def render_text(text: str, style: str = "", limit: int = 0) -> Text:
    """Return foreign text with control characters made visible."""
    return WrappedText(to_one_line(text, limit) if limit else escape_hidden(text), style)


def render_word(text: str) -> Text:
    """Return a word in its status colour."""
    return Text(text, style=WORD_STYLES.get(text, "dim"))


def render_heading(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def _render_cell(cell: Any) -> Any:
    return render_text(cell) if isinstance(cell, str) else cell


def render_fields(rows: Iterable[tuple[str, Any]]) -> Table:
    """Render labels on the left and values on the right."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    for name, value in rows:
        grid.add_row(name, _render_cell(value))
    return grid


def make_table(columns: str, rows: Iterable[Sequence[Any]] = ()) -> Table:
    """Make a table; columns are separated by |, and those with figures, which stand on the right, begin with >."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim", expand=False)
    for name in columns.split("|"):
        right = name.startswith(">")
        table.add_column(name.lstrip(">"), justify="right" if right else "left", no_wrap=right, overflow="fold")
    for row in rows:
        table.add_row(*map(_render_cell, row))
    return table


def render_gauge(call: CallAudit | CallFigures, width: int = 24) -> Text:
    return Text.assemble(*draw_gauge(call, width))


def render_diff(changes: Sequence[Change], limit: int) -> tuple[Text, int]:
    """Return coloured patches of about `limit` lines, and the number of lines left out; a few more are shown, too."""
    lines = [line for change in changes for line in escape_hidden(change.patch).rstrip("\n").split("\n") if change.patch]
    limit = len(lines) if len(lines) <= limit + limit // 4 else limit
    shown = Text()
    for line in lines[:limit]:
        shown.append(line + "\n", choose_diff_style(line))
    shown.rstrip()
    return shown, max(0, len(lines) - limit)
