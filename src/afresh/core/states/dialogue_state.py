"""What a person and the task have to say to each other: words, the open question, and how closely the person follows."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from afresh.core.event import Event, QuestionAnswered, QuestionAsked, StepFinished, TaskEnded
from afresh.core.fast_dataclass import dataclass
from afresh.core.states.ceiling_state import RAISE_LIMIT_OPTION, LimitsOrdered
from afresh.core.states.network_state import NO_PERMISSIONS, NetworkState, NetworkUsed, PermissionsChanged
from afresh.core.states.supervision_state import (
    APPROVE_OPTION,
    AUTONOMOUS_MODE,
    INITIAL_SUPERVISION,
    PausedForPerson,
    PersonSpoke,
    StepsUndone,
    SupervisionModeSet,
    SupervisionState,
    TurnBegan,
)
from afresh.core.task import Issue, IssueAttached, TaskStatus

if TYPE_CHECKING:
    from afresh.core.state import State

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
    """What the user said after the goal, verbatim."""
    question: str = ""
    options: tuple[str, ...] = ()
    asked_by: str = ""
    """Who has asked the open question: the model or the harness."""
    limit: int = 0
    """The highest limit that the first option of the open question allows."""
    supervision: SupervisionState = INITIAL_SUPERVISION
    turn: int = 0
    """Which turn of a conversation it is; 0 for a task that is none."""
    turn_step: int = 0
    """The step after which the turn began."""
    issue: Issue | None = None
    """What the task is about, in the words of whoever wrote it."""
    network: NetworkState = NO_PERMISSIONS
    """What a person lets it reach."""

    def apply(self, event: Event, state: "State") -> "DialogueState":
        match event:
            case QuestionAsked():
                network = replace(self.network, offered=event.network) if event.network != self.network.offered else self.network
                return replace(
                    self, question=event.question, options=event.options, asked_by=event.by, limit=event.limit, network=network
                )
            case QuestionAnswered():
                network = self.network.take_answer(event.option, is_agreement(event.text))
                return replace(self, network=network)._close_question()._take_answer(event, state)
            case LimitsOrdered(resumes=True):
                return self._close_question()
            case PermissionsChanged() | NetworkUsed():
                return replace(self, network=self.network.apply(event))
            case TaskEnded():
                return self if event.status is TaskStatus.BLOCKED else self._close_question()
            case PersonSpoke():
                supervision = replace(self.supervision, overruled=state.work.pending is not None)
                return replace(self, words=(*self.words, event.text), supervision=supervision)
            case IssueAttached():
                return replace(self, issue=event.issue)
            case TurnBegan():
                return replace(self._close_question(), turn=self.turn + 1, turn_step=state.work.step)
            case StepsUndone():
                supervision = replace(self.supervision, overruled=state.work.pending is not None, paused="")
                return replace(self._close_question(), supervision=supervision)
            case SupervisionModeSet() | PausedForPerson() | StepFinished():
                return replace(self, supervision=apply_supervision(event, self.supervision))
            case _:
                return self

    def _close_question(self) -> "DialogueState":
        network = replace(self.network, offered="") if self.network.offered else self.network
        return replace(self, question="", options=(), asked_by="", limit=0, network=network)

    def _take_answer(self, event: QuestionAnswered, state: "State") -> "DialogueState":
        """Approval of a pause, or of a higher limit, adds no words; other words at a pause come before the reply that waits."""
        if state.dialogue.limit and event.option == RAISE_LIMIT_OPTION:
            return self
        if is_approval(event, state):
            return replace(self, supervision=leave_pause(self.supervision, overruled=False))
        overruled = bool(self.supervision.paused and state.work.pending)
        return replace(self, words=(*self.words, event.text), supervision=leave_pause(self.supervision, overruled))


def apply_supervision(event: SupervisionModeSet | PausedForPerson | StepFinished, now: SupervisionState) -> SupervisionState:
    match event:
        case SupervisionModeSet(mode):
            return replace(now, mode=mode, paused="" if mode == AUTONOMOUS_MODE else now.paused)
        case PausedForPerson(_, phase):
            return replace(now, paused=phase)
        case StepFinished():
            return replace(now, overruled=False) if now.overruled else now


def leave_pause(now: SupervisionState, overruled: bool) -> SupervisionState:
    passed = (*now.passed, now.paused) if now.paused and not overruled else now.passed
    return replace(now, passed=passed, paused="", overruled=overruled)


def is_approval(event: QuestionAnswered, state: "State") -> bool:
    """Whether a person lets a paused task go on as it would, without a word of their own."""
    return bool(state.dialogue.supervision.paused) and event.option == APPROVE_OPTION


def is_agreement(answer: str) -> bool:
    """Whether a person simply agrees to what was asked."""
    return bool(_YES.match(answer)) and not _NO.search(answer)


def restarts_counters(event: Event, state: "State") -> bool:
    """Whether steps of a phase, turns and refusals are counted anew: a person has said something."""
    if isinstance(event, QuestionAnswered):
        return not is_approval(event, state)
    return isinstance(event, PersonSpoke | StepsUndone | TurnBegan)
