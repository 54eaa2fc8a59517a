"""Writes down which tests a task may change, as its goal, the person's words and instructions ask for it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from afresh.core.instructions import InstructionChain, InstructionFile, InstructionPart
from afresh.core.licences.licence_for_tests import (
    ANY_CHANGE,
    FROM_ANSWER,
    FROM_GOAL,
    FROM_INSTRUCTIONS,
    LicenceWidened,
    LicensedChange,
    WeakeningWay,
)
from afresh.core.licences.read_licence import read_agreement, read_implied_licences, read_licences
from afresh.core.state import State
from afresh.core.task import WRITE_TESTS_TYPE

NO_INSTRUCTIONS = InstructionChain()
MAX_OPENING_WORDS = 4
"""Words of a sentence by which its line is found."""
NOT_BY_INSTRUCTIONS = (WeakeningWay.SKIP, WeakeningWay.HOOK)
"""What only words about the task itself allow."""


def widen_licence(
    state: State, paths: Sequence[str], instructions: InstructionChain = NO_INSTRUCTIONS
) -> tuple[LicenceWidened, ...]:
    """What a person's words so far allow and is not on record yet; `paths` are the files of the tree."""
    if state.task.judged_as == WRITE_TESTS_TYPE or state.task.report:
        return ()
    goal = state.persons_goal
    answers = [made for made in state.memory.decisions if made.answer]
    read: list[LicensedChange] = [
        *read_licences(goal, paths, FROM_GOAL),
        *(entry for words in state.dialogue.words for entry in read_licences(words, paths, FROM_ANSWER)),
        *(entry for made in answers for entry in read_agreement(made.subject, made.text, paths, FROM_ANSWER)),
        *_read_instructions(instructions, paths),
        *_read_implied(goal, paths, FROM_GOAL),
        *(entry for words in state.dialogue.words for entry in _read_implied(words, paths, FROM_ANSWER)),
    ]
    known = {_identify(entry) for entry in state.verification.licence}
    new = tuple(entry for entry in dict.fromkeys(read) if _identify(entry) not in known)
    return (LicenceWidened(new),) if new else ()


def _read_implied(text: str, paths: Sequence[str], by: str) -> Iterator[LicensedChange]:
    """Of the sentences that hold no order."""
    orders = {entry.quote for entry in read_licences(text, paths, by)}
    yield from (entry for entry in read_implied_licences(text, by) if not any(entry.quote in one for one in orders))


def _read_instructions(instructions: InstructionChain, paths: Sequence[str]) -> Iterator[LicensedChange]:
    """A part that another one goes before somewhere allows nothing."""
    for source in instructions.sources:
        for part in source.parts if not source.elsewhere else ():
            given = [] if part.elsewhere else [_read_test_path(part, paths)] if part.test_path else _read_part(part, paths)
            for entry in given:
                yield from _keep_in_folder(replace(entry, source=f"{source.file}:{_find_line(part, entry.quote)}"), source)


def _read_test_path(part: InstructionPart, paths: Sequence[str]) -> LicensedChange:
    path, _, name = part.test_path.removeprefix("./").partition("::")
    is_folder = any(one.startswith(f"{path.rstrip('/')}/") for one in paths)
    place = f"{path.rstrip('/')}/" if is_folder else path
    return LicensedChange(ANY_CHANGE, place, name.replace("::", "."), quote="allow_test_changes", by=FROM_INSTRUCTIONS)


def _read_part(part: InstructionPart, paths: Sequence[str]) -> Iterator[LicensedChange]:
    for entry in read_licences("\n".join(line.text for line in part.lines), paths, FROM_INSTRUCTIONS):
        if ways := tuple(way for way in entry.ways if way not in NOT_BY_INSTRUCTIONS):
            yield replace(entry, ways=ways)


def _find_line(part: InstructionPart, quote: str) -> int:
    """Where the words begin; if they are not found as they are, the first line of the part."""
    words = [(word, line.number) for line in part.lines for word in line.text.split()]
    opening = quote.split()[:MAX_OPENING_WORDS]
    starts = (at for at in range(len(words)) if [word for word, _ in words[at : at + len(opening)]] == opening)
    return next((words[at][1] for at in starts), part.first)


def _keep_in_folder(entry: LicensedChange, source: InstructionFile) -> Iterator[LicensedChange]:
    """What a folder's file allows is allowed in that folder."""
    inside = f"{source.folder}/" if source.folder else ""
    if not entry.path:
        yield replace(entry, path=inside)
    elif entry.path.startswith(inside):
        yield entry


def _identify(entry: LicensedChange) -> tuple[object, ...]:
    return entry.ways, entry.path, entry.name, entry.words, entry.most, entry.needs_proof
