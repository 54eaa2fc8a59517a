"""What the project remembers, for people: found, shown, corrected, forgotten. Each change is an event with its author."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afresh.adapters.store.facts import FORGOTTEN
from afresh.adapters.workspace.author import author
from afresh.app.acceptance import refuse_unstorable
from afresh.app.tasks import Desk, find, users_own
from afresh.domain.event import Corrected, Event, Forgotten, Noted
from afresh.domain.fact import Fact, FactKind, Scope
from afresh.domain.known import Known, Question, fact_id
from afresh.domain.notes import NOTEBOOK, USER
from afresh.domain.text import one_line
from afresh.errors import BadInput

SUBJECT = 80
LONGEST = 2_000
RULES = 50
TOGETHER = 4_000
"""Rules in force of the project, and as many of the user: how many, and their characters. All of them stand in every window."""
SAFE = "nothing was changed"


@dataclass(frozen=True, slots=True)
class Shown:
    """A fact, the lines that say so, and all that was known about the same."""

    known: Known
    evidence: tuple[str, ...]
    history: tuple[Known, ...]


def search(desk: Desk, text: str, kind: str = "", task: str = "", limit: int = 20) -> Sequence[Known]:
    kinds = (FactKind(kind),) if kind else ()
    whose = find(desk, task) if task else ""
    return desk.lore.look_up(Question(text, kinds, whose, own=bool(whose), limit=limit))


def show(desk: Desk, name: str) -> Shown:
    known = named(desk, name)
    fact, lines = known.fact, list[str]()
    if fact.block:
        lines = desk.store.read(fact.block).splitlines()
        lines = lines[fact.lines[0] - 1 : fact.lines[1]] if fact.lines[0] else lines[:12]
    return Shown(known, tuple(lines), tuple(desk.lore.history(known)))


def add(desk: Desk, text: str, about: str = "", everywhere: bool = False) -> Known:
    """A rule of the user's for this project, or for all of them. A newer one about the same takes its place."""
    refuse_words(text)
    fact = Fact(FactKind.RULE, about or one_line(text, SUBJECT), text, scope=Scope.USER if everywhere else Scope.PROJECT)
    refuse_too_many(desk, fact)
    event = Noted(fact, author(desk.project.root))
    book = users_own(desk.clock, make=True)[0] if everywhere else desk.notebook
    book.append([event])
    desk.projections.noted()
    return named(desk, fact_id(USER if everywhere else NOTEBOOK, fact))


def correct(desk: Desk, name: str, text: str, why: str = "") -> Known:
    refuse_words(text)
    known = in_force(desk, name)
    if known.fact.text == text:
        raise BadInput(f"{known.id} says so already", next=f"afresh memory show {known.id}", safe=SAFE)
    if known.fact.kind is FactKind.RULE:
        refuse_too_many(desk, replace(known.fact, text=text))
    write(desk, known, Corrected(known.id, text, author(desk.project.root), why))
    return named(desk, fact_id(known.task, replace(known.fact, text=text)))


def forget(desk: Desk, name: str, why: str = "") -> Known:
    """Also what no longer holds: its words may still stand in what is remembered of earlier steps."""
    known = named(desk, name)
    if known.end.startswith(FORGOTTEN):
        raise BadInput(f"{known.id} is {known.end} already", next=f"afresh memory show {known.id}", safe=SAFE)
    write(desk, known, Forgotten(known.id, author(desk.project.root), why))
    return named(desk, known.id)


def write(desk: Desk, known: Known, event: Event) -> None:
    """Into the journal that says where it holds."""
    book = users_own(desk.clock, make=True)[0] if known.fact.scope is Scope.USER else desk.notebook
    book.append([event])
    desk.projections.noted()


def named(desk: Desk, name: str) -> Known:
    found = desk.lore.known(name.strip().lower())
    if not found:
        raise BadInput(f"nothing is remembered as {name!r}", next="afresh memory search WORDS shows ids", safe=SAFE)
    return next((one for one in found if not one.ended), found[-1])


def in_force(desk: Desk, name: str) -> Known:
    known = named(desk, name)
    if known.ended:
        raise BadInput(
            f"{known.id} no longer holds: {known.end}",
            next=f"afresh memory show {known.id} has its history",
            safe=SAFE,
        )
    return known


def refuse_too_many(desk: Desk, rule: Fact) -> None:
    """With the one that is to come, without the one whose place it takes."""
    found = (known.fact for known in search(desk, "", FactKind.RULE, limit=10 * RULES))
    kept = [one for one in found if one.scope is rule.scope and one.subject != rule.subject]
    letters = sum(len(one.text) for one in (*kept, rule))
    if len(kept) >= RULES or letters > TOGETHER:
        whose = "of yours for all projects" if rule.scope is Scope.USER else "of this project"
        raise BadInput(
            f"every window holds all rules {whose}, and they would be {len(kept) + 1} with {letters:,} characters:"
            f" at most {RULES} and {TOGETHER:,}",
            next="afresh memory search --kind rule, then `afresh memory forget ID` those that no longer matter,"
            " or put what concerns few tasks into .afresh/AGENT.md",
            safe=SAFE,
        )


def refuse_words(text: str) -> None:
    if not text.strip():
        raise BadInput("the text is empty", next='afresh memory add "what is to be remembered"', safe=SAFE)
    if len(text) > LONGEST:
        raise BadInput(
            f"{len(text):,} characters are too many to stand in every window",
            next=f"use at most {LONGEST:,}; what is longer belongs into a file of the repository",
            safe=SAFE,
        )
    refuse_unstorable(text)
