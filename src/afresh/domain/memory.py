"""All that a window is built from. Together with template, tools and ceiling it decides every byte."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from afresh.domain.amend import Edits, amended, scrubbing
from afresh.domain.codec import loads
from afresh.domain.fact import Look
from afresh.domain.passage import Passage
from afresh.domain.state import State
from afresh.domain.trace import NOTHING, Trace, trace

EDITS = "edits"
UNEDITED = Edits()


@dataclass(frozen=True, slots=True)
class Memory:
    state: State
    looks: tuple[Look, ...] = ()
    trace: Trace = NOTHING
    """What the passages of the state say."""

    def of(self, kind: str) -> tuple[Look, ...]:
        return tuple(look for look in self.looks if look.kind == kind)


class Recollection:
    """The trace of the window before, so that the next one has only the new step to read. Without it the result is the same."""

    def __init__(self) -> None:
        self._trace = NOTHING
        self._withheld: tuple[str, ...] = ()

    def of(self, passages: tuple[Passage, ...], read: Callable[[str], str], withheld: tuple[str, ...] = ()) -> Trace:
        """What repeats one of the `withheld` texts is not remembered."""
        if withheld != self._withheld:
            self._trace, self._withheld = NOTHING, withheld
        scrub = scrubbing(withheld)
        self._trace = trace(passages, lambda block: scrub(read(block)), self._trace)
        return self._trace


def gathered(state: State, looks: Sequence[Look], read: Callable[[str], str], past: Recollection) -> Memory:
    """All of it, as persons have corrected it by then: the corrections are among the looks."""
    edits = next((loads(Edits, look.text) for look in looks if look.kind == EDITS), UNEDITED)
    return Memory(amended(state, edits), tuple(looks), past.of(state.passages, read, edits.phrases))
