"""`afresh doctor`: what holds on this machine and in this project."""

import click

from afresh.cli.options import json_option


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Check the sandbox, git, models and every journal."""
    from pathlib import Path

    from afresh.app.doctor import examine_everything
    from afresh.cli.output import print_json, print_rendered
    from afresh.cli.render.doctor import findings_to_json, render_findings

    findings = examine_everything(Path.cwd())
    if as_json:
        print_json(findings_to_json(findings))
    else:
        print_rendered(render_findings(findings))
    if any(finding.level == "fail" for finding in findings):
        raise SystemExit(1)
