"""What prompts were used for, proposals with their proofs, and the history of policies."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from afresh.app.evolve.evolve_page import describe_proof
from afresh.app.evolve.evolve_policy import changes_of
from afresh.core.policy_history import PolicyHistory, PolicyProposed
from afresh.core.text import format_count
from afresh.evolve.use_report import UseReport
from afresh.views.page import Block, Heading, Page, Table

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


def build_report(report: UseReport, history: PolicyHistory) -> Page:
    use = _list_use_blocks(report) if report.calls else ["no call has been answered yet: `afresh run` first"]
    return Page(report_to_json(report, history), [*use, *_list_history_blocks(history)])


def _list_use_blocks(report: UseReport) -> list[Block]:
    whole, tokens = report.whole, report.tokens
    head = (
        f"{format_count(report.tasks, 'task')}, {format_count(report.calls, 'call')}, {tokens:,} tokens sent; of what "
        f"the policy chose ({whole.tokens:,.0f}) replies drew on {whole.share:.0%}"
    )
    blocks: list[Block] = [head]
    for title, yields in (("By section", report.sections), ("By phase", report.phases), ("By task type", report.types)):
        rows = [
            [one.name, f"{one.tokens:,.0f}", f"{one.tokens / tokens if tokens else 0:.0%}", f"{one.share:.0%}"]
            for one in yields[:MAX_ROWS]
        ]
        blocks += [Heading(title), Table("|>tokens|>of all|>drawn on", rows)]
    blocks += [Heading("What stands out"), *describe_findings(report)]
    if report.operations:
        rows = [
            [one.tool, f"{one.times:,}", f"{one.tokens:,}", f"{one.tokens / one.times if one.times else 0:,.0f}",
             f"{one.recalled}", f"{one.repeated}"]
            for one in report.operations[:MAX_ROWS]
        ]  # fmt: skip
        blocks += [Heading("Most expensive operations"), Table("|>times|>tokens|>each|>recalled|>repeated", rows)]
    weeks = [
        [one.week, f"{one.verified} of {one.tasks}", f"{one.tokens:,.0f}", f"{one.drawn:.0%}", f"{one.wasted}",
         f"{one.tokens_per_verified:,.0f}" if one.tokens_per_verified else "–", "–" if one.saved is None else f"{one.saved:.0%}"]
        for one in report.weeks
    ]  # fmt: skip
    columns = "week|>verified|>tokens/call|>drawn on|>wasted|>tokens/verified|>saved"
    return [*blocks, Heading("By week"), Table(columns, weeks)]


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


def build_tried(found: Sequence[PolicyProposed]) -> Page:
    blocks = [block for one in found for block in _list_proposal_blocks(one)]
    return Page([*map(tried_to_json, found)], blocks or ["no change is suggested by the work so far"])


def _list_proposal_blocks(one: PolicyProposed) -> list[Block]:
    proof = describe_proof(one)
    lines = [one.reason, *[f"  {change}" for change in changes_of(one)], *([f"  {proof}"] if proof else [])]
    verdict = (f"{'better' if one.better else 'not adopted'}: {one.verdict}", "" if one.better else "dim")
    return [Heading(one.proposal), *lines, [verdict]]


def _list_history_blocks(history: PolicyHistory) -> list[Block]:
    canary = f"; {history.canary.id} for {history.canary.share:.0%} of the tasks" if history.canary else ""
    blocks: list[Block] = [Heading("Policies"), f"in use: {history.stable.id}{canary}"]
    for one in reversed(history.adopted):
        day = datetime.fromtimestamp(one.at, UTC).strftime("%Y-%m-%d")
        tasks = sum(outcome.policy == one.id for outcome in history.outcomes)
        became = f"rolled back: {one.ended}" if one.ended else "in use"
        blocks.append(f"{day} {one.id} from {one.proposal}, {one.share:.0%} of tasks, {tasks} ended; {became}")
    return [*blocks, *(block for _, one in reversed(history.proposed) for block in _list_proposal_blocks(one))]
