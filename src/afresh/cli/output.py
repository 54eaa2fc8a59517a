import json
from typing import Any

import click


def print_json(value: Any) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True))


def print_rendered(renderable: Any) -> None:
    from afresh.cli.render.console import open_console

    open_console().print(renderable)


def print_code_lines(renderable: Any) -> None:
    """Lines of code, for people: cut to the terminal's width, but whole when they go to a file or another program."""
    import os
    import sys

    from afresh.cli.render.console import open_console

    whole = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    open_console(width=1_000 if whole else None).print(renderable)
