"""`afresh watch`: the index stays current while you work."""

import click

from afresh.cli.options import json_option


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Keep what is known of the code current: each change is read as it comes, one line for each. Ctrl-C ends it.

    Needs watchfiles: pip install 'afresh[watch]'. Without a watcher every command looks at the files itself; with one it has less
    to read.
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
        click.echo("stopped; what was read stays known")
