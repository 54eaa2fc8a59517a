"""All that a window is built from. Together with template, tools and ceiling it decides every byte."""

from collections.abc import Callable
from dataclasses import dataclass

from afresh.domain.fact import Look
from afresh.domain.passage import Passage
from afresh.domain.state import State
from afresh.domain.trace import NOTHING, Trace, trace


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

    def of(self, passages: tuple[Passage, ...], read: Callable[[str], str]) -> Trace:
        self._trace = trace(passages, read, self._trace)
        return self._trace
