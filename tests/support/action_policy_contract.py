"""What every ActionPolicy must do. Subclass it and give it a `case`: the policy, an action it allows and one it objects to."""

import copy
from dataclasses import dataclass, replace

from afresh.core.action import Action
from afresh.core.action_policy import ActionPolicy, ApprovalNeeded, ProposedAction, Refusal
from afresh.core.event import QuestionAnswered, QuestionAsked
from afresh.core.reducer import apply_event
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
            case ApprovalNeeded(question, options, network):
                assert question.strip() and len(options) > 1
                assert network or any(option.startswith("approve") for option in options)
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
        for option, allowed in ((asked.options[0], True), (asked.options[-1], False)):
            state = record_answer(case.objected.state, asked, option)
            after = case.policy(replace(case.objected, state=state))
            assert after is None if allowed else isinstance(after, Refusal)


def record_answer(state: State, asked: ApprovalNeeded, option: str) -> State:
    """The state after a person has chosen this option."""
    put = apply_event(QuestionAsked(asked.question, asked.options, "harness", network=asked.network), state)
    return apply_event(QuestionAnswered(option, option=asked.options.index(option) + 1), put)
