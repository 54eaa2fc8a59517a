"""Finds, tries, adopts and takes back context policies. What is decided is in the user's notebook, by project."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace

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
from afresh.evolve.compare_scores import compare_scores, comparison_to_json
from afresh.evolve.find_proposals import Proposal, find_proposals
from afresh.evolve.policy_change import PolicyChange, apply_changes
from afresh.evolve.score_journal import TaskRecording, load_recording, score_recordings
from afresh.evolve.search_policy import search_policy
from afresh.evolve.task_use import TaskUse, collect_task_use
from afresh.evolve.use_report import UseReport, add_up_use

MAX_TASKS_READ = 60
"""The newest: what was long ago says little about the policy of today."""
MAX_TASKS_REPLAYED = 40
MIN_TASKS_SEARCHED = 6
"""Least tasks in the older half: fewer say little about others."""
SEARCH_KIND = "tuned"
RETIRE_KIND = "retire"
NOTHING_TO_REPLAY = "not to be proven by replay: yours to decide"


def list_begun_tasks(project: Project, most: int) -> list[str]:
    """The newest, the oldest of them first."""
    begun = tuple(status for status in TaskStatus if status is not TaskStatus.READY)
    return [ticket.task for ticket in project.queue.tickets(TicketQuery(begun, order=TicketOrder.NEWEST, most=most))][::-1]


def collect_project_use(project: Project, most: int = MAX_TASKS_READ) -> list[TaskUse]:
    """How the newest tasks used their context, the oldest of them first."""
    tasks = list_begun_tasks(project, most)
    task_uses = (collect_task_use(project.store.journal(task), project.store.read) for task in tasks)
    return [task_use for task_use in task_uses if task_use and task_use.calls]


def report_use(project: Project, most: int = MAX_TASKS_READ) -> UseReport:
    return add_up_use(collect_project_use(project, most))


def try_proposals(project: Project, names: Sequence[str] = ()) -> list[PolicyProposed]:
    """Compare proposals with the policy in use on the newer half of the work, and keep them with their proofs: those named, or
    what the older half suggests."""
    history = load_policy_history(project)
    events = [find_proposed(history, name) for name in names] if names else propose_changes(project, history.stable)
    tried = prove_proposals(project, events, history.stable)
    if tried:
        record_policy_events(project, tried)
    return tried


def propose_changes(project: Project, policy: ContextPolicy) -> list[PolicyProposed]:
    used = collect_project_use(project)
    proposals = find_proposals(add_up_use(used[: (len(used) + 1) // 2]), policy)
    older = load_recordings(project, split_tasks(project)[0])
    if len(older) >= MIN_TASKS_SEARCHED:
        best = search_policy(policy, lambda context_policy: score_recordings(older, context_policy, project.store))
        if best.found:
            reason = f"best of {best.tried} policies on {len(older)} tasks: {best.found}"
            proposals.append(Proposal(SEARCH_KIND, reason, best.changes))
    return [to_event(project, proposal) for proposal in proposals]


def to_event(project: Project, proposal: Proposal) -> PolicyProposed:
    changes = json.dumps([asdict(change) for change in proposal.changes], sort_keys=True)
    return PolicyProposed(name_project(project), proposal.id, proposal.reason, changes, proposal.subject)


def changes_of(event: PolicyProposed) -> tuple[PolicyChange, ...]:
    return tuple(PolicyChange(**value) for value in json.loads(event.changes))


def find_proposed(history: PolicyHistory, name: str) -> PolicyProposed:
    proposals = [proposal for _, proposal in history.proposed if proposal.proposal.startswith(name)]
    if len(proposals) != 1:
        known = ", ".join(proposal.proposal for _, proposal in history.proposed) or "none; `afresh evolve try` looks for some"
        raise BadInput(
            f"{'several proposals begin' if proposals else 'no proposal begins'} with {name!r}", next=f"proposals: {known}"
        )
    return proposals[0]


def prove_proposals(project: Project, events: Sequence[PolicyProposed], policy: ContextPolicy) -> list[PolicyProposed]:
    tasks, tried = load_recordings(project, split_tasks(project)[1]), list[PolicyProposed]()
    before = score_recordings(tasks, policy, project.store)
    for event in events:
        if changes := changes_of(event):
            after = score_recordings(tasks, apply_changes(policy, changes), project.store)
            scores = compare_scores(before, after)
            tried.append(replace(event, proof=comparison_to_json(scores), verdict=scores.verdict, better=scores.is_better))
        else:
            tried.append(replace(event, verdict=NOTHING_TO_REPLAY))
    return tried


def split_tasks(project: Project) -> tuple[list[str], list[str]]:
    """The older half of the newest tasks to search on, the newer half to judge on."""
    names = list_begun_tasks(project, MAX_TASKS_REPLAYED)
    return names[: (len(names) + 1) // 2], names[(len(names) + 1) // 2 :]


def load_recordings(project: Project, tasks: Sequence[str]) -> list[TaskRecording]:
    recordings = [load_recording(project.store.journal(task), project.store) for task in tasks]
    return [recording for recording in recordings if recording.calls]


def adopt_proposal(project: Project, name: str, share: float = WHOLE_SHARE, by: str = BY_PERSON) -> AdoptedPolicy | None:
    """Use the policy for a share of the tasks. BadInput without a proof that it is better. A lesson is retired instead."""
    history = load_policy_history(project)
    event = find_proposed(history, name)
    changes = changes_of(event)
    if not changes:
        retire_subject(project, event)
        return None
    if not event.better:
        raise BadInput(
            f"{event.proposal} is not better beyond noise ({event.verdict or 'not tried'})",
            next=f"try it again when there is more recorded work: afresh evolve try {event.proposal}",
            safe="the policy is unchanged",
        )
    version = max([history.stable.version, *[one.policy.version for one in history.adopted]]) + 1
    policy = to_canonical_json(apply_changes(history.stable, changes, version))
    record_policy_events(project, [PolicyAdopted(name_project(project), policy, share, event.proposal, event.proof, by)])
    return load_policy_history(project).latest


def retire_subject(project: Project, event: PolicyProposed) -> None:
    if not event.proposal.startswith(RETIRE_KIND):
        raise BadInput(
            f"nothing of the policy changes: {event.reason}",
            next=f"leave {event.subject} out of the tools of your template",
            safe="nothing was changed",
        )
    from afresh.app.memory.curate_lessons import reject_lesson

    reject_lesson(project, event.subject)


def roll_back(project: Project, why: str = "", by: str = BY_PERSON) -> AdoptedPolicy:
    """Take back the latest adoption: the policy before it is used again from the next call on."""
    latest = load_policy_history(project).latest
    if latest is None:
        raise BadInput(
            "no policy is adopted: the built-in one is in use", next="afresh evolve report", safe="nothing was changed"
        )
    record_policy_events(project, [PolicyRolledBack(name_project(project), latest.id, why or "a person took it back", by)])
    return latest
