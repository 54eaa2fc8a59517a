"""Writes down which tests a task may change, as its goal and the person's words ask for it."""

from collections.abc import Sequence

from afresh.core.licence_for_tests import FROM_ANSWER, FROM_GOAL, LicenceWidened, LicensedChange
from afresh.core.read_licence import read_agreement, read_licences
from afresh.core.state import State
from afresh.core.task import WRITE_TESTS_TYPE


def widen_licence(state: State, paths: Sequence[str]) -> tuple[LicenceWidened, ...]:
    """What the words so far allow and is not on record yet; `paths` are the files of the tree. The goal of a part is a model's
    own, and allows nothing."""
    if state.task.judged_as == WRITE_TESTS_TYPE or state.task.report:
        return ()
    goal = "" if state.task.parent else state.task.goal
    answers = [made for made in state.memory.decisions if made.answer]
    read: list[LicensedChange] = [
        *read_licences(goal, paths, FROM_GOAL),
        *(entry for words in state.dialogue.words for entry in read_licences(words, paths, FROM_ANSWER)),
        *(entry for made in answers for entry in read_agreement(made.subject, made.text, paths, FROM_ANSWER)),
    ]
    known = {_identify(entry) for entry in state.verification.licence}
    new = tuple(entry for entry in dict.fromkeys(read) if _identify(entry) not in known)
    return (LicenceWidened(new),) if new else ()


def _identify(entry: LicensedChange) -> tuple[object, ...]:
    return entry.ways, entry.path, entry.name, entry.words, entry.most
