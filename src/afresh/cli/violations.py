"""`afresh violations`: which functions are too complex, why, and what a checked change would give."""

import click

from afresh.cli.options import json_option


@click.command()
@click.argument("paths", nargs=-1)
@click.option("--limit", "-n", default=20, type=click.IntRange(1, 10_000), show_default=True, help="Maximum number of functions.")
@click.option("--no-offers", is_flag=True, help="Only measure; faster, since no fix is computed.")
@json_option
def command(paths: tuple[str, ...], limit: int, no_offers: bool, as_json: bool) -> None:
    """List functions over ruff's complexity limits, worst first.

    Limits come from the project's ruff settings, if any. Changes nothing; `afresh run --type fix_violation` fixes them.
    """
    from itertools import islice
    from pathlib import Path

    from afresh.app.violations import list_violations
    from afresh.cli.output import print_json, print_rendered
    from afresh.cli.render.violations import render_violations, violation_to_json

    root = Path.cwd()
    number = sum(1 for _ in list_violations(root, paths, offers=False))
    found = list(islice(list_violations(root, paths, offers=not no_offers), limit))
    if as_json:
        return print_json({"violations": [violation_to_json(one) for one in found], "number": number})
    return print_rendered(render_violations(found, number, offers=not no_offers))
