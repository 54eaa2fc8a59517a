"""Context policies that a project has tried and adopted: events of the user's notebook, and what they add up to.

They are the user's, by the path of the project: nothing that a repository brings along can change a policy."""

from collections.abc import Iterable
from dataclasses import field, replace
from hashlib import sha256

from afresh.core.codec import value_from_json
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY, ContextPolicy
from afresh.core.fast_dataclass import dataclass

BY_PERSON = "person"
BY_RULE = "automatic"
WHOLE_SHARE = 1.0
BUCKETS = 10_000


@dataclass(frozen=True, slots=True)
class PolicyProposed:
    """A change was tried by replay. `changes` and `proof` are what a person is shown, as JSON."""

    project: str
    proposal: str
    """The id of the proposal: equal changes have equal ids."""
    reason: str
    changes: str
    subject: str = ""
    """A lesson or a tool, where nothing of the policy changes."""
    proof: str = ""
    verdict: str = ""
    better: bool = False


@dataclass(frozen=True, slots=True)
class PolicyAdopted:
    project: str
    policy: str
    """The policy as JSON."""
    share: float
    """Share of the tasks; below 1 it is a canary beside the policy before it."""
    proposal: str = ""
    proof: str = ""
    by: str = BY_PERSON


@dataclass(frozen=True, slots=True)
class PolicyRolledBack:
    project: str
    policy: str
    """Its id."""
    why: str
    by: str = BY_PERSON


@dataclass(frozen=True, slots=True)
class PolicyOutcomeNoted:
    """A task of the project is over: what its policy has led to."""

    project: str
    task: str
    policy: str
    """The id; empty if its calls had several."""
    verified: bool
    steps: int
    cost: int
    """Nano-dollars; tokens where nobody pays."""


PolicyEvent = PolicyProposed | PolicyAdopted | PolicyRolledBack | PolicyOutcomeNoted
POLICY_EVENT_TAGS = {
    "PolicyProposed": PolicyProposed,
    "PolicyAdopted": PolicyAdopted,
    "PolicyRolledBack": PolicyRolledBack,
    "PolicyOutcome": PolicyOutcomeNoted,
}


@dataclass(frozen=True, slots=True)
class AdoptedPolicy:
    policy: ContextPolicy
    share: float
    at: float
    proposal: str = ""
    proof: str = ""
    by: str = BY_PERSON
    ended: str = ""
    """Why it was rolled back."""

    @property
    def id(self) -> str:
        return self.policy.id


@dataclass(frozen=True, slots=True)
class PolicyHistory:
    adopted: tuple[AdoptedPolicy, ...] = ()
    """Oldest first, also those that were rolled back."""
    proposed: tuple[tuple[float, PolicyProposed], ...] = ()
    outcomes: tuple[PolicyOutcomeNoted, ...] = field(default=())

    @property
    def stable(self) -> ContextPolicy:
        """The policy of all tasks but those of a canary."""
        whole = [policy for policy in self.adopted if policy.share >= WHOLE_SHARE and not policy.ended]
        return whole[-1].policy if whole else DEFAULT_CONTEXT_POLICY

    @property
    def canary(self) -> AdoptedPolicy | None:
        """The latest adoption, if it is one of a share of the tasks only."""
        policies = [policy for policy in self.adopted if not policy.ended]
        return policies[-1] if policies and policies[-1].share < WHOLE_SHARE else None

    @property
    def latest(self) -> AdoptedPolicy | None:
        return next((policy for policy in reversed(self.adopted) if not policy.ended), None)

    @property
    def before_latest(self) -> ContextPolicy:
        """What it is compared with: the policy that all tasks had before."""
        latest = self.latest
        return replace(self, adopted=tuple(policy for policy in self.adopted if policy is not latest)).stable


def fold_policy_events(entries: Iterable[tuple[float, object]], project: str) -> PolicyHistory:
    """The history of one project from the entries of a notebook, each with its time; other events are passed over."""
    adopted, proposed, outcomes = list[AdoptedPolicy](), list[tuple[float, PolicyProposed]](), dict[str, PolicyOutcomeNoted]()
    for at, event in entries:
        match event:
            case PolicyProposed() if event.project == project:
                proposed = [one for one in proposed if one[1].proposal != event.proposal] + [(at, event)]
            case PolicyAdopted() if event.project == project:
                policy = value_from_json(ContextPolicy, event.policy)
                adopted.append(AdoptedPolicy(policy, event.share, at, event.proposal, event.proof, event.by))
            case PolicyRolledBack() if event.project == project:
                adopted = [replace(one, ended=one.ended or event.why) if one.id == event.policy else one for one in adopted]
            case PolicyOutcomeNoted() if event.project == project:
                outcomes[event.task] = event
            case _:
                pass
    return PolicyHistory(tuple(adopted), tuple(proposed), tuple(outcomes.values()))


def choose_policy(history: PolicyHistory, task: str) -> ContextPolicy:
    """The policy of a task: the canary for its share of the tasks, by the task's id, the same on every machine."""
    canary = history.canary
    if canary is None:
        return history.stable
    bucket = int(sha256(f"{canary.id} {task}".encode()).hexdigest()[:12], 16) % BUCKETS
    return canary.policy if bucket < canary.share * BUCKETS else history.stable
