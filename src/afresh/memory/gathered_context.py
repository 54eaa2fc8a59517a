"""All that a window is built from. Together with template, tools and ceiling it decides every byte."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from afresh.core.codec import value_from_json
from afresh.core.item import Item
from afresh.core.state import State
from afresh.core.step_history import Passage
from afresh.memory.corrections import Corrections, apply_corrections, make_scrubber
from afresh.memory.history.trace import EMPTY_TRACE, Trace, build_trace

CORRECTIONS_ITEM_KIND = "edits"
NO_CORRECTIONS = Corrections()


@dataclass(frozen=True, slots=True)
class GatheredContext:
    state: State
    looks: tuple[Item, ...] = ()
    trace: Trace = EMPTY_TRACE
    """What the passages of the state say."""

    def of(self, kind: str) -> tuple[Item, ...]:
        return tuple(look for look in self.looks if look.kind == kind)


class TraceCache:
    """The trace of the window before, so that the next one has only the new step to read. Without it the result is the same."""

    def __init__(self) -> None:
        self._trace = EMPTY_TRACE
        self._withheld: tuple[str, ...] = ()

    def of(self, passages: tuple[Passage, ...], read: Callable[[str], str], withheld: tuple[str, ...] = ()) -> Trace:
        """What repeats one of the `withheld` texts is not remembered."""
        if withheld != self._withheld:
            self._trace, self._withheld = EMPTY_TRACE, withheld
        scrub = make_scrubber(withheld)
        self._trace = build_trace(passages, lambda block: scrub(read(block)), self._trace)
        return self._trace


def assemble_gathered_context(
    state: State, looks: Sequence[Item], read: Callable[[str], str], past: TraceCache
) -> GatheredContext:
    """All of it, as persons have corrected it by then: the corrections are among the looks."""
    edits = next(
        (value_from_json(Corrections, look.text) for look in looks if look.kind == CORRECTIONS_ITEM_KIND), NO_CORRECTIONS
    )
    return GatheredContext(apply_corrections(state, edits), tuple(looks), past.of(state.memory.passages, read, edits.phrases))
