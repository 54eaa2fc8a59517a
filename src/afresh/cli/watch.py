"""`afresh watch`: the index stays current while you work."""

import click

from afresh.cli.options import json_option


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Update the code index on every change, until Ctrl-C.

    Needs watchfiles: pip install 'afresh[watch]'. Optional: without it each command checks the files itself.
    """
    from contextlib import suppress
    from pathlib import Path

    from afresh.app.explore_code import find_indexed_checkout
    from afresh.app.watch_checkout import watch_checkout
    from afresh.cli.render.watch import describe_index_update, index_update_to_json

    home = find_indexed_checkout(Path.cwd())
    roots = iter([home.root])
    with suppress(KeyboardInterrupt):
        watch_checkout(
            home,
            lambda flush: click.echo(index_update_to_json(flush) if as_json else describe_index_update(flush, next(roots, None))),
        )
    if not as_json:
        click.echo("stopped; the index is kept")
