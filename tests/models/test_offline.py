import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.action import Action
from afresh.core.reply import BATCH_LINE_START
from afresh.errors import NeedsPerson
from afresh.models.offline import OfflineModel
from support.model_contract import SAMPLE_MESSAGE, make_sample_request

DONE_WITH = "## Suggestions\nnone\n\n## Changes so far\n"


def propose(message: str) -> tuple[Action, ...]:
    return OfflineModel().propose(make_sample_request(message)).actions


def test_the_first_suggestion_is_applied() -> None:
    two = SAMPLE_MESSAGE.replace("\n## Changes", "- [ffffffffffff] extract something else\n\n## Changes")
    reply = OfflineModel().propose(make_sample_request(two))
    assert reply.actions == (Action("apply", {"id": "a1b2c3d4e5f6"}),)
    assert "_read_fields" in reply.thought


def test_suggestions_of_different_functions_are_applied_together() -> None:
    batch = f"{BATCH_LINE_START} [a1b2c3d4e5f6] [ffffffffffff] [bad0bad0bad0]"
    two = SAMPLE_MESSAGE.replace("\n## Changes", f"- [ffffffffffff] extract something else\n{batch}\n\n## Changes")
    assert propose(two) == (Action("apply", {"id": "a1b2c3d4e5f6"}), Action("apply", {"id": "ffffffffffff"}))


def test_without_suggestions_the_changes_are_handed_over() -> None:
    (action,) = propose(DONE_WITH + "- src/x.py +12 -9\n- src/none.py +1 -1\n")
    assert action.tool == "complete"
    assert "Lower the complexity of 2 files\n" in action.args["summary"]
    assert "Changed: src/x.py, src/none.py" in action.args["summary"]


@pytest.mark.parametrize("nothing", ["none", "None.", "- none", "(none)", ""])
def test_nothing_done_and_nothing_to_do_is_said_as_it_is(nothing: str) -> None:
    (action,) = propose(DONE_WITH + nothing + "\n")
    assert action.tool == "complete" and "Nothing could be improved" in action.args["summary"]


def test_a_task_without_suggestions_needs_another_model() -> None:
    with pytest.raises(NeedsPerson, match="works only with --type fix_violation") as caught:
        propose("# Task\nAdd a feature.\n\n## Changes so far\nnone\n")
    assert "mailbox:DIR" in caught.value.next


def test_a_goal_with_an_open_code_fence_hides_nothing() -> None:
    assert propose("## Task (fix_violation)\n```\nMend this.\n" + SAMPLE_MESSAGE)[0].tool == "apply"


def test_a_fix_that_has_nothing_left_to_suggest_is_handed_over() -> None:
    (action,) = propose("## Task (fix_violation)\nMend it.\n\n## Changes so far\n- src/x.py (+3 −2)\n")
    assert action.tool == "complete" and action.args["summary"].startswith("Lower the complexity of src/x.py\n")


@pytest.mark.parametrize("line", ["[a1b2c3d4e5f6] no dash", "- [A1B2C3] capitals", "- [abc] short", "- [a1b2c3d4e5f6]"])
def test_what_is_not_an_item_is_not_applied(line: str) -> None:
    assert propose(f"## Suggestions\n{line}\n")[0].tool == "complete"


@given(st.text(alphabet=st.sampled_from("#- []`abc123\nSugestion"), max_size=200))
def test_any_message_gives_one_known_action_or_a_refusal(noise: str) -> None:
    try:
        actions = propose("## Suggestions\n" + noise)
    except NeedsPerson:
        return
    assert len(actions) == 1 and actions[0].tool in ("apply", "complete")
