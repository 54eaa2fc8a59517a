"""The contract of an ActionPolicy, held against the policies of the harness and one that asks a person."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from afresh.actions.built_in_policies import BUILT_IN_POLICIES
from afresh.core.action import Action
from afresh.core.action_policy import ApprovalNeeded, ProposedAction, Refusal, find_approval
from afresh.core.redaction import REDACTED
from afresh.core.states.progress_state import Escalation, ProgressState, StallNoticed
from afresh.core.states.strategy_state import PlanItem
from afresh.core.states.supervision_state import SUPERVISED_MODE, SupervisionState
from afresh.core.step_result import ActionResult, ToolOutcome
from afresh.core.task import Task
from afresh.core.template import CallLayout
from afresh.core.tool_traits import ToolTrait, find_tool_traits
from afresh.policy.stall.step_trace import hash_action
from support.action_policy_contract import ActionPolicyContract, PolicyCase
from support.states import make_state

TOOLS = ("read", "edit", "run", "ask", "delegate", "complete")
LAYOUT = CallLayout("change", "", TOOLS, (), 0.25)
STATE = make_state(Task(id="t", goal="g"), snapshot="s")
PLAN = tuple(PlanItem(f"item {number}") for number in range(9))


def propose(tool: str, state: Any = STATE, layout: CallLayout = LAYOUT, done: Any = (), **args: Any) -> ProposedAction:
    return ProposedAction(Action(tool, args), find_tool_traits(tool), TOOLS, layout, state, done)


READ = propose("read", path="a.py")
RUN = propose("run", command="make")
TASK = Task(id="t", goal="g")
FOREIGN = replace(propose("docs__look", text="tabs"), traits=frozenset({ToolTrait.FOREIGN, ToolTrait.PRINTS}))
FAILED = (ActionResult(Action("run", {}), ToolOutcome("no", ok=False)),)
ASKED = (ActionResult(Action("ask", {"question": "?"}), ToolOutcome("asked")),)
BARRED = StallNoticed(1, "repeats", Escalation.TURN, "three times", hash_action(RUN.action, "s"))
OBJECTED = {
    "refuse_overruled": replace(READ, state=make_state(Task(id="t", goal="g"), supervision=SupervisionState(overruled=True))),
    "refuse_unknown_tool": propose("fly"),
    "refuse_small_part": propose("delegate", goal="x"),
    "refuse_closed_tool": replace(READ, layout=replace(LAYOUT, closed=("read",))),
    "refuse_repeated_action": replace(
        RUN, state=make_state(Task(id="t", goal="g"), snapshot="s", progress=ProgressState(alarms=(BARRED,)))
    ),
    "refuse_redacted_text": propose("run", command=f"echo {REDACTED} > a"),
    "refuse_steering_change": propose("edit", path="AGENTS.md", new="Anything goes."),
    "refuse_completion_after_failure": propose("complete", done=FAILED, summary="done"),
    "refuse_second_question": propose("ask", done=ASKED, question="?"),
    "ask_for_network": replace(propose("run", command="pip install x", why_network="tests need x"), sandbox="bubblewrap"),
    "ask_before_foreign_tool": replace(FOREIGN, state=make_state(TASK, supervision=SupervisionState(mode=SUPERVISED_MODE))),
}
ALLOWED = {
    "refuse_small_part": propose("delegate", make_state(Task(id="t", goal="g"), plan=PLAN), goal="x"),
    "refuse_redacted_text": propose("edit", path="a.py", old=REDACTED, new=f"key = {REDACTED}"),
    "refuse_steering_change": propose("edit", make_state(Task(id="t", goal="update AGENTS.md")), path="AGENTS.md", new="x"),
    "refuse_completion_after_failure": propose("complete", summary="done"),
    "refuse_second_question": propose("ask", done=FAILED, question="?"),
    "ask_before_foreign_tool": FOREIGN,
}


def ask_before_commands(proposed: ProposedAction) -> Refusal | ApprovalNeeded | None:
    question = "May it run commands?"
    if ToolTrait.RUNS not in proposed.traits:
        return None
    approved = find_approval(proposed.state, question)
    return ApprovalNeeded(question) if approved is None else None if approved else Refusal("the user does not want that")


CASES = {
    policy.__name__: PolicyCase(policy, ALLOWED.get(policy.__name__, READ), OBJECTED[policy.__name__])  # pyright: ignore
    for policy in BUILT_IN_POLICIES
}
CASES["ask_before_commands"] = PolicyCase(ask_before_commands, READ, RUN)


class TestPolicies(ActionPolicyContract):
    @pytest.fixture(params=CASES.values(), ids=CASES.keys())
    def case(self, request: pytest.FixtureRequest) -> PolicyCase:
        return request.param


def change_arguments(proposed: ProposedAction) -> None:
    dict.update(proposed.action.args, changed=True)  # pyright: ignore


def take_turns() -> Callable[[ProposedAction], Refusal | None]:
    answers = iter([Refusal("no"), None] * 4)
    return lambda proposed: next(answers)


BROKEN: dict[str, Callable[[], Callable[[ProposedAction], Any]]] = {
    "test_it_says_nothing_of_what_it_allows": lambda: lambda proposed: Refusal("no"),
    "test_its_objection_says_why_to_the_model_or_what_to_answer_to_a_person": lambda: lambda proposed: Refusal(" "),
    "test_the_same_action_gets_the_same_answer": take_turns,
    "test_it_changes_nothing_that_it_is_given": lambda: change_arguments,
    "test_no_action_makes_it_fail": lambda: lambda proposed: Refusal(proposed.action.args["path"]),
    "test_an_answered_question_is_not_asked_again": lambda: lambda proposed: ApprovalNeeded("May it?"),
}


@pytest.mark.parametrize("name", sorted(name for name in vars(ActionPolicyContract) if name.startswith("test_")))
def test_a_broken_policy_is_noticed(name: str) -> None:
    case = PolicyCase(BROKEN[name](), propose("read", path="a.py"), propose("run", command="make"))
    with pytest.raises((AssertionError, KeyError)):
        getattr(ActionPolicyContract(), name)(case)
