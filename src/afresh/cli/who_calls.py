"""`afresh who-calls`: who uses a symbol."""

import click

from afresh.cli.options import json_option


@click.command()
@click.argument("symbol")
@click.option("--all", "-a", "everything", is_flag=True, help="Include imports, and show long lists in full.")
@json_option
def command(symbol: str, everything: bool, as_json: bool) -> int:
    """Show the callers of SYMBOL: NAME, Class.method or path:NAME.

    In Python, calls are resolved through imports, classes and types. Matches by name only are listed separately.
    """
    from pathlib import Path

    from afresh.app.explore_code import SymbolUsers, find_symbol_users, open_checkout_code
    from afresh.cli.output import print_code_lines, print_json
    from afresh.cli.render.symbols import render_symbol_choice, render_symbol_users, symbol_hits_to_json, symbol_users_to_json

    result = find_symbol_users(open_checkout_code(Path.cwd()), symbol)
    if not isinstance(result, SymbolUsers):
        print_json({"choose": symbol_hits_to_json(result)}) if as_json else print_code_lines(render_symbol_choice(result, symbol))
        return 1
    print_json(symbol_users_to_json(result)) if as_json else print_code_lines(render_symbol_users(result, everything))
    return 0
