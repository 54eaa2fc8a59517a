"""Renders proposals, their proofs, and the history of policies."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from afresh.cli.render.widgets import render_heading, render_text
from afresh.core.policy_history import AdoptedPolicy, PolicyHistory, PolicyProposed
from afresh.evolve.find_proposals import Proposal
from afresh.evolve.policy_change import PolicyChange
from afresh.evolve.prove_proposal import changes_from_json, describe_proof, proof_from_json

if TYPE_CHECKING:
    from rich.console import RenderableType


def proposal_to_json(one: Proposal) -> dict[str, Any]:
    changes = [asdict(change) for change in one.changes]
    return {"id": one.id, "kind": one.kind, "reason": one.reason, "subject": one.subject, "changes": changes}


def tried_to_json(one: PolicyProposed) -> dict[str, Any]:
    return {
        "id": one.proposal,
        "reason": one.reason,
        "subject": one.subject,
        "changes": json.loads(one.changes),
        "better": one.better,
        "verdict": one.verdict,
        "proof": json.loads(one.proof) if one.proof else [],
    }


def history_to_json(found: PolicyHistory) -> dict[str, Any]:
    return {
        "in_use": found.stable.id,
        "canary": found.canary.id if found.canary else None,
        "adopted": [_adopted_to_json(one) for one in found.adopted],
        "proposals": [{"at": at, **tried_to_json(one)} for at, one in found.proposed],
        "outcomes": [asdict(one) for one in found.outcomes],
    }


def _adopted_to_json(one: AdoptedPolicy) -> dict[str, Any]:
    return {"id": one.id, "at": one.at, "share": one.share, "proposal": one.proposal, "by": one.by, "rolled_back": one.ended}


def render_proposals(found: Sequence[Proposal]) -> "RenderableType":
    from rich.console import Group

    if not found:
        return render_text("no change is suggested by the work so far")
    lines = [part for one in found for part in _render_proposal(one.id, one.reason, one.changes)]
    return Group(*lines, render_text("next: afresh evolve try", "dim"))


def _render_proposal(name: str, reason: str, changes: Sequence[PolicyChange]) -> "list[RenderableType]":
    return [render_heading(name), render_text(reason), *[render_text(f"  {change}") for change in changes]]


def render_tried(found: Sequence[PolicyProposed]) -> "RenderableType":
    from rich.console import Group

    if not found:
        return render_text("nothing to try: `afresh evolve propose` looks for changes")
    return Group(*[part for one in found for part in _render_tried(one)])


def _render_tried(one: PolicyProposed) -> "list[RenderableType]":
    proofs = [f"  {name}, {part.runs} judged: {describe_proof(part)}" for name, part in proof_from_json(one.proof).parts]
    verdict = render_text(
        f"{'better' if one.better else 'not adopted'}: {one.verdict or 'not tried yet'}", "" if one.better else "dim"
    )
    return [*_render_proposal(one.proposal, one.reason, changes_from_json(one.changes)), *map(render_text, proofs), verdict]


def render_history(found: PolicyHistory) -> "RenderableType":
    from rich.console import Group

    canary = f"; {found.canary.id} for {found.canary.share:.0%} of the tasks" if found.canary else ""
    parts: list[RenderableType] = [render_text(f"in use: {found.stable.id}{canary}")]
    for one in reversed(found.adopted):
        day = datetime.fromtimestamp(one.at, UTC).strftime("%Y-%m-%d")
        tasks = sum(outcome.policy == one.id for outcome in found.outcomes)
        became = f"rolled back: {one.ended}" if one.ended else "in use"
        parts.append(render_text(f"{day} {one.id} from {one.proposal}, {one.share:.0%} of tasks, {tasks} ended; {became}"))
    if found.proposed:
        parts += [render_heading("Proposals"), *[part for _, one in reversed(found.proposed) for part in _render_tried(one)]]
    return Group(*parts)
