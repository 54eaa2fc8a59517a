"""`afresh map`, `find`, `who-calls` and `violations`: the code of a repository, without a task."""

import click

from afresh.cli.options import WholeNumber, json_option, silent_option
from afresh.cli.output import print_code_lines, print_json, print_rendered


@click.command("map")
@click.argument("words", nargs=-1, metavar="[TEXT]")
@click.option("--for", "about", default="", metavar="TEXT", hidden=True)
@click.option("--tokens", "-n", default=2_000, type=WholeNumber(1, 200_000), show_default=True, help="Maximum size of the map.")
@silent_option
@json_option
def map_command(words: tuple[str, ...], about: str, tokens: int, as_json: bool) -> None:
    """Show the most relevant files and symbols, each with the reason.

    TEXT is what you want to do or know; without it you get an overview. The ranking uses text, names, imports
    and git history. Works in any git repository, without `afresh init`,
    and changes nothing in it. In a pipe, prints the plain map as a model gets it.
    """
    import sys
    from pathlib import Path

    from afresh.app.code.explore_code import build_code_map
    from afresh.cli.render.activity import show_activity_line
    from afresh.cli.render.code import code_map_to_json, render_code_map

    with show_activity_line("reading the code"):
        made = build_code_map(Path.cwd(), " ".join([*words, about]).strip(), tokens)
    if as_json:
        return print_json(code_map_to_json(made))
    for line in made.unindexed:
        click.echo(line, err=True)
    return print_code_lines(render_code_map(made)) if sys.stdout.isatty() else click.echo(made.text)


SYMBOL_KINDS = ("class", "interface", "function", "method", "constant")


@click.command("find")
@click.argument("symbol", nargs=-1)
@click.option(
    "--kind", "-k", "kinds", multiple=True, type=click.Choice(SYMBOL_KINDS), help="Only symbols of this kind. Repeatable."
)
@click.option("--limit", "-n", default=20, type=WholeNumber(1, 1_000), show_default=True)
@click.option("--entry", is_flag=True, help="List entry points instead: commands and scripts.")
@silent_option
@json_option
def find_command(symbol: tuple[str, ...], kinds: tuple[str, ...], limit: int, entry: bool, as_json: bool) -> None:
    """Find a function, class or constant.

    SYMBOL is NAME, Class.method, a part of either, several words of it, or path:NAME. Works in any git
    repository, without `afresh init`, and changes nothing in it.
    """
    from pathlib import Path

    from afresh.app.code import explore_code as symbols
    from afresh.app.code.explore_code import open_checkout_code
    from afresh.cli.render.activity import show_activity_line
    from afresh.cli.render.symbols import entry_point_to_json, render_entry_points, render_symbol_hits, symbol_hits_to_json
    from afresh.core.symbol import SymbolKind

    with show_activity_line("reading the code"):
        code = open_checkout_code(Path.cwd())
    if entry:
        begin = symbols.list_checkout_entry_points(code)
        return (
            print_json([entry_point_to_json(each) for each in begin]) if as_json else print_code_lines(render_entry_points(begin))
        )
    asked = " ".join(symbol)
    result = symbols.find_existing_symbols(code, asked, [SymbolKind(kind) for kind in kinds], limit)
    return print_json(symbol_hits_to_json(result)) if as_json else print_code_lines(render_symbol_hits(result, asked))


@click.command("who-calls")
@click.argument("symbol")
@click.option("--all", "-a", "everything", is_flag=True, help="Include imports, and show long lists in full.")
@silent_option
@json_option
def who_calls_command(symbol: str, everything: bool, as_json: bool) -> int:
    """Show the callers of SYMBOL: NAME, Class.method or path:NAME.

    In Python, calls are resolved through imports, classes and types. Matches by name only are listed separately.
    """
    from pathlib import Path

    from afresh.app.code.explore_code import SymbolUsers, find_symbol_users, open_checkout_code
    from afresh.cli.render.activity import show_activity_line
    from afresh.cli.render.symbols import render_symbol_choice, render_symbol_users, symbol_hits_to_json, symbol_users_to_json

    with show_activity_line("reading the code and looking for callers"):
        result = find_symbol_users(open_checkout_code(Path.cwd()), symbol)
    if not isinstance(result, SymbolUsers):
        print_json({"choose": symbol_hits_to_json(result)}) if as_json else print_code_lines(render_symbol_choice(result, symbol))
        return 1
    print_json(symbol_users_to_json(result)) if as_json else print_code_lines(render_symbol_users(result, everything))
    return 0


@click.command("violations")
@click.argument("paths", nargs=-1)
@click.option("--limit", "-n", default=20, type=WholeNumber(1, 10_000), show_default=True, help="Maximum number of functions.")
@click.option("--no-offers", is_flag=True, help="Only measure; faster, since no fix is computed.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "github", "sarif")),
    default="text",
    show_default=True,
    help="github: annotations of a workflow; sarif: for code scanning.",
)
@click.option("--fail-over", type=WholeNumber(min=0), metavar="N", help="Exit 1 if more than N functions are over a limit.")
@silent_option
@json_option
def violations_command(
    paths: tuple[str, ...], limit: int, no_offers: bool, form: str, fail_over: int | None, as_json: bool
) -> int:
    """List functions over ruff's complexity limits, worst first.

    Limits come from the project's ruff settings, if any. Changes nothing; `afresh run --type fix_violation` fixes them.
    """
    from itertools import islice
    from pathlib import Path

    from afresh.app.code.violations import list_violations
    from afresh.cli.render.activity import show_activity_line
    from afresh.cli.render.annotations import render_github_annotation, violations_to_sarif
    from afresh.cli.render.code import render_violations, violation_to_json

    root = Path.cwd()
    with show_activity_line("measuring the functions") as tell:
        number = sum(1 for _ in list_violations(root, paths, offers=False))
        tell(f"looking for changes of {min(number, limit):,} functions")
        found = list(islice(list_violations(root, paths, offers=not no_offers), limit))
    if as_json or form == "json":
        print_json({"violations": [violation_to_json(one) for one in found], "number": number})
    elif form == "sarif":
        print_json(violations_to_sarif(found))
    elif form == "github":
        for one in found:
            click.echo(render_github_annotation(one))
    else:
        print_rendered(render_violations(found, number, offers=not no_offers))
    return int(fail_over is not None and number > fail_over)
