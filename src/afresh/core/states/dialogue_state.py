"""What a person and the task have to say to each other: words, the open question, and how closely the person follows."""

import re
from typing import TYPE_CHECKING

from afresh.core.fast_dataclass import dataclass
from afresh.core.states.network_state import NO_PERMISSIONS, NetworkState
from afresh.core.states.supervision_state import (
    INITIAL_SUPERVISION,
    SupervisionState,
)
from afresh.core.task import Issue

if TYPE_CHECKING:
    pass

ACCEPT_WORK = "accept the work"
ACCEPT_OPTION = f"{ACCEPT_WORK}: the task ends with it as it is, not verified"
"""The harness offers it. No option of a model may begin so."""
_YES = re.compile(
    r"^\W*(?:yes|yep|yeah|ok|okay|sure|allow(?:ed)?|go ahead|do (?:it|so|that)|please do|agreed|fine|you may|of course)\b",
    re.IGNORECASE,
)
_NO = re.compile(r"\b(?:no|not|never|but|except|only|unless)\b|n't\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DialogueState:
    """The open question, and what a person has said."""

    words: tuple[str, ...] = ()
    """The user's messages after the goal, verbatim."""
    question: str = ""
    options: tuple[str, ...] = ()
    asked_by: str = ""
    """Who has asked the open question: model or harness."""
    limit: int = 0
    """The highest limit that the first option of the open question allows."""
    supervision: SupervisionState = INITIAL_SUPERVISION
    turn: int = 0
    """Which turn of a conversation it is; 0 for a task that is none."""
    turn_step: int = 0
    """The step after which the turn began."""
    issue: Issue | None = None
    """The issue that the task is about, in its author's words."""
    network: NetworkState = NO_PERMISSIONS
    """The network permissions that a person gave."""


def is_agreement(answer: str) -> bool:
    """Whether a person simply agrees to what was asked."""
    return bool(_YES.match(answer)) and not _NO.search(answer)
