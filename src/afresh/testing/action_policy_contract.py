"""What every ActionPolicy must do. Subclass it and give it a `case`: the policy, an action it allows and one it objects to."""

import copy
from dataclasses import dataclass, replace

from afresh.core.action import Action
from afresh.core.action_policy import ActionPolicy, ApprovalNeeded, ProposedAction, Refusal, find_approval
from afresh.core.decision import Decision
from afresh.core.state import State

ODD_ACTIONS = (Action("", {}), Action("no_such_tool", {"path": None, "more": [{"a": [1.5, True]}]}))


@dataclass(frozen=True, slots=True)
class PolicyCase:
    policy: ActionPolicy
    allowed: ProposedAction
    objected: ProposedAction


class ActionPolicyContract:
    """Fixture `case` is to be given by the subclass."""

    def test_it_says_nothing_of_what_it_allows(self, case: PolicyCase) -> None:
        assert case.policy(case.allowed) is None

    def test_its_objection_says_why_to_the_model_or_what_to_answer_to_a_person(self, case: PolicyCase) -> None:
        match case.policy(case.objected):
            case Refusal(reason):
                assert reason.strip()
            case ApprovalNeeded(question, options):
                assert question.strip() and len(options) > 1 and any(option.startswith("approve") for option in options)
            case other:
                raise AssertionError(f"no objection: {other!r}")

    def test_the_same_action_gets_the_same_answer(self, case: PolicyCase) -> None:
        for proposed in (case.objected, case.allowed):
            assert case.policy(proposed) == case.policy(proposed)

    def test_it_changes_nothing_that_it_is_given(self, case: PolicyCase) -> None:
        for proposed in (case.objected, case.allowed):
            before = copy.deepcopy(proposed.action.args)
            case.policy(proposed)
            assert proposed.action.args == before

    def test_no_action_makes_it_fail(self, case: PolicyCase) -> None:
        """An action comes from a model: its tool may not exist, and its arguments may be of any kind."""
        for action in ODD_ACTIONS:
            answer = case.policy(replace(case.objected, action=action))
            assert answer is None or isinstance(answer, Refusal | ApprovalNeeded)

    def test_an_answered_question_is_not_asked_again(self, case: PolicyCase) -> None:
        asked = case.policy(case.objected)
        if not isinstance(asked, ApprovalNeeded):
            return
        for option, allowed in zip(asked.options, (True, False), strict=False):
            state = record_answer(case.objected.state, asked, option)
            assert find_approval(state, asked.question) is allowed
            after = case.policy(replace(case.objected, state=state))
            assert after is None if allowed else isinstance(after, Refusal)


def record_answer(state: State, asked: ApprovalNeeded, option: str) -> State:
    """The state after a person has chosen this option."""
    chosen = asked.options.index(option) + 1
    decision = Decision(option, "person", subject=asked.question, options=asked.options, chosen=chosen)
    return replace(state, memory=replace(state.memory, decisions=(*state.memory.decisions, decision)))
