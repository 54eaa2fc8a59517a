"""A person lets an object of knowledge cross into the user's other projects: first seen whole, then done."""

from dataclasses import dataclass

from afresh.adapters.knowledge.everyday import load_everyday_stems
from afresh.app.knowledge import find_lesson, read_current_day
from afresh.app.patterns import (
    add_pattern,
    strip_lesson_record,
    find_pattern_of_lesson,
    open_pattern_folder,
    collect_lesson_vocabulary,
)
from afresh.app.tasks import Project
from afresh.domain.knowledge import LessonApproval, Lesson, LessonStatus
from afresh.domain.plain import ProjectNames, anonymise_lesson, find_telltales
from afresh.errors import BadInput

NOTHING_SHARED = "nothing has crossed"


@dataclass(frozen=True, slots=True)
class SharingOffer:
    """What would cross, to the letter, and what in it names the project or may."""

    origin: Lesson
    text: Lesson
    telling: tuple[str, ...]
    unsure: bool = False
    """The project is too large to be looked through."""


def offer_sharing(desk: Project, name: str, plain: bool = False) -> SharingOffer:
    """The whole object; or with `plain` only its lines that name nothing of the project."""
    one = find_lesson(desk, name).knowledge
    refuse_sharing(desk, one)
    own = collect_lesson_vocabulary(desk, one)
    if not plain:
        telling = find_telltales("\n".join([one.title, *one.tags, one.body]), load_everyday_stems(), own) if own else []
        return SharingOffer(one, strip_lesson_record(one), tuple(word for word in telling if word.strip("#")), own is None)
    found = anonymise_lesson(one, load_everyday_stems(), own) if own else None
    if found is None:
        why = "the project is too large to be looked through" if own is None else explain_telling_words(one, own)
        next = f"afresh knowledge share {one.id} shows all of it, to cross whole; or edit it first"
        raise BadInput(f"{one.id} has no plain part: {why}", next=next, safe=NOTHING_SHARED)
    return SharingOffer(one, strip_lesson_record(found), ())


def explain_telling_words(one: Lesson, own: ProjectNames) -> str:
    named = find_telltales(one.title, load_everyday_stems(), own)
    return f"its title says {', '.join(named[:3])}" if named else "no line of what worked is free of the project's words"


def refuse_sharing(desk: Project, one: Lesson) -> None:
    if one.status is not LessonStatus.APPROVED:
        raise BadInput(f"{one.id} is {one.status}", next=f"afresh knowledge approve {one.id}", safe=NOTHING_SHARED)
    if not desk.settings.patterns:
        raise BadInput("patterns are turned off", next="remove `patterns = false` from the settings", safe=NOTHING_SHARED)
    if old := find_pattern_of_lesson(open_pattern_folder(), desk.project.root, one):
        raise BadInput(
            f"{one.id} has crossed already, as {old.id}" + (", and was rejected" if old.status is LessonStatus.REJECTED else ""),
            next=f"afresh knowledge show {old.id}; edit, approve or reject it there",
            safe="the pattern is as it was",
        )


def share_lesson(desk: Project, made: SharingOffer) -> Lesson:
    """By a person who has seen the offer."""
    pattern = add_pattern(desk, made.text, LessonApproval.CONFIRMED, read_current_day(desk))
    if pattern is None:
        raise BadInput(
            "a pattern that says the same is there already", next="afresh knowledge list shows patterns", safe=NOTHING_SHARED
        )
    return pattern
