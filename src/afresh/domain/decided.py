"""Decisions in force: the newest of the model's on each subject, and every one of a person's."""

from collections.abc import Sequence

from afresh.domain.fact import Decision

MAX_DECISIONS = 40
"""The newest in a state, beside a person's; the journal knows the others."""


def add_decision(decisions: tuple[Decision, ...], made: Decision) -> tuple[Decision, ...]:
    known = any((old.text, old.by, old.why, old.subject) == (made.text, made.by, made.why, made.subject) for old in decisions)
    return decisions if known else bound_decisions([*[old for old in decisions if not can_supersede_decision(made, old)], made])


def can_supersede_decision(new: Decision, old: Decision) -> bool:
    """The model may change its own mind, nobody else's."""
    return new.by == old.by == "model" and has_same_subject(new.subject, old.subject)


def has_same_subject(one: str, other: str) -> bool:
    return bool(one.strip()) and " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def bound_decisions(decisions: Sequence[Decision]) -> tuple[Decision, ...]:
    """The oldest go first, a person's never."""
    ours = [place for place, made in enumerate(decisions) if made.by != "person"]
    gone = set(ours[: max(0, len(ours) - MAX_DECISIONS)])
    return tuple([made for place, made in enumerate(decisions) if place not in gone])
