"""Watches how tasks fare under an adopted policy, takes it back when they fare worse, and evolves by itself if the user wants."""

from afresh.app.evolve.evolve_policy import adopt_proposal, collect_project_use, roll_back, try_proposals
from afresh.app.evolve.task_policy import AUTO_MODE, load_policy_history, name_project, record_policy_events
from afresh.app.project import Project
from afresh.core.codec import to_canonical_json
from afresh.core.policy_history import (
    BY_RULE,
    WHOLE_SHARE,
    AdoptedPolicy,
    PolicyAdopted,
    PolicyHistory,
    PolicyOutcomeNoted,
)
from afresh.errors import BadInput
from afresh.evolve.detect_regression import LOOKS, Regression, detect_regression
from afresh.evolve.task_use import TaskUse, collect_task_use

MIN_NEW_TASKS = 12
"""Tasks that must have ended since the last attempt to evolve by itself."""
PROMOTING_LOOK = LOOKS[2]
"""So many tasks without a regression make a canary the policy of all tasks, in the mode `auto`."""


def note_outcome(project: Project, task: str) -> str:
    """Once a task is over: what its policy has led to, and whether the policy is taken back. Returns what there is to say."""
    history = load_policy_history(project)
    if history.latest is None:
        return ""
    known = {outcome.task for outcome in history.outcomes}
    used = collect_task_use(project.store.journal(task), project.store.read) if task not in known else None
    if used is None or not used.ended:
        return ""
    record_policy_events(project, [to_outcome(project, used)])
    return review_policy(project)


def to_outcome(project: Project, used: TaskUse) -> PolicyOutcomeNoted:
    return PolicyOutcomeNoted(name_project(project), used.task, used.policy, used.verified, used.steps, used.cost or used.tokens)


def note_outcomes_so_far(project: Project) -> None:
    """What a new policy will be compared with: the tasks that are over by now."""
    known = {outcome.task for outcome in load_policy_history(project).outcomes}
    outcomes = [to_outcome(project, used) for used in collect_project_use(project) if used.ended and used.task not in known]
    if outcomes:
        record_policy_events(project, outcomes)


def review_policy(project: Project) -> str:
    """Take the latest policy back if tasks fare worse under it; in the mode `auto` make a canary that fares well the policy of
    all tasks."""
    history = load_policy_history(project)
    latest = history.latest
    if latest is None:
        return ""
    if worse := find_regression(history, latest):
        roll_back(project, str(worse), BY_RULE)
        return f"policy {latest.id} is rolled back: {worse}"
    treated = sum(outcome.policy == latest.id for outcome in history.outcomes)
    if project.settings.evolve.mode == AUTO_MODE and latest.share < WHOLE_SHARE and treated >= PROMOTING_LOOK:
        whole = PolicyAdopted(
            name_project(project), to_canonical_json(latest.policy), WHOLE_SHARE, latest.proposal, latest.proof, BY_RULE
        )
        record_policy_events(project, [whole])
        return f"policy {latest.id} is now used for all tasks: {treated} tasks fared no worse with it"
    return ""


def find_regression(history: PolicyHistory, latest: AdoptedPolicy) -> Regression | None:
    control = [outcome for outcome in history.outcomes if outcome.policy == history.before_latest.id]
    return detect_regression(control, [outcome for outcome in history.outcomes if outcome.policy == latest.id])


def evolve_if_due(project: Project) -> str:
    """In the mode `auto`: try proposals, and adopt one that is better as a canary, once enough tasks have ended since the last
    time. Returns what there is to say."""
    if project.settings.evolve.mode != AUTO_MODE or load_policy_history(project).canary:
        return ""
    history = load_policy_history(project)
    last = max((at for at, _ in history.proposed), default=0.0)
    if sum(used.ended > last for used in collect_project_use(project)) < MIN_NEW_TASKS:
        return ""
    better = [proposal.proposal for proposal in try_proposals(project) if proposal.better]
    return adopt_as_canary(project, better[0], BY_RULE) if better else ""


def adopt_as_canary(project: Project, name: str, by: str, share: float = 0.0) -> str:
    """Adopt for a share of the tasks; what has ended so far is what it will be compared with."""
    wanted = share or project.settings.evolve.share
    if not 0 < wanted <= WHOLE_SHARE:
        raise BadInput(f"a share is above 0 and at most 1, not {wanted:g}", safe="the policy is unchanged")
    note_outcomes_so_far(project)
    policy = adopt_proposal(project, name, wanted, by)
    if policy is None:
        return f"{name} is done: the lesson is rejected"
    part = "all tasks" if policy.share >= WHOLE_SHARE else f"{policy.share:.0%} of the tasks"
    return f"policy {policy.id} is used for {part} from now on"
