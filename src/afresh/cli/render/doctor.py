"""What holds on this machine and what to do where it does not."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from afresh.app.doctor import HealthFinding
from afresh.cli.render.widgets import make_table, render_text, render_word
from afresh.views.task_status import format_count

if TYPE_CHECKING:
    from rich.console import RenderableType


def findings_to_json(findings: Sequence[HealthFinding]) -> dict[str, Any]:
    return {"ok": all(finding.level != "fail" for finding in findings), "checks": [asdict(finding) for finding in findings]}


def render_findings(findings: Sequence[HealthFinding]) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    table = make_table("check", "", "found")
    for finding in findings:
        found = render_text(finding.detail)
        if finding.remedy:
            found.append_text(render_text(f"\n→ {finding.remedy}", "cyan"))
        table.add_row(render_text(finding.name), render_word(finding.level), found)
    failed, warned = (sum(finding.level == level for finding in findings) for level in ("fail", "warn"))
    words = f"{format_count(failed, 'error')}, {format_count(warned, 'warning')}" if failed or warned else "All checks passed."
    return Group(table, Text(words, style="red" if failed else "yellow" if warned else "green"))
