"""`afresh find`: where a symbol is defined."""

import click

from afresh.cli.options import json_option

SYMBOL_KINDS = ("class", "interface", "function", "method", "constant")


@click.command()
@click.argument("symbol", nargs=-1)
@click.option(
    "--kind", "-k", "kinds", multiple=True, type=click.Choice(SYMBOL_KINDS), help="Only symbols of this kind. Repeatable."
)
@click.option("--limit", "-n", default=20, type=click.IntRange(1, 1_000), show_default=True)
@click.option("--entry", is_flag=True, help="List entry points instead: commands and scripts.")
@json_option
def command(symbol: tuple[str, ...], kinds: tuple[str, ...], limit: int, entry: bool, as_json: bool) -> None:
    """Find a function, class or constant.

    SYMBOL is NAME, Class.method, a part of either, several words of it, or path:NAME. Works in any git
    repository, without `afresh init`, and changes nothing in it.
    """
    from pathlib import Path

    from afresh.app import explore_code as symbols
    from afresh.app.explore_code import open_checkout_code
    from afresh.cli.output import print_code_lines, print_json
    from afresh.cli.render.symbols import entry_point_to_json, render_entry_points, render_symbol_hits, symbol_hits_to_json
    from afresh.core.symbol import SymbolKind

    code = open_checkout_code(Path.cwd())
    if entry:
        begin = symbols.list_checkout_entry_points(code)
        return (
            print_json([entry_point_to_json(each) for each in begin]) if as_json else print_code_lines(render_entry_points(begin))
        )
    asked = " ".join(symbol)
    result = symbols.find_existing_symbols(code, asked, [SymbolKind(kind) for kind in kinds], limit)
    return print_json(symbol_hits_to_json(result)) if as_json else print_code_lines(render_symbol_hits(result, asked))
