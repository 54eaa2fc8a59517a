"""`afresh doctor`: what holds on this machine and in this project."""

import click

from afresh.cli.common import json_option


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Probe the sandbox, git, the database and every journal."""
    from pathlib import Path

    from afresh.app.doctor import examine
    from afresh.cli.common import print_json, show
    from afresh.cli.views.doctor import doctor, doctor_json

    findings = examine(Path.cwd())
    if as_json:
        print_json(doctor_json(findings))
    else:
        show(doctor(findings))
    if any(finding.level == "fail" for finding in findings):
        raise SystemExit(1)
