"""A person lets an object of knowledge cross into the user's other projects: first seen whole, then done."""

from dataclasses import dataclass

from afresh.adapters.knowledge.everyday import everyday
from afresh.app.knowledge import find, today
from afresh.app.patterns import enter, fresh, made_from, patterns_folder, words_of
from afresh.app.tasks import Desk
from afresh.domain.knowledge import By, Knowledge, Standing
from afresh.domain.plain import Own, plain_part, telltales
from afresh.errors import BadInput

STAYS = "nothing has crossed"


@dataclass(frozen=True, slots=True)
class Offer:
    """What would cross, to the letter, and what in it names the project or may."""

    origin: Knowledge
    text: Knowledge
    telling: tuple[str, ...]
    unsure: bool = False
    """The project is too large to be looked through."""


def offer(desk: Desk, name: str, plain: bool = False) -> Offer:
    """The whole object; or with `plain` only its lines that name nothing of the project."""
    one = find(desk, name).knowledge
    refuse(desk, one)
    own = words_of(desk, one)
    if not plain:
        telling = telltales("\n".join([one.title, *one.tags, one.body]), everyday(), own) if own else []
        return Offer(one, fresh(one), tuple(word for word in telling if word.strip("#")), own is None)
    found = plain_part(one, everyday(), own) if own else None
    if found is None:
        why = "the project is too large to be looked through" if own is None else telling_why(one, own)
        next = f"afresh knowledge share {one.id} shows all of it, to cross whole; or edit it first"
        raise BadInput(f"{one.id} has no plain part: {why}", next=next, safe=STAYS)
    return Offer(one, fresh(found), ())


def telling_why(one: Knowledge, own: Own) -> str:
    named = telltales(one.title, everyday(), own)
    return f"its title says {', '.join(named[:3])}" if named else "no line of what worked is free of the project's words"


def refuse(desk: Desk, one: Knowledge) -> None:
    if one.status is not Standing.APPROVED:
        raise BadInput(f"{one.id} is {one.status}", next=f"afresh knowledge approve {one.id}", safe=STAYS)
    if not desk.settings.patterns:
        raise BadInput("patterns are turned off", next="remove `patterns = false` from the settings", safe=STAYS)
    if old := made_from(patterns_folder(), desk.project.root, one):
        raise BadInput(
            f"{one.id} has crossed already, as {old.id}" + (", and was rejected" if old.status is Standing.REJECTED else ""),
            next=f"afresh knowledge show {old.id}; edit, approve or reject it there",
            safe="the pattern is as it was",
        )


def share(desk: Desk, made: Offer) -> Knowledge:
    """By a person who has seen the offer."""
    pattern = enter(desk, made.text, By.CONFIRMED, today(desk))
    if pattern is None:
        raise BadInput("a pattern that says the same is there already", next="afresh knowledge list shows patterns", safe=STAYS)
    return pattern
