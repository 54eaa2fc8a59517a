"""Proposes, tries, adopts and takes back context policies. What is decided is in the user's notebook, by project."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from afresh.app.evolve.evolve_report import collect_project_use
from afresh.app.evolve.task_policy import load_policy_history, name_project, record_policy_events
from afresh.app.project import Project
from afresh.core.codec import to_canonical_json
from afresh.core.context_policy import ContextPolicy
from afresh.core.policy_history import (
    BY_PERSON,
    WHOLE_SHARE,
    AdoptedPolicy,
    PolicyAdopted,
    PolicyHistory,
    PolicyProposed,
    PolicyRolledBack,
)
from afresh.core.task import TaskStatus, TicketOrder, TicketQuery
from afresh.errors import BadInput
from afresh.evolve.compare_scores import Comparison, compare_scores
from afresh.evolve.find_proposals import Proposal, find_proposals
from afresh.evolve.learn_kinds import count_line_use, learn_kinds, list_kind_changes
from afresh.evolve.policy_change import apply_changes, explain_protected_changes
from afresh.evolve.prove_proposal import (
    NOTHING_TO_REPLAY,
    Proof,
    changes_from_json,
    changes_to_json,
    describe_proof,
    proof_to_json,
)
from afresh.evolve.score_journal import TaskRecording, load_recording, score_recordings
from afresh.evolve.score_runs import find_run_needs, open_scorer
from afresh.evolve.search_policy import OWN_TASK_SETTINGS, SearchResult, search_policy, search_with_kinds
from afresh.evolve.use_report import add_up_use
from afresh.replay.run import RecordedRun

ENDED_STATUSES = (TaskStatus.DONE, TaskStatus.FAILED)
MAX_TASKS_REPLAYED = 40
MIN_TASKS_SEARCHED = 6
"""In the older half: fewer say little about others."""
REPLAY_BUDGET = 4_000
SEARCH_KIND = "tuned"
OWN_TASKS = "tasks of this project"
OTHER_RUNS = "recorded runs"


@dataclass(frozen=True, slots=True)
class SearchTerms:
    runs: Sequence[RecordedRun] = ()
    """Of other agents, the oldest first."""
    seed: int = 1
    workers: int = 2


def split_in_time(things: Sequence[RecordedRun]) -> tuple[Sequence[RecordedRun], Sequence[RecordedRun]]:
    """The older half to tune on, the newer half to judge on."""
    return things[: len(things) // 2], things[len(things) // 2 :]


def propose_changes(project: Project, terms: SearchTerms) -> list[Proposal]:
    """What the older half of the work suggests; recorded at once, so that it can be tried."""
    history = load_policy_history(project)
    used = collect_project_use(project)
    older = used[: (len(used) + 1) // 2]
    found = find_proposals(add_up_use(older), history.stable)
    found += search_own_tasks(project, history.stable, terms)
    if terms.runs:
        found += search_recorded_runs(history.stable, terms)
    if found:
        record_policy_events(project, [to_event(project, one) for one in found])
    return found


def search_own_tasks(project: Project, policy: ContextPolicy, terms: SearchTerms) -> list[Proposal]:
    older = load_recordings(project, split_tasks(project)[0])
    if len(older) < MIN_TASKS_SEARCHED:
        return []
    found = search_policy(policy, lambda one: score_recordings(older, one, project.store), OWN_TASK_SETTINGS, terms.seed)
    return to_proposals(found, f"{len(older)} tasks")


def search_recorded_runs(policy: ContextPolicy, terms: SearchTerms) -> list[Proposal]:
    older, _ = split_in_time(terms.runs)
    uses = [count_line_use(find_run_needs(run), policy, REPLAY_BUDGET) for run in older]
    kinds = list_kind_changes(policy, learn_kinds(uses, terms.seed))
    with open_scorer(older, REPLAY_BUDGET, terms.workers) as score:
        found = search_with_kinds(policy, lambda one: score(one, 1), kinds, terms.seed)
    return to_proposals(found, f"{len(older)} recorded runs")


def to_proposals(result: SearchResult, where: str) -> list[Proposal]:
    if not result.found:
        return []
    reason = f"best of {result.tried} policies on {where}: {describe_proof(result.found)}"
    return [Proposal(SEARCH_KIND, reason, result.changes)]


def to_event(project: Project, one: Proposal, proof: Proof | None = None) -> PolicyProposed:
    verdict = "" if proof is None else proof.verdict if one.changes else NOTHING_TO_REPLAY
    return PolicyProposed(
        name_project(project),
        one.id,
        one.reason,
        changes_to_json(one.changes),
        one.subject,
        proof_to_json(proof) if proof else "",
        verdict,
        bool(proof and proof.is_better),
    )


def find_proposed(history: PolicyHistory, name: str) -> PolicyProposed:
    found = [one for _, one in history.proposed if one.proposal.startswith(name)]
    if len(found) != 1:
        known = ", ".join(one.proposal for _, one in history.proposed) or "none; `afresh evolve propose` looks for some"
        raise BadInput(
            f"{'several proposals begin' if found else 'no proposal begins'} with {name!r}", next=f"proposals: {known}"
        )
    return found[0]


def to_proposal(event: PolicyProposed) -> Proposal:
    kind = event.proposal.rpartition("-")[0]
    return Proposal(kind, event.reason, changes_from_json(event.changes), event.subject)


def try_proposal(project: Project, name: str, terms: SearchTerms) -> PolicyProposed:
    """Compare it with the policy in use on the newer half of the work, and keep the proof."""
    history = load_policy_history(project)
    one = to_proposal(find_proposed(history, name))
    proof = prove_changes(project, one, history.stable, terms) if one.changes else Proof()
    event = to_event(project, one, proof)
    record_policy_events(project, [event])
    return event


def prove_changes(project: Project, one: Proposal, policy: ContextPolicy, terms: SearchTerms) -> Proof:
    candidate, parts = apply_changes(policy, one.changes), list[tuple[str, Comparison]]()
    tasks = load_recordings(project, split_tasks(project)[1])
    if tasks:
        before, after = (score_recordings(tasks, some, project.store) for some in (policy, candidate))
        parts.append((OWN_TASKS, compare_scores(before, after, terms.seed)))
    if terms.runs:
        _, newer = split_in_time(terms.runs)
        with open_scorer(newer, REPLAY_BUDGET, terms.workers) as score:
            parts.append((OTHER_RUNS, compare_scores(score(policy, 1), score(candidate, 1), terms.seed)))
    return Proof(tuple(parts))


def split_tasks(project: Project) -> tuple[list[str], list[str]]:
    """The older half of the newest tasks to search on, the newer half to judge on."""
    begun = tuple(status for status in TaskStatus if status is not TaskStatus.READY)
    newest = project.queue.tickets(TicketQuery(begun, order=TicketOrder.NEWEST, most=MAX_TASKS_REPLAYED))
    names = [one.task for one in newest][::-1]
    return names[: (len(names) + 1) // 2], names[(len(names) + 1) // 2 :]


def load_recordings(project: Project, tasks: Sequence[str]) -> list[TaskRecording]:
    found = [load_recording(project.store.journal(task), project.store) for task in tasks]
    return [one for one in found if one.calls]


def adopt_proposal(project: Project, name: str, share: float = WHOLE_SHARE, by: str = BY_PERSON) -> AdoptedPolicy | None:
    """Use the policy for a share of the tasks. BadInput without a proof that it is better. A lesson is retired instead."""
    history = load_policy_history(project)
    event = find_proposed(history, name)
    one = to_proposal(event)
    if not one.changes:
        retire_subject(project, one)
        return None
    refuse_unproven(event)
    made = apply_changes(history.stable, one.changes, next_version(history))
    if protected := explain_protected_changes(history.stable, made):
        raise BadInput(f"it would change what is never cut: {'; '.join(protected)}", safe="the policy is unchanged")
    adopted = PolicyAdopted(name_project(project), to_canonical_json(made), share, event.proposal, event.proof, by)
    record_policy_events(project, [adopted])
    return load_policy_history(project).latest


def refuse_unproven(event: PolicyProposed) -> None:
    if not event.verdict:
        next = f"afresh evolve try {event.proposal}"
        raise BadInput(f"{event.proposal} has not been tried", next=next, safe="the policy is unchanged")
    if not event.better:
        raise BadInput(
            f"{event.proposal} is not better beyond noise ({event.verdict})",
            next="try it again when there is more recorded work, or give `try` recorded runs with --runs",
            safe="the policy is unchanged",
        )


def retire_subject(project: Project, one: Proposal) -> None:
    if one.kind != "retire":
        raise BadInput(
            f"nothing of the policy changes: {one.reason}",
            next=f"leave {one.subject} out of the tools of your template",
            safe="nothing was changed",
        )
    from afresh.app.memory.curate_lessons import reject_lesson

    reject_lesson(project, one.subject)


def next_version(history: PolicyHistory) -> int:
    return max([history.stable.version, *[one.policy.version for one in history.adopted]]) + 1


def roll_back(project: Project, why: str = "", by: str = BY_PERSON) -> AdoptedPolicy:
    """Take back the latest adoption: the policy before it is used again from the next call on."""
    latest = load_policy_history(project).latest
    if latest is None:
        raise BadInput(
            "no policy is adopted: the built-in one is in use", next="afresh evolve history", safe="nothing was changed"
        )
    record_policy_events(project, [PolicyRolledBack(name_project(project), latest.id, why or "a person took it back", by)])
    return latest


def read_recorded_runs(paths: Sequence[Path]) -> list[RecordedRun]:
    """The runs in these files, in their order: the oldest first."""
    from afresh.replay.read_runs import read_runs

    return [run for path in paths for run in read_runs(path)]
