"""Facts as a project's memory holds them: named, dated, with their author, in force or not."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256

from afresh.core.decision import Decision
from afresh.core.event import DecisionMade, JournalEntry, OutputDigested, QuestionAnswered, VerdictReached
from afresh.core.fact import CLIENT_PREFIX, Fact, FactKind, FactNoted, FactScope
from afresh.core.fast_dataclass import dataclass
from afresh.core.truncate import to_one_line
from afresh.core.verdict import Verdict

BY_MODEL = "model"
BY_HARNESS = "harness"
BY_PERSON = "person"
FORGOTTEN_ENDING = "forgotten"
CORRECTED_ENDING = "corrected"
MAX_SUBJECT_CHARACTERS = 80
PROJECT_FACT_KINDS = {FactKind.NOTE, FactKind.FAILED_APPROACH}
"""What one task has found out of the code, another of the same project may want to know."""


@dataclass(frozen=True, slots=True)
class ProjectFact:
    id: str
    task: str
    """Whose it is; the notebook's or the user's if no task's."""
    fact: Fact
    by: str
    at: float
    ended: float = 0.0
    """Since when it no longer holds; 0 while it does."""
    end: str = ""
    """How it ended: `superseded`, `corrected by …`, `forgotten by …`."""

    @property
    def origin(self) -> str:
        """Where it comes from: the program outside that noted it, else whose it is."""
        return self.by if self.by.startswith(CLIENT_PREFIX) else self.task


@dataclass(frozen=True, slots=True)
class FactCorrection:
    """A person's correction of a fact: other words, or none."""

    id: str
    old: str
    new: str = ""


@dataclass(frozen=True, slots=True)
class FactQuery:
    """What is looked for: facts that share words with the text, as far as `task` may see them; without words the newest."""

    text: str
    kinds: tuple[FactKind, ...] = ()
    """Any, if none is named."""
    task: str = ""
    """Whose eyes; empty: a person's, who may see all."""
    own: bool = False
    """Only what the task has found out itself."""
    limit: int = 8


def make_fact_id(task: str, fact: Fact) -> str:
    """The name of a fact: the same words on the same subject have the same name on every machine."""
    text = "\0".join((task, fact.kind, fact.subject, fact.text))
    return f"m{sha256(text.encode()).hexdigest()[:8]}"


def extract_facts(entry: JournalEntry) -> Iterator[tuple[Fact, str]]:
    """The facts in an event, each with its source."""
    match entry.event:
        case OutputDigested(facts):
            for fact in facts:
                widens = fact.kind in PROJECT_FACT_KINDS and fact.scope is FactScope.TASK
                known = replace(fact, scope=FactScope.PROJECT) if widens else fact
                yield known, BY_MODEL if fact.kind is FactKind.NOTE else BY_HARNESS
        case DecisionMade(decision):
            yield fact_from_decision(decision), decision.by
        case QuestionAnswered(text, by):
            yield fact_from_words(text), by
        case VerdictReached(step, verdict) if verdict.final:
            yield from ((fact, BY_HARNESS) for fact in facts_from_verdict(step, verdict))
        case FactNoted(fact, by):
            yield fact, by
        case _:
            return


def fact_from_decision(decision: Decision) -> Fact:
    why = f" ({decision.why})" if decision.why else ""
    sure = 0.5 if decision.confidence is None else decision.confidence
    subject = decision.subject or to_one_line(decision.text, MAX_SUBJECT_CHARACTERS)
    return Fact(FactKind.DECISION, subject, f"{decision.text}{why}", sure, decision.said, decision.step)


def fact_from_words(text: str) -> Fact:
    """A person's words: each stands for itself, none replaces another unless the person says so."""
    return Fact(FactKind.ANSWER, to_one_line(text, MAX_SUBJECT_CHARACTERS), text)


def facts_from_verdict(step: int, verdict: Verdict) -> Iterator[Fact]:
    for run in verdict.runs:
        text = f"{'exit 0' if run.exit == 0 else f'exit {run.exit}'}: {run.passed} passed, {run.failed} failed"
        yield Fact(FactKind.CHECK, run.command, text, 1.0, run.block, step)


class EmptyFactIndex:
    """Of a task that stands alone."""

    def look_up(self, question: FactQuery) -> Sequence[ProjectFact]:
        return ()

    def known(self, name: str) -> Sequence[ProjectFact]:
        return ()

    def edits(self) -> Sequence[FactCorrection]:
        return ()


EMPTY_FACT_INDEX = EmptyFactIndex()
