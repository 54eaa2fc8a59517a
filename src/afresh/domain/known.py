"""Facts as a project's memory holds them: named, dated, with their author, in force or not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from afresh.domain.event import Answered, Decided, Digested, Entry, Noted, Verified
from afresh.domain.fact import Decision, Fact, FactKind, Scope
from afresh.domain.text import one_line
from afresh.domain.verdict import Verdict

MODEL = "model"
HARNESS = "harness"
PERSON = "person"
SUBJECT = 80
LASTING = {FactKind.NOTE, FactKind.FAILED_APPROACH, FactKind.ERROR}
"""What one task has found out of the code, another of the same project may want to know."""


@dataclass(frozen=True, slots=True)
class Known:
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


@dataclass(frozen=True, slots=True)
class Edit:
    """What a person has made of a fact: other words, or none."""

    id: str
    old: str
    new: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for: facts that share words with the text, as far as `task` may see them; without words the newest."""

    text: str
    kinds: tuple[FactKind, ...] = ()
    """Any, if none is named."""
    task: str = ""
    """Whose eyes; empty: a person's, who may see all."""
    own: bool = False
    """Only what the task has found out itself."""
    limit: int = 8


def fact_id(task: str, fact: Fact) -> str:
    """The same words about the same thing have the same name, on every machine."""
    told = "\0".join((task, fact.kind, fact.subject, fact.text))
    return f"m{sha256(told.encode()).hexdigest()[:8]}"


def facts_in(entry: Entry) -> Iterator[tuple[Fact, str]]:
    """What an event says, and who says so."""
    match entry.event:
        case Digested(facts):
            yield from ((lasting(fact), MODEL if fact.kind is FactKind.NOTE else HARNESS) for fact in facts)
        case Decided(decision):
            yield decided(decision), decision.by
        case Answered(text, by):
            yield said(text), by
        case Verified(step, verdict) if verdict.final:
            yield from ((fact, HARNESS) for fact in verified(step, verdict))
        case Noted(fact, by):
            yield fact, by
        case _:
            return


def lasting(fact: Fact) -> Fact:
    return replace(fact, scope=Scope.PROJECT) if fact.kind in LASTING and fact.scope is Scope.TASK else fact


def decided(decision: Decision) -> Fact:
    why = f" ({decision.why})" if decision.why else ""
    sure = 0.5 if decision.confidence is None else decision.confidence
    subject = decision.subject or one_line(decision.text, SUBJECT)
    return Fact(FactKind.DECISION, subject, f"{decision.text}{why}", sure, step=decision.step)


def said(text: str) -> Fact:
    """A person's words: each stands for itself, none replaces another unless the person says so."""
    return Fact(FactKind.RULE, one_line(text, SUBJECT), text)


def verified(step: int, verdict: Verdict) -> Iterator[Fact]:
    for run in verdict.runs:
        told = f"{'exit 0' if run.exit == 0 else f'exit {run.exit}'}: {run.passed} passed, {run.failed} failed"
        yield Fact(FactKind.VERIFIED, run.command, told, 1.0, run.block, step)


class NoLore:
    """Of a task that stands alone."""

    def look_up(self, question: Question) -> Sequence[Known]:
        return ()

    def known(self, name: str) -> Sequence[Known]:
        return ()

    def edits(self) -> Sequence[Edit]:
        return ()


UNTOLD = NoLore()
