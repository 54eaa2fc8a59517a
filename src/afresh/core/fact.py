"""Facts that commands have printed, as long as they hold."""

import re
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from afresh.core.fast_dataclass import dataclass
from afresh.core.verdict import TARGETED_SCOPE_PREFIX, Verdict


class FactKind(StrEnum):
    NOTE = "note"
    RULE = "rule"
    """A person's own words, verbatim."""
    ANSWER = "answer"
    """An answer of a person in one task."""
    DECISION = "decision"
    FAILED_APPROACH = "failed_approach"
    CHECK = "check"
    """How a check ended."""
    OBSERVED = "observed"
    """Read from the output of a command that the model ran: shown while there is room, gone when it is no longer so."""
    CHECKPOINT = "checkpoint"
    """A checkpoint of another program. No prompt shows it."""


class FactScope(StrEnum):
    """Where a fact holds, and so whose windows may show it."""

    TASK = "task"
    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Attempt:
    """An action of a reply that failed: in words, and as a key that the same action has again."""

    told: str
    key: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A newer fact about the same kind and subject supersedes the older one; one without text takes it back."""

    kind: FactKind
    subject: str
    text: str
    confidence: float = 1.0
    block: str = ""
    step: int = 0
    source: str = ""
    """The command that said so: once it runs again, what it no longer says is taken back."""
    lines: tuple[int, int] = (0, 0)
    """First and last line of the block that say so; (0, 0) when it is the whole of it."""
    scope: FactScope = FactScope.TASK
    suggestion: str = ""
    """Id of the suggestion that an approach began with."""
    attempts: tuple[Attempt, ...] = ()
    """Of an approach: what was done, the culprit first."""
    batch: tuple[str, ...] = ()
    """Ids of suggestions that were tried together: at least one of them fails."""


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


NOTEBOOK_JOURNAL = "notebook"
USER_JOURNAL = "user"
"""What the journals are called that no task owns: the project's, and the user's own."""
CLIENT_PREFIX = "mcp client "
"""Begins the author of what a program outside has noted: data, never a rule."""


@dataclass(frozen=True, slots=True)
class FactNoted:
    """Told to the project, or by its scope to all projects of the user."""

    fact: Fact
    by: str


@dataclass(frozen=True, slots=True)
class FactCorrected:
    """The fact reads so from now on; the old words stay in its history."""

    fact: str
    text: str
    by: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class FactForgotten:
    """No later window shows it. That it was known, and who wanted it gone, stays in the history."""

    fact: str
    by: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class LessonJudged:
    """A person's word on what a task has learnt: approved or rejected."""

    object: str
    standing: str
    by: str


MAX_FACTS = 40
MAX_LASTING_OBSERVATIONS = 8
FACT_KIND_DROP_ORDER = {FactKind.OBSERVED: 0, FactKind.NOTE: 1}
UNDONE_STEP_MARK = " (from a step that was undone)"


def supersede_fact(facts: tuple[Fact, ...], new: Fact) -> tuple[Fact, ...]:
    others = [old for old in facts if old.subject != new.subject or old.kind is not new.kind]
    return tuple(others) if is_withdrawal(new) else (*others, new)


def is_withdrawal(fact: Fact) -> bool:
    """Whether it takes back what is remembered of its subject: an observation or a note without text, a forgotten approach."""
    forgotten = fact.kind is FactKind.FAILED_APPROACH and fact.confidence == 0
    return not fact.text and (fact.kind in (FactKind.OBSERVED, FactKind.NOTE) or forgotten)


def drop_refusal(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """A refused completion is no longer held against a task that a person has answered."""
    return tuple([fact for fact in facts if fact.subject != COMPLETION_SUBJECT or fact.source != COMPLETION_SUBJECT])


def bound_facts(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """At most `MAX_FACTS`. Observations go first, the unsure ones before the sure ones, then notes, the oldest first; failed
    approaches go last, and so do the newest sure observations: they are errors that still hold."""
    excess = len(facts) - MAX_FACTS
    if excess <= 0:
        return facts
    last = len(FACT_KIND_DROP_ORDER)
    lasting = {id(fact) for fact in [fact for fact in facts if is_sure_observation(fact)][-MAX_LASTING_OBSERVATIONS:]}
    order = {id(fact): last if id(fact) in lasting else FACT_KIND_DROP_ORDER.get(fact.kind, last) for fact in facts}
    first = sorted(facts, key=lambda fact: (order[id(fact)], is_sure_observation(fact)))
    gone = {id(fact) for fact in first[:excess]}
    return tuple([fact for fact in facts if id(fact) not in gone])


def mark_facts_undone(facts: tuple[Fact, ...], step: int) -> tuple[Fact, ...]:
    """Observations since this step are gone; notes and verified facts since then are marked."""
    known = [fact for fact in facts if fact.step < step or fact.kind is not FactKind.OBSERVED]
    return tuple([_mark_undone(fact) if fact.step >= step else fact for fact in known])


def _mark_undone(fact: Fact) -> Fact:
    known = fact.kind in (FactKind.NOTE, FactKind.CHECK) and not fact.text.endswith(UNDONE_STEP_MARK)
    return replace(fact, text=fact.text + UNDONE_STEP_MARK) if known else fact
