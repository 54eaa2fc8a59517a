"""`afresh who-calls`: who uses a symbol."""

import click

from afresh.cli.common import json_option


@click.command()
@click.argument("symbol")
@click.option("--all", "-a", "everything", is_flag=True, help="Also imports, and every line of long lists.")
@json_option
def command(symbol: str, everything: bool, as_json: bool) -> int:
    """Show who calls a symbol: NAME, Class.method, or path:NAME where there are several of a name.

    Calls in Python are followed through imports, classes and types. What only the name says is shown apart.
    """
    from pathlib import Path

    from afresh.app.code import opened
    from afresh.app.symbols import Used, who_calls
    from afresh.cli.common import print_json, show_lines
    from afresh.cli.views.symbols import choice, found_json
    from afresh.cli.views.used import used, used_json

    result = who_calls(opened(Path.cwd()), symbol)
    if not isinstance(result, Used):
        print_json({"choose": found_json(result)}) if as_json else show_lines(choice(result, symbol))
        return 1
    print_json(used_json(result)) if as_json else show_lines(used(result, everything))
    return 0
