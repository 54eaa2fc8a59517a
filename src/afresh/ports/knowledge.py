"""The seams to what people and earlier tasks have written down."""

from collections.abc import Sequence
from typing import Protocol

from afresh.core.context_item import Note
from afresh.core.instructions import InstructionChain


class InstructionReader(Protocol):
    """The instructions that people have written for agents."""

    def chain(self, types: Sequence[str], named: Sequence[str], touched: Sequence[str]) -> InstructionChain:
        """The instructions that apply to a task of these types (the general one first) whose goal has named paths, which may be
        other words, and that has touched others. BadInstructions for a file that can't be used."""
        ...


class LessonLibrary(Protocol):
    """What earlier tasks have learnt, and skills of the repository, to be looked up."""

    def stocked(self) -> bool:
        """Whether there is anything at all."""
        ...

    def find(self, questions: Sequence[str], most: int) -> Sequence[Note]:
        """Notes that fit one of these questions, the best first; none if none fits."""
        ...

    def named(self, keys: Sequence[str]) -> Sequence[Note]:
        """The notes with these keys as they are now; missing ones are left out."""
        ...
