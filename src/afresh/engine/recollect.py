"""What the project's memory has to say to a window: rules in force, what was decided and tried before, what other tasks found."""

from collections.abc import Iterator

from afresh.domain.amend import Edits
from afresh.domain.codec import dumps
from afresh.domain.fact import FactKind, Look, Scope
from afresh.domain.known import Known, Question, decided, fact_id
from afresh.domain.memory import EDITS
from afresh.domain.state import State
from afresh.domain.text import one_line
from afresh.domain.words import split, telling
from afresh.engine.concern import focus
from afresh.ports import Lore

RULES = 200
ASKED = 24
OWN = 8
OTHERS = 4
"""Rules that are looked at, more than can be added; facts that are; of those the task's own, and others', that are offered."""
SHARED = 2
"""Words that a fact of another task must share with what the work is about: one is chance."""
LINE = 200
LOOKED_UP = (FactKind.NOTE, FactKind.FAILED_APPROACH, FactKind.DECISION, FactKind.ERROR)
OLDER = {FactKind.DECISION: "decision", FactKind.FAILED_APPROACH: "failed", FactKind.ERROR: "failed"}


def recollected(state: State, lore: Lore, edits: Edits) -> Iterator[Look]:
    if edits.edits:
        yield Look(EDITS, "", dumps(edits))
    whose = state.task.id
    for rule in reversed(lore.look_up(Question("", (FactKind.RULE,), whose, limit=RULES))):
        if rule.task != whose:
            yield Look("rule", rule.id, rule.fact.text)
    about, held = focus(state), in_state(state)
    found = [one for one in lore.look_up(Question(about, LOOKED_UP, whose, limit=ASKED)) if one.id not in held]
    yield from own([one for one in found if one.task == whose])
    yield from others([one for one in found if one.task != whose], frozenset(telling(split(about))))


def in_state(state: State) -> frozenset[str]:
    """What the window tells of in any case."""
    whose = state.task.id
    return frozenset((*[fact_id(whose, one) for one in state.facts], *[fact_id(whose, decided(one)) for one in state.decisions]))


def own(found: list[Known]) -> Iterator[Look]:
    """What the state has no room for any more."""
    for one in sorted(found[:OWN], key=lambda known: known.fact.step):
        by = f", {one.by}" if one.fact.kind is FactKind.DECISION else ""
        told = f"step {one.fact.step}{by}: {one_line(one.fact.subject, LINE)}: {one_line(one.fact.text, LINE)}"
        older = OLDER.get(one.fact.kind)
        yield Look(older, one.fact.subject, told) if older else Look("memory", one.id, told)


def others(found: list[Known], about: frozenset[str]) -> Iterator[Look]:
    fitting = [one for one in found if len(about.intersection(telling(split(f"{one.fact.subject} {one.fact.text}")))) >= SHARED]
    for one in fitting[:OTHERS]:
        whose = "all projects" if one.fact.scope is Scope.USER else one.task
        told = f"{one_line(one.fact.subject, LINE)}: {one_line(one.fact.text, LINE)}"
        yield Look("memory", one.id, f"{told} ({KINDS.get(one.fact.kind, 'noted')} in {whose})")


KINDS = {FactKind.FAILED_APPROACH: "failed", FactKind.DECISION: "decided", FactKind.ERROR: "error"}
