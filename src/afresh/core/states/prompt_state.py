"""The last prompt, kept without its footer: the next one may be the same text with one step more."""

from typing import TYPE_CHECKING

from afresh.core.change import Hunk
from afresh.core.fast_dataclass import dataclass
from afresh.core.prompt import SectionRef

if TYPE_CHECKING:
    pass


MAX_UNSEEN_LINES = 600
MAX_UNSEEN_HUNKS = 12


@dataclass(frozen=True, slots=True)
class PromptState:
    """Empty before the first call."""

    sections: tuple[SectionRef, ...] = ()
    """The sections of the last prompt, without its footer."""
    base: int = 0
    """The step whose prompt was built anew; a turn for each later step follows it."""
    step: int = 0
    """The step of the last call."""
    ceiling: int = 0
    """The base was built for it."""
    base_tokens: int = 0
    tokens: int = 0
    """Tokens of all sections."""
    thinking: int = 0
    """Tokens that the model may think with, as in the base."""
    terms: str = ""
    """What a prompt that extends it must share with it; see PromptOrigin."""
    unseen: tuple[Hunk, ...] = ()
    """Lines that commands of the last step have changed: no edit shows them."""
    outdated: str = ""
    """Why it can't be extended: something happened that neither its text nor a turn shows."""
