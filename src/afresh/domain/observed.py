"""What commands were seen to say, as long as it holds."""

from afresh.domain.fact import Fact, FactKind
from afresh.domain.verdict import Verdict


def undone(facts: tuple[Fact, ...], step: int) -> tuple[Fact, ...]:
    """What was seen in a step that was undone was seen of a tree that is no more."""
    return tuple([fact for fact in facts if fact.kind is not FactKind.OBSERVED or fact.step != step])


def verified(facts: tuple[Fact, ...], verdict: Verdict) -> tuple[Fact, ...]:
    """When the harness has run all tests and none failed, no test is remembered as failing."""
    green = any(run.passed and run.scope == "full" for run in verdict.runs) and not any(run.exit for run in verdict.runs)
    return tuple([fact for fact in facts if fact.kind is not FactKind.OBSERVED or "::" not in fact.subject]) if green else facts
