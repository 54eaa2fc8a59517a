"""What persons have said outside any task, as files tell it: rules of the project, and corrections of what is remembered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from afresh.domain import amend
from afresh.domain.amend import SHORTEST, Edits, plain, scrubbing
from afresh.domain.fact import FactKind
from afresh.domain.known import Known, Question
from afresh.domain.notes import NOTEBOOK
from afresh.ports import Lore

RULES = 12
OPENING = 40
"""Rules that are told; and characters of a forgotten text by which it is known again where it was cut."""

_NONE = Edits()


@dataclass(frozen=True, slots=True)
class Told:
    rules: tuple[Known, ...] = ()
    """The newest first."""
    edits: Edits = _NONE

    @property
    def scrub(self) -> Callable[[str], str]:
        """Withholds what a person wants forgotten, also where only the beginning of it is left."""
        openings = (plain(edit.old)[:OPENING] for edit in self.edits.edits if not edit.new)
        return scrubbing([text for text in openings if len(text) >= SHORTEST])


SILENCE = Told()


def told_by(lore: Lore) -> Told:
    """The user's own rules, which hold for all projects, stay out of the files of one."""
    rules = lore.look_up(Question("", (FactKind.RULE,), NOTEBOOK, own=True, limit=RULES))
    return Told(tuple(rules), Edits(tuple(lore.edits())))


def reads(name: str, text: str, edits: Edits, known: Callable[[str], Sequence[Known]]) -> str:
    """The words of a fact as they are by now; empty when it is forgotten."""
    found = known(name) if name in edits.by_id else ()
    return amend.reads(found[0].task, found[0].fact, edits.by_id) if found else edits.by_id.get(name, text)
