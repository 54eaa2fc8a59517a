"""Decisions in force: the newest of the model's on each subject, and every one of a person's."""

from collections.abc import Sequence

from afresh.core.fast_dataclass import dataclass

MAX_SAID_DECISIONS = 8
MAX_DECISIONS = 40
"""The newest in a state, beside a person's; the journal knows the others."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Kept word for word. `by` is the model, the harness or a person."""

    text: str
    by: str
    why: str = ""
    step: int = 0
    subject: str = ""
    confidence: float | None = None
    """How sure whoever decided is; None where nobody has said."""
    options: tuple[str, ...] = ()
    """What there was to choose from, when a question was answered; the question is the subject."""
    chosen: int = 0
    """Which of them it was, counted from 1; 0 for words of one's own."""
    waiver: str = ""
    """What a person gave up by it: `SANDBOX_WAIVER`."""
    said: str = ""
    """The block of the thought that says so, where the model recorded nothing itself."""

    @property
    def waives_sandbox(self) -> bool:
        return self.waiver == SANDBOX_WAIVER

    @property
    def answer(self) -> bool:
        """A person's word on a question: it stands with the user's words, and not a second time among decisions."""
        return self.by == "person" and bool(self.subject)


RETIRED_DECISION = "no longer holds"
"""The text of a decision of the model that only retires the one on its subject."""


def add_decision(decisions: tuple[Decision, ...], decision: Decision) -> tuple[Decision, ...]:
    if decision.by == "model" and decision.text == RETIRED_DECISION:
        return tuple([old for old in decisions if not can_supersede_decision(decision, old)])
    known = any(
        (old.text, old.by, old.why, old.subject) == (decision.text, decision.by, decision.why, decision.subject)
        for old in decisions
    )
    return (
        decisions
        if known
        else bound_decisions([*[old for old in decisions if not can_supersede_decision(decision, old)], decision])
    )


def can_supersede_decision(new: Decision, old: Decision) -> bool:
    """The model may change its own mind, nobody else's."""
    return new.by == old.by == "model" and has_same_subject(new.subject, old.subject)


def has_same_subject(one: str, other: str) -> bool:
    return bool(one.strip()) and " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def bound_decisions(decisions: Sequence[Decision]) -> tuple[Decision, ...]:
    """The oldest go first, a person's never. Of those that were only said in a thought fewer stay."""
    ours = [place for place, decision in enumerate(decisions) if decision.by != "person"]
    places = [place for place in ours if decisions[place].said]
    gone = {*ours[: max(0, len(ours) - MAX_DECISIONS)], *places[: max(0, len(places) - MAX_SAID_DECISIONS)]}
    return tuple([decision for place, decision in enumerate(decisions) if place not in gone])


SANDBOX_WAIVER = "sandbox"
UNSANDBOXED_DECISION = "commands run without a sandbox (--no-sandbox): nothing confines them"
"""A decision that only a person can make; it stands in every record of the task."""
