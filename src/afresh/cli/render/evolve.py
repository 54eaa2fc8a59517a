"""Renders what prompts were used for, proposals with their proofs, and the history of policies."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from rich.console import Group, RenderableType

from afresh.app.evolve.evolve_page import describe_proof
from afresh.app.evolve.evolve_policy import changes_of
from afresh.cli.render.parts import make_table, render_heading, render_text
from afresh.context.measure_yield import SectionYield
from afresh.core.policy_history import PolicyHistory, PolicyProposed
from afresh.core.text import format_count
from afresh.evolve.use_report import UseReport

MAX_ROWS = 12


def report_to_json(report: UseReport, history: PolicyHistory) -> dict[str, Any]:
    return {
        "tasks": report.tasks,
        "calls": report.calls,
        "tokens": report.tokens,
        "drawn_on": round(report.whole.share, 4),
        **{
            name: [
                {"name": one.name, "tokens": round(one.tokens), "drawn_on": round(one.share, 4)} for one in getattr(report, name)
            ]
            for name in ("sections", "phases", "types")
        },
        "items": [asdict(one) for one in report.items],
        "never_drawn_on": [one.name for one in report.unused],
        "bloated": [one.name for one in report.bloated],
        "missing": [asdict(one) for one in report.missing],
        "operations": [asdict(one) for one in report.operations],
        "wasted_steps": dict(report.wasted),
        "lessons": [asdict(one) for one in report.lessons],
        "tool_descriptions": dict(report.tools),
        "weeks": [asdict(one) for one in report.weeks],
        "policies": _history_to_json(history),
    }


def _history_to_json(found: PolicyHistory) -> dict[str, Any]:
    return {
        "in_use": found.stable.id,
        "canary": found.canary.id if found.canary else None,
        "adopted": [
            {"id": one.id, "at": one.at, "share": one.share, "proposal": one.proposal, "by": one.by, "rolled_back": one.ended}
            for one in found.adopted
        ],
        "proposals": [{"at": at, **tried_to_json(one)} for at, one in found.proposed],
        "outcomes": [asdict(one) for one in found.outcomes],
    }


def tried_to_json(one: PolicyProposed) -> dict[str, Any]:
    return {
        "id": one.proposal,
        "reason": one.reason,
        "subject": one.subject,
        "changes": json.loads(one.changes),
        "better": one.better,
        "verdict": one.verdict,
        "proof": json.loads(one.proof) if one.proof else None,
    }


def render_report(report: UseReport, history: PolicyHistory) -> RenderableType:
    return Group(render_use_report(report), render_history(history))


def render_use_report(report: UseReport) -> RenderableType:
    if not report.calls:
        return render_text("no call has been answered yet: `afresh run` first")
    whole = report.whole
    head = (
        f"{format_count(report.tasks, 'task')}, {format_count(report.calls, 'call')}, {report.tokens:,} tokens sent; of what "
        f"the policy chose ({whole.tokens:,.0f}) replies drew on {whole.share:.0%}"
    )
    return Group(
        render_text(head),
        *_render_yields("By section", report.sections, report.tokens),
        *_render_yields("By phase", report.phases, report.tokens),
        *_render_yields("By task type", report.types, report.tokens),
        *_render_items(report),
        render_heading("What stands out"),
        *[render_text(line) for line in describe_findings(report)],
        *_render_operations(report),
        *_render_weeks(report),
    )


def describe_findings(report: UseReport) -> list[str]:
    """Lines that say what bloats, what is never drawn on, what was missing, and which steps were wasted."""
    bloated = ", ".join(f"{one.name} {one.tokens - one.drawn:,.0f}" for one in report.bloated)
    unused = ", ".join(one.name for one in report.unused)
    missing = ", ".join(
        f"{one.tool} ({one.recalled} recalled, {one.repeated} repeated, of {one.times})" for one in report.missing[:5]
    )
    wasted = ", ".join(f"{times} {why}" for why, times in report.wasted)
    idle = ", ".join(f"{one.id} (shown to {one.shown})" for one in report.lessons if not one.used)
    return [
        f"most tokens not drawn on: {bloated or 'none'}",
        f"never drawn on: {unused or 'none'}",
        f"asked for again: {missing or 'nothing'}",
        f"wasted steps: {wasted or 'none'}",
        f"lessons that no reply used: {idle or 'none'}",
    ]


def _render_yields(title: str, yields: Sequence[SectionYield], whole: float) -> list[RenderableType]:
    table = make_table(
        "|>tokens|>of all|>drawn on",
        (
            [render_text(one.name), f"{one.tokens:,.0f}", f"{one.tokens / whole if whole else 0:.0%}", f"{one.share:.0%}"]
            for one in yields[:MAX_ROWS]
        ),
    )
    return [render_heading(title), table]


def _render_items(report: UseReport) -> list[RenderableType]:
    table = make_table(
        "|>gathered|>drawn on",
        ([render_text(one.kind), f"{one.gathered:,}", f"{one.drawn / one.gathered:.0%}"] for one in report.items[:MAX_ROWS]),
    )
    return [render_heading("By kind of item"), table] if report.items else []


def _render_operations(report: UseReport) -> list[RenderableType]:
    table = make_table("|>times|>tokens|>each|>recalled|>repeated")
    for one in report.operations[:MAX_ROWS]:
        each = one.tokens / one.times if one.times else 0
        table.add_row(
            render_text(one.tool), f"{one.times:,}", f"{one.tokens:,}", f"{each:,.0f}", f"{one.recalled}", f"{one.repeated}"
        )
    return [render_heading("Most expensive operations"), table] if report.operations else []


def _render_weeks(report: UseReport) -> list[RenderableType]:
    table = make_table("week|>verified|>tokens/call|>drawn on|>wasted|>tokens/verified|>saved")
    for one in report.weeks:
        each = f"{one.tokens_per_verified:,.0f}" if one.tokens_per_verified else "–"
        saved = "–" if one.saved is None else f"{one.saved:.0%}"
        counts = f"{one.verified} of {one.tasks}", f"{one.tokens:,.0f}", f"{one.drawn:.0%}", f"{one.wasted}"
        table.add_row(one.week, *counts, each, saved)
    return [render_heading("By week"), table]


def render_tried(found: Sequence[PolicyProposed]) -> RenderableType:
    if not found:
        return render_text("no change is suggested by the work so far")
    return Group(*[part for one in found for part in _render_proposal(one)])


def _render_proposal(one: PolicyProposed) -> list[RenderableType]:
    proof = describe_proof(one)
    lines = [one.reason, *[f"  {change}" for change in changes_of(one)], *([f"  {proof}"] if proof else [])]
    verdict = render_text(f"{'better' if one.better else 'not adopted'}: {one.verdict}", "" if one.better else "dim")
    return [render_heading(one.proposal), *map(render_text, lines), verdict]


def render_history(found: PolicyHistory) -> RenderableType:
    canary = f"; {found.canary.id} for {found.canary.share:.0%} of the tasks" if found.canary else ""
    parts: list[RenderableType] = [render_heading("Policies"), render_text(f"in use: {found.stable.id}{canary}")]
    for one in reversed(found.adopted):
        day = datetime.fromtimestamp(one.at, UTC).strftime("%Y-%m-%d")
        tasks = sum(outcome.policy == one.id for outcome in found.outcomes)
        became = f"rolled back: {one.ended}" if one.ended else "in use"
        parts.append(render_text(f"{day} {one.id} from {one.proposal}, {one.share:.0%} of tasks, {tasks} ended; {became}"))
    return Group(*parts, *[part for _, one in reversed(found.proposed) for part in _render_proposal(one)])
