"""The last prompt, kept without its footer: the next one may be the same text with one step more."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from afresh.core.action import Observation
from afresh.core.change import Hunk
from afresh.core.event import BaselineMeasured, CallRequested, ChangeKeptOrReverted, Event, MemoryCompacted, QuestionAnswered
from afresh.core.fast_dataclass import dataclass
from afresh.core.prompt import FOOTER_SECTION, CallAudit, PromptOrigin, SectionRef
from afresh.core.states.strategy_state import StrategyChanged
from afresh.core.states.supervision_state import PersonSpoke, RecoveredFromCheckpoint, StepsUndone
from afresh.core.tool_traits import ToolTrait, has_trait

if TYPE_CHECKING:
    from afresh.core.state import State


MAX_UNSEEN_LINES = 600
MAX_UNSEEN_HUNKS = 12


@dataclass(frozen=True, slots=True)
class PromptState:
    """Empty before the first call."""

    sections: tuple[SectionRef, ...] = ()
    """Of the last prompt, without its footer."""
    base: int = 0
    """The step whose prompt was built anew; a turn for each later step follows it."""
    step: int = 0
    """The step of the last call."""
    ceiling: int = 0
    """The base was built for it."""
    base_tokens: int = 0
    tokens: int = 0
    """Of all sections."""
    thinking: int = 0
    """Tokens that the model may think with, as in the base."""
    terms: str = ""
    """What a prompt that extends it must share with it; see PromptOrigin."""
    unseen: tuple[Hunk, ...] = ()
    """Lines that commands of the last step have changed: no edit shows them."""
    outdated: str = ""
    """Why it can't be extended: something happened that neither its text nor a turn shows."""

    def apply(self, event: Event, state: "State") -> "PromptState":
        match event:
            case CallRequested(step, audit, origin):
                return self._note_call(step, audit, origin)
            case ChangeKeptOrReverted():
                written = _list_written_paths(state.memory.recent[-1].observations if state.memory.recent else ())
                return self._note_changes([hunk for hunk in event.hunks if hunk.path not in written])
            case PersonSpoke() | QuestionAnswered():
                return self._outdate("a person said something")
            case BaselineMeasured(baseline) if any(run.failures for run in baseline.runs):
                return self._outdate("tests fail before the first change")
            case StepsUndone() | RecoveredFromCheckpoint():
                return self._outdate("steps were undone")
            case MemoryCompacted():
                return self._outdate("memory was compacted")
            case StrategyChanged():
                return self._outdate("the strategy changed")
            case _:
                return self

    def _note_call(self, step: int, call: CallAudit, origin: PromptOrigin) -> "PromptState":
        """Nothing of a call that was recorded before prompts were extended."""
        if not origin.terms:
            return PromptState()
        kept = tuple([ref for ref in call.sections if ref.name != FOOTER_SECTION])
        tokens = call.tokens - sum(ref.tokens for ref in call.sections if ref.name == FOOTER_SECTION)
        if origin.base:
            return replace(self, sections=kept, step=step, tokens=tokens, unseen=())
        return PromptState(kept, step, step, call.budget, tokens, tokens, call.thinking, origin.terms)

    def _note_changes(self, unseen: Sequence[Hunk]) -> "PromptState":
        """The next turn names what a command has changed; if that is much, the kept text is no longer worth keeping."""
        if sum(hunk.old_count + hunk.new_count for hunk in unseen) > MAX_UNSEEN_LINES:
            return self._outdate(f"a command changed {unseen[0].path}")
        return replace(self, unseen=tuple(unseen[:MAX_UNSEEN_HUNKS])) if unseen or self.unseen else self

    def _outdate(self, why: str) -> "PromptState":
        return self if self.outdated or not self.sections else replace(self, outdated=why)


def _list_written_paths(observations: tuple[Observation, ...]) -> set[str]:
    """Of actions whose text shows what they wrote."""
    return {str(seen.action.args.get("path", "")) for seen in observations if has_trait(seen.action, ToolTrait.WRITES)}
