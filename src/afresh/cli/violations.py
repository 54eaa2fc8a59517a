"""`afresh violations`: which functions are too complex, why, and what a checked change would give."""

import click

from afresh.cli.common import json_option


@click.command()
@click.argument("paths", nargs=-1)
@click.option("--limit", "-n", default=20, type=click.IntRange(1, 10_000), show_default=True, help="Functions to show.")
@click.option("--no-offers", is_flag=True, help="Only measure: faster, because no change is worked out.")
@json_option
def command(paths: tuple[str, ...], limit: int, no_offers: bool, as_json: bool) -> None:
    """List functions over ruff's limits of complexity, the worst first.

    Limits are the project's own ruff settings where it has some. Nothing is changed: `afresh run --type fix_violation` does that.
    """
    from itertools import islice
    from pathlib import Path

    from afresh.app.violations import violations
    from afresh.cli.common import print_json, show
    from afresh.cli.views.violations import plain, shown

    root = Path.cwd()
    number = sum(1 for _ in violations(root, paths, offers=False))
    found = list(islice(violations(root, paths, offers=not no_offers), limit))
    if as_json:
        return print_json({"violations": [plain(one) for one in found], "number": number})
    return show(shown(found, number, offers=not no_offers))
