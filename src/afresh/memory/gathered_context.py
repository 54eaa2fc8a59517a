"""All that a prompt is built from. Together with template, tools and ceiling it decides every byte."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from afresh.core.context_item import Diff, Excerpt, Item, Note, RepoMap
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY, ContextPolicy
from afresh.core.state import State
from afresh.core.step_history import Passage
from afresh.memory.history.trace import EMPTY_TRACE, Trace, build_trace
from afresh.memory.user_corrections import Corrections, apply_corrections, make_scrubber

NO_CORRECTIONS = Corrections()


@dataclass(frozen=True, slots=True)
class GatheredContext:
    state: State
    items: tuple[Item, ...] = ()
    trace: Trace = EMPTY_TRACE
    """The lines of the state's passages."""
    corrections: Corrections = NO_CORRECTIONS
    """By persons; they are applied to the state already."""
    policy: ContextPolicy = DEFAULT_CONTEXT_POLICY

    def of(self, kind: str) -> tuple[Item, ...]:
        return tuple([item for item in self.items if item.kind == kind])

    def notes(self, kind: str) -> tuple[Note, ...]:
        return tuple([item for item in self.items if isinstance(item, Note) and item.kind == kind])

    def excerpts(self, kind: str) -> tuple[Excerpt, ...]:
        return tuple([item for item in self.items if isinstance(item, Excerpt) and item.kind == kind])

    def diffs(self, kind: str) -> tuple[Diff, ...]:
        return tuple([item for item in self.items if isinstance(item, Diff) and item.kind == kind])

    def repo_maps(self) -> tuple[RepoMap, ...]:
        return tuple([item for item in self.items if isinstance(item, RepoMap)])


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
    state: State,
    items: Sequence[Item],
    corrections: Corrections,
    read: Callable[[str], str],
    past: TraceCache,
    policy: ContextPolicy = DEFAULT_CONTEXT_POLICY,
) -> GatheredContext:
    """All of it, as persons have corrected it by then."""
    trace = past.of(state.memory.passages, read, corrections.phrases)
    return GatheredContext(apply_corrections(state, corrections), tuple(items), trace, corrections, policy)
