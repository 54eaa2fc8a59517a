"""What commands were seen to say, as long as it holds."""

import re
from collections.abc import Sequence

from afresh.domain.fact import Fact, FactKind
from afresh.domain.verdict import TARGETED_SCOPE_PREFIX, Verdict

DOTTED_TEST_NAME = re.compile(r"^\w+\.[\w.]*\.test\w*$")
MIN_SURE_CONFIDENCE = 0.8
COMPLETION_SUBJECT = "complete"
"""Subject and source of what is remembered of a completion that was refused."""


def is_sure_observation(fact: Fact) -> bool:
    """Of what outputs said: worth a place in a window, and kept longer than how many hits a search had."""
    return fact.kind is FactKind.OBSERVED and fact.confidence >= MIN_SURE_CONFIDENCE


def select_observations_to_show(facts: Sequence[Fact], verdict: Verdict | None) -> list[Fact]:
    """What was observed and stands nowhere else: a refusal is under Verification while it is the latest verdict."""
    seen = [fact for fact in facts if fact.kind is FactKind.OBSERVED]
    return [
        fact
        for fact in seen
        if fact.subject != COMPLETION_SUBJECT or fact.source != COMPLETION_SUBJECT or not (verdict and verdict.final)
    ]


def drop_observations_of_step(facts: tuple[Fact, ...], step: int) -> tuple[Fact, ...]:
    """What was seen in a step that was undone was seen of a tree that is no more."""
    return tuple([fact for fact in facts if fact.kind is not FactKind.OBSERVED or fact.step != step])


def drop_passed_tests(facts: tuple[Fact, ...], verdict: Verdict) -> tuple[Fact, ...]:
    """When the harness has run all tests, or those of a file, and none failed, none of them is remembered as failing."""
    if any(run.exit for run in verdict.runs):
        return facts
    scopes = [run.scope for run in verdict.runs if run.passed]
    return tuple([fact for fact in facts if fact.kind is not FactKind.OBSERVED or not has_passed(fact.subject, scopes)])


def has_passed(test: str, scopes: Sequence[str]) -> bool:
    """Only tests of Python are known to the harness by name: those of pytest by their file, those of unittest by their module."""
    path, mark, _ = test.partition("::")
    if not mark:
        return "full" in scopes and bool(DOTTED_TEST_NAME.match(test))
    return path.endswith(".py") and any(
        scope == "full" or path in scope.removeprefix(TARGETED_SCOPE_PREFIX).split(", ") for scope in scopes
    )
