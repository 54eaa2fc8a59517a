"""What commands print: text for people, or JSON with --json, which each command has by being loaded."""

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from afresh.core.text import to_visible_json

if TYPE_CHECKING:
    from afresh.cli.render.widgets import Line
    from afresh.views.page import Page


JSON_KEY = "afresh.json"


def _remember_json(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    context.meta[JSON_KEY] = value or context.meta.get(JSON_KEY, False)


json_option = click.Option(["--json"], is_flag=True, expose_value=False, help="Print JSON.", callback=_remember_json)


def add_json_option(command: click.Command, itself: bool = True) -> None:
    """Add --json to a command, or to all of a group, and to the group if it does something by itself."""
    if isinstance(command, click.Group):
        for one in command.commands.values():
            add_json_option(one)
        itself = itself and command.invoke_without_command
    if itself and json_option not in command.params:
        command.params.append(json_option)


def wants_json() -> bool:
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(JSON_KEY))


def print_page(page: "Page") -> int:
    """Print a page, and return its exit code."""
    if wants_json():
        print_json(page.data)
    else:
        print_blocks(page.blocks() if callable(page.blocks) else page.blocks)
    return page.code


def print_blocks(blocks: Any) -> None:
    """Print text as it is, and blocks for the width of the terminal; nothing if there is nothing."""
    if isinstance(blocks, str):
        return click.echo(blocks) if blocks else None
    if blocks is None:
        return None
    from afresh.cli.render.draw_page import draw_blocks

    is_whole = not sys.stdout.isatty() and "COLUMNS" not in os.environ  # a file or a pipe gets whole lines of code
    return print_lines(draw_blocks(blocks, measure_width(), is_whole))


def print_json(value: Any) -> None:
    click.echo(to_visible_json(value, indent=2, sort_keys=True))


def print_json_line(value: Any) -> None:
    """Print one object a line, at once, for programs that read while it comes."""
    click.echo(to_visible_json(value, sort_keys=True))


def measure_width() -> int:
    """Return the terminal's width; 80 without a terminal."""
    from shutil import get_terminal_size

    return get_terminal_size().columns


def echo_wrapped(text: str, err: bool = False, **style: Any) -> None:
    """Print plain text: on a terminal wrapped between words below its first letter, elsewhere as it is."""
    from afresh.cli.render.widgets import draw_lines, wrap_line

    if not (sys.stderr if err else sys.stdout).isatty():
        return click.secho(text, err=err, **style)
    for line in text.split("\n"):
        blank = " " * (len(line) - len(line.lstrip()))
        rows = wrap_line([(line.strip(), "")], max(20, measure_width() - len(blank)))
        click.secho(draw_lines([[(blank, ""), *row] for row in rows], colour=False), err=err, nl=False, **style)


def print_markdown(text: str) -> None:
    """Print what a model has written: on a terminal as Markdown, elsewhere as it is."""
    from afresh.core.text import escape_hidden

    if not sys.stdout.isatty():
        return click.echo(escape_hidden(text))
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline.emphasis import tokenize
    from rich.markdown import Markdown

    from afresh.cli.render.console import open_console

    page = Markdown(escape_hidden(text), code_theme="ansi_dark", hyperlinks=False)
    # `<name>` is a word here, not a tag to be left out, and `__init__` is a name, not bold
    reader = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
    reader.inline.ruler.at("emphasis", lambda state, silent: state.src[state.pos] != "_" and tokenize(state, silent))
    page.parsed = reader.parse(page.markup)
    open_console().print(page)


def choose_colour() -> bool:
    """Whether to use colour: only on a terminal and without NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_lines(lines: "Iterable[Line]") -> None:
    from afresh.cli.render.console import choose_stream
    from afresh.cli.render.widgets import draw_lines

    colour = choose_colour()
    click.echo(draw_lines(lines, colour), file=choose_stream(sys.stdout), nl=False, color=colour)  # pyright: ignore[reportArgumentType]
