"""What persons have said outside any task, as files tell it: rules of the project, and corrections of what is remembered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from afresh.core.fact import NOTEBOOK_JOURNAL, FactKind
from afresh.core.project_facts import FactQuery, ProjectFact
from afresh.memory import corrections
from afresh.memory.corrections import MIN_FORGOTTEN_CHARACTERS, Corrections, collapse_whitespace, make_scrubber
from afresh.ports.storage import FactIndex

MAX_RULES = 12
OPENING_CHARACTERS = 40
"""Rules that are told; and characters of a forgotten text by which it is known again where it was cut."""

_NO_EDITS = Corrections()


@dataclass(frozen=True, slots=True)
class RulesAndCorrections:
    rules: tuple[ProjectFact, ...] = ()
    """The newest first."""
    edits: Corrections = _NO_EDITS

    @property
    def scrub(self) -> Callable[[str], str]:
        """Withholds what a person wants forgotten, also where only the beginning of it is left."""
        openings = (collapse_whitespace(edit.old)[:OPENING_CHARACTERS] for edit in self.edits.edits if not edit.new)
        return make_scrubber([text for text in openings if len(text) >= MIN_FORGOTTEN_CHARACTERS])


NO_RULES_OR_CORRECTIONS = RulesAndCorrections()


def read_rules_and_corrections(lore: FactIndex) -> RulesAndCorrections:
    """The user's own rules, which hold for all projects, stay out of the files of one."""
    rules = lore.look_up(FactQuery("", (FactKind.RULE,), NOTEBOOK_JOURNAL, own=True, limit=MAX_RULES))
    return RulesAndCorrections(tuple(rules), Corrections(tuple(lore.edits())))


def apply_correction(name: str, text: str, edits: Corrections, known: Callable[[str], Sequence[ProjectFact]]) -> str:
    """The words of a fact as they are by now; empty when it is forgotten."""
    found = known(name) if name in edits.by_id else ()
    return corrections.get_corrected_text(found[0].task, found[0].fact, edits.by_id) if found else edits.by_id.get(name, text)
