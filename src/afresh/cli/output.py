import json
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from afresh.cli.render.widgets import Line


def print_json(value: Any) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True))


def print_rendered(renderable: Any) -> None:
    from afresh.cli.render.console import open_console

    open_console().print(renderable)


def measure_width() -> int:
    """Return the terminal's width; 80 without a terminal."""
    from shutil import get_terminal_size

    return get_terminal_size().columns


def print_lines(lines: "Iterable[Line]") -> None:
    """Print lines; with colour only on a terminal and without NO_COLOR."""
    from afresh.cli.render.console import choose_stream
    from afresh.cli.render.widgets import draw_lines

    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    click.echo(draw_lines(lines, colour), file=choose_stream(sys.stdout), nl=False, color=colour)  # pyright: ignore[reportArgumentType]


def print_code_lines(renderable: Any) -> None:
    """Print code cut to the terminal's width; uncut to a file or pipe."""
    from afresh.cli.render.console import open_console

    whole = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    open_console(width=1_000 if whole else None).print(renderable)
