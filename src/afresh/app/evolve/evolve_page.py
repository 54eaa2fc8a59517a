"""What the dashboard shows of policies: proposals with their proofs, and the history."""

from dataclasses import dataclass
from datetime import UTC, datetime

from afresh.app.evolve.evolve_policy import changes_of
from afresh.app.evolve.task_policy import load_policy_history
from afresh.app.project import Project
from afresh.core.policy_history import AdoptedPolicy, PolicyHistory, PolicyProposed
from afresh.core.text import format_count
from afresh.evolve.compare_scores import comparison_from_json


@dataclass(frozen=True, slots=True)
class ProposalRow:
    id: str
    reason: str
    changes: tuple[str, ...]
    proof: str
    verdict: str
    better: bool
    in_use: bool


@dataclass(frozen=True, slots=True)
class PolicyRow:
    id: str
    day: str
    share: float
    proposal: str
    by: str
    tasks: int
    """Number of tasks that have ended under it."""
    verified: int
    ended: str


@dataclass(frozen=True, slots=True)
class PolicyPage:
    in_use: str
    canary: str
    mode: str
    proposals: tuple[ProposalRow, ...]
    policies: tuple[PolicyRow, ...]


def read_policy_page(project: Project) -> PolicyPage:
    history = load_policy_history(project)
    canary, in_use = history.canary, {policy.proposal for policy in history.adopted if not policy.ended}
    return PolicyPage(
        history.stable.id,
        f"{canary.id} for {canary.share:.0%} of the tasks" if canary else "",
        project.settings.evolve.mode,
        tuple(_to_proposal_row(proposal, proposal.proposal in in_use) for _, proposal in reversed(history.proposed)),
        tuple(_to_policy_row(history, policy) for policy in reversed(history.adopted)),
    )


def _to_proposal_row(proposal: PolicyProposed, in_use: bool) -> ProposalRow:
    changes = tuple(map(str, changes_of(proposal)))
    return ProposalRow(
        proposal.proposal, proposal.reason, changes, describe_proof(proposal), proposal.verdict, proposal.better, in_use
    )


def describe_proof(proposal: PolicyProposed) -> str:
    comparison = comparison_from_json(proposal.proof) if proposal.proof else None
    return f"{format_count(comparison.runs, 'newer task')} judged: {comparison}" if comparison else ""


def _to_policy_row(history: PolicyHistory, policy: AdoptedPolicy) -> PolicyRow:
    outcomes = [outcome for outcome in history.outcomes if outcome.policy == policy.id]
    day = datetime.fromtimestamp(policy.at, UTC).strftime("%Y-%m-%d")
    verified = sum(outcome.verified for outcome in outcomes)
    return PolicyRow(policy.id, day, policy.share, policy.proposal, policy.by, len(outcomes), verified, policy.ended)
