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
    """That have ended under it."""
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
    canary, in_use = history.canary, {one.proposal for one in history.adopted if not one.ended}
    return PolicyPage(
        history.stable.id,
        f"{canary.id} for {canary.share:.0%} of the tasks" if canary else "",
        project.settings.evolve.mode,
        tuple(_to_proposal_row(one, one.proposal in in_use) for _, one in reversed(history.proposed)),
        tuple(_to_policy_row(history, one) for one in reversed(history.adopted)),
    )


def _to_proposal_row(one: PolicyProposed, in_use: bool) -> ProposalRow:
    changes = tuple(map(str, changes_of(one)))
    return ProposalRow(one.proposal, one.reason, changes, describe_proof(one), one.verdict, one.better, in_use)


def describe_proof(one: PolicyProposed) -> str:
    found = comparison_from_json(one.proof) if one.proof else None
    return f"{format_count(found.runs, 'newer task')} judged: {found}" if found else ""


def _to_policy_row(history: PolicyHistory, one: AdoptedPolicy) -> PolicyRow:
    outcomes = [outcome for outcome in history.outcomes if outcome.policy == one.id]
    day = datetime.fromtimestamp(one.at, UTC).strftime("%Y-%m-%d")
    verified = sum(outcome.verified for outcome in outcomes)
    return PolicyRow(one.id, day, one.share, one.proposal, one.by, len(outcomes), verified, one.ended)
