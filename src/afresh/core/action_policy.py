"""Whether an action may be done: a policy objects to it, or says nothing. The first objection is what happens."""

from collections.abc import Callable

from afresh.core.action import Action
from afresh.core.answer_options import find_chosen_option
from afresh.core.fast_dataclass import dataclass
from afresh.core.state import State
from afresh.core.step_result import ActionResult
from afresh.core.template import CallLayout
from afresh.core.tool_traits import ToolTrait

APPROVED = "approve"


@dataclass(frozen=True, slots=True)
class ProposedAction:
    """An action that a model wants done, and what is known before it is."""

    action: Action
    traits: frozenset[ToolTrait]
    offered: tuple[str, ...]
    """The tools of the call."""
    layout: CallLayout
    state: State
    done: tuple[ActionResult, ...]
    """The earlier actions of the same reply."""
    sandbox: str = ""
    """The level of the sandbox."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The action is refused; the model reads why."""

    reason: str
    settled: bool = False
    """Nothing was tried, so that it is not taken for a failure of what the action does."""


@dataclass(frozen=True, slots=True)
class ApprovalNeeded:
    """A person is asked first, and the task waits. Whoever asks finds the answer among the decisions of the state."""

    question: str
    options: tuple[str, ...] = (f"{APPROVED}: it may be done", "refuse: it is left undone")
    network: str = ""
    """A command that may use the network by the first two options."""


ActionPolicy = Callable[[ProposedAction], Refusal | ApprovalNeeded | None]


def find_approval(state: State, question: str) -> bool | None:
    """A person's answer to the question of a policy; None while there is none."""
    answers = [decision for decision in state.memory.decisions if decision.answer and decision.subject == question]
    return find_chosen_option(answers[-1]) == APPROVED if answers else None
