"""What holds on this machine and what to do where it does not."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import listing, said, word
from afresh.domain.health import Finding

if TYPE_CHECKING:
    from rich.console import RenderableType


def doctor_json(findings: Sequence[Finding]) -> dict[str, Any]:
    return {"ok": all(finding.level != "fail" for finding in findings), "checks": [asdict(finding) for finding in findings]}


def doctor(findings: Sequence[Finding]) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    table = listing("check", "", "found")
    for finding in findings:
        found = said(finding.detail)
        if finding.remedy:
            found.append_text(said(f"\n→ {finding.remedy}", "cyan"))
        table.add_row(said(finding.name), word(finding.level), found)
    failed, warned = (sum(finding.level == level for finding in findings) for level in ("fail", "warn"))
    words = f"{failed} to mend, {warned} to know about" if failed or warned else "All is well."
    return Group(table, Text(words, style="red" if failed else "yellow" if warned else "green"))
