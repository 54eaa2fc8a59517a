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
                {"name": value.name, "tokens": round(value.tokens), "drawn_on": round(value.share, 4)}
                for value in getattr(report, name)
            ]
            for name in ("sections", "phases", "types")
        },
        "never_drawn_on": [section.name for section in report.unused],
        "bloated": [section.name for section in report.bloated],
        "missing": [asdict(operation) for operation in report.missing],
        "operations": [asdict(operation) for operation in report.operations],
        "wasted_steps": dict(report.wasted),
        "lessons": [asdict(lesson) for lesson in report.lessons],
        "tool_descriptions": dict(report.tools),
        "weeks": [asdict(week) for week in report.weeks],
        "policies": _history_to_json(history),
    }


def _history_to_json(history: PolicyHistory) -> dict[str, Any]:
    return {
        "in_use": history.stable.id,
        "canary": history.canary.id if history.canary else None,
        "adopted": [
            {
                "id": policy.id,
                "at": policy.at,
                "share": policy.share,
                "proposal": policy.proposal,
                "by": policy.by,
                "rolled_back": policy.ended,
            }
            for policy in history.adopted
        ],
        "proposals": [{"at": at, **tried_to_json(proposal)} for at, proposal in history.proposed],
        "outcomes": [asdict(outcome) for outcome in history.outcomes],
    }


def tried_to_json(proposal: PolicyProposed) -> dict[str, Any]:
    return {
        "id": proposal.proposal,
        "reason": proposal.reason,
        "subject": proposal.subject,
        "changes": json.loads(proposal.changes),
        "better": proposal.better,
        "verdict": proposal.verdict,
        "proof": json.loads(proposal.proof) if proposal.proof else None,
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
            [
                section.name,
                f"{section.tokens:,.0f}",
                f"{section.tokens / tokens if tokens else 0:.0%}",
                f"{section.share:.0%}",
            ]
            for section in yields[:MAX_ROWS]
        ]
        blocks += [Heading(title), Table("|>tokens|>of all|>drawn on", rows)]
    blocks += [Heading("What stands out"), *describe_findings(report)]
    if report.operations:
        rows = [
            [operation.tool, f"{operation.times:,}", f"{operation.tokens:,}",
             f"{operation.tokens / operation.times if operation.times else 0:,.0f}",
             f"{operation.recalled}", f"{operation.repeated}"]
            for operation in report.operations[:MAX_ROWS]
        ]  # fmt: skip
        blocks += [Heading("Most expensive operations"), Table("|>times|>tokens|>each|>recalled|>repeated", rows)]
    weeks = [
        [week.week, f"{week.verified} of {week.tasks}", f"{week.tokens:,.0f}", f"{week.drawn:.0%}", f"{week.wasted}",
         f"{week.tokens_per_verified:,.0f}" if week.tokens_per_verified else "–",
         "–" if week.saved is None else f"{week.saved:.0%}"]
        for week in report.weeks
    ]  # fmt: skip
    columns = "week|>verified|>tokens/call|>drawn on|>wasted|>tokens/verified|>saved"
    return [*blocks, Heading("By week"), Table(columns, weeks)]


def describe_findings(report: UseReport) -> list[str]:
    """Lines that say what bloats, what is never drawn on, what was missing, and which steps were wasted."""
    bloated = ", ".join(f"{section.name} {section.tokens - section.drawn:,.0f}" for section in report.bloated)
    unused = ", ".join(section.name for section in report.unused)
    missing = ", ".join(
        f"{operation.tool} ({operation.recalled} recalled, {operation.repeated} repeated, of {operation.times})"
        for operation in report.missing[:5]
    )
    wasted = ", ".join(f"{times} {why}" for why, times in report.wasted)
    idle = ", ".join(f"{lesson.id} (shown to {lesson.shown})" for lesson in report.lessons if not lesson.used)
    return [
        f"most tokens not drawn on: {bloated or 'none'}",
        f"never drawn on: {unused or 'none'}",
        f"asked for again: {missing or 'nothing'}",
        f"wasted steps: {wasted or 'none'}",
        f"lessons that no reply used: {idle or 'none'}",
    ]


def build_tried(proposals: Sequence[PolicyProposed]) -> Page:
    blocks = [block for proposal in proposals for block in _list_proposal_blocks(proposal)]
    return Page([*map(tried_to_json, proposals)], blocks or ["no change is suggested by the work so far"])


def _list_proposal_blocks(proposal: PolicyProposed) -> list[Block]:
    proof = describe_proof(proposal)
    lines = [proposal.reason, *[f"  {change}" for change in changes_of(proposal)], *([f"  {proof}"] if proof else [])]
    verdict = (f"{'better' if proposal.better else 'not adopted'}: {proposal.verdict}", "" if proposal.better else "dim")
    return [Heading(proposal.proposal), *lines, [verdict]]


def _list_history_blocks(history: PolicyHistory) -> list[Block]:
    canary = f"; {history.canary.id} for {history.canary.share:.0%} of the tasks" if history.canary else ""
    blocks: list[Block] = [Heading("Policies"), f"in use: {history.stable.id}{canary}"]
    for policy in reversed(history.adopted):
        day = datetime.fromtimestamp(policy.at, UTC).strftime("%Y-%m-%d")
        tasks = sum(outcome.policy == policy.id for outcome in history.outcomes)
        became = f"rolled back: {policy.ended}" if policy.ended else "in use"
        blocks.append(f"{day} {policy.id} from {policy.proposal}, {policy.share:.0%} of tasks, {tasks} ended; {became}")
    return [*blocks, *(block for _, proposal in reversed(history.proposed) for block in _list_proposal_blocks(proposal))]
