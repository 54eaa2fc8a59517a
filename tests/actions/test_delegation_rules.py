"""When a part may be handed out, and what it is told."""

from dataclasses import replace

import pytest

from afresh.actions.delegation_rules import (
    allocate_part_steps,
    choose_part_checks,
    find_reason_not_to_delegate,
    refuse_other_part,
    refuse_repeated_part,
    result_from_part,
    task_from_part,
)
from afresh.actions.tools.registry import TOOLS
from afresh.core.prompt import Prompt, Request
from afresh.core.spending import CallPurpose
from afresh.core.state import State
from afresh.core.states.dialogue_state import DialogueState
from afresh.core.states.strategy_state import PlanItem
from afresh.core.states.work_state import WorkState
from afresh.core.subtask import Subtask, SubtaskMetrics, SubtaskResult, SubtaskStatus
from afresh.core.task import Check, Task, TaskStatus
from afresh.core.template import Template
from afresh.errors import ModelMistake
from afresh.models.call import make_step_booking
from afresh.policy.next_call import select_task_tools

TASK = Task(
    id="whole", goal="all of it", checks=(Check("python -m pytest -q", 60),), parts=2, max_steps=60, needs=("other",), model="m:x"
)
THREE = (PlanItem("a"), PlanItem("b"), PlanItem("c"))
STATE = State(task=TASK, work=WorkState(limit=60, plan=THREE))
RESULT = SubtaskResult("whole-2-1", 2, "do a", SubtaskStatus.FAILED, (), (), "no", SubtaskMetrics(steps=10))


def test_a_part_may_be_handed_out_while_the_plan_has_three_open_items() -> None:
    assert not find_reason_not_to_delegate(THREE)
    assert "the plan has 2 open items" in find_reason_not_to_delegate((*THREE[:2], PlanItem("c", done=True)))
    assert "the plan has 0 open items" in find_reason_not_to_delegate(())


def test_the_tool_is_offered_for_the_whole_task_or_never() -> None:
    planned, template = replace(TASK, loop="plan_execute"), Template("implement_feature", "")
    assert select_task_tools(TOOLS, planned, template) == TOOLS
    for order in (TASK, replace(planned, parts=0)):
        names = [tool.schema.name for tool in select_task_tools(TOOLS, order, template)]
        assert "delegate" not in names and len(names) == len(TOOLS) - 1, "all other tools are"


def test_a_part_gets_half_of_the_steps_that_are_left_to_the_task_and_its_other_parts() -> None:
    assert allocate_part_steps(replace(STATE, work=replace(STATE.work, step=19))) == 20
    assert allocate_part_steps(replace(STATE, work=replace(STATE.work, step=19, subtasks=(RESULT,)))) == 15
    assert allocate_part_steps(replace(STATE, work=replace(STATE.work, limit=1_000))) == 30


def test_a_part_is_a_task_of_its_own_that_can_hand_out_nothing() -> None:
    child = task_from_part(
        Subtask("do a", paths=("a.py", "b.py")), replace(STATE, work=replace(STATE.work, step=4)), 2, "tree", [Check("true")]
    )
    assert (child.id, child.parent, child.tree, child.parts) == ("whole-5-2", "whole", "tree", 0)
    assert child.goal == "do a\nIt concerns a.py, b.py." and child.needs == () and child.model == "m:x"


class Covered:
    def tests_for(self, changed, files):
        return ["tests/test_a.py"] if "a.py" in changed else []


def test_a_part_without_checks_has_those_of_the_task_narrowed_to_the_tests_of_its_files() -> None:
    def commands(part: Subtask) -> list[str]:
        return [check.command for check in choose_part_checks(part, TASK, Covered(), None)]  # pyright: ignore[reportArgumentType]

    assert commands(Subtask("g", paths=("a.py",))) == ["python -m pytest tests/test_a.py -q"]
    assert commands(Subtask("g", paths=("unknown.py",))) == commands(Subtask("g")) == ["python -m pytest -q"]
    assert commands(Subtask("g", checks=("make test",), paths=("a.py",))) == ["make test"]


def test_what_failed_is_not_handed_out_again_in_the_same_words() -> None:
    state = replace(STATE, work=replace(STATE.work, subtasks=(RESULT,)))
    with pytest.raises(ModelMistake, match="step 2 and failed"):
        refuse_repeated_part(Subtask(" do  a "), state)
    refuse_repeated_part(Subtask("do a, but with less"), state)
    refuse_repeated_part(
        Subtask("do a"), replace(STATE, work=replace(STATE.work, subtasks=(replace(RESULT, status=SubtaskStatus.DONE),)))
    )


def test_what_was_handed_out_under_the_same_name_is_no_answer_to_something_else() -> None:
    child = State(task=task_from_part(Subtask("do a", paths=("a.py",)), STATE, 1, "tree", []))
    refuse_other_part(Subtask("do a", paths=("a.py",)), child)
    with pytest.raises(ModelMistake, match="next reply"):
        refuse_other_part(Subtask("do b", paths=("a.py",)), child)


@pytest.mark.parametrize(
    ("child", "status", "said"),
    [
        (State(task=TASK, status=TaskStatus.DONE), SubtaskStatus.DONE, "claimed"),
        (State(task=TASK, status=TaskStatus.FAILED, work=WorkState(outcome="refused")), SubtaskStatus.FAILED, "refused"),
        (
            State(task=TASK, status=TaskStatus.BLOCKED, dialogue=DialogueState(question="Which?", options=("a", "b"))),
            SubtaskStatus.BLOCKED,
            "It asks: Which? (a; b)",
        ),
        (State(task=TASK, status=TaskStatus.BLOCKED, work=WorkState(outcome="no checks")), SubtaskStatus.BLOCKED, "no checks"),
    ],
    ids=lambda value: str(value) if isinstance(value, SubtaskStatus) else "",
)
def test_only_what_was_verified_is_told_as_done(child: State, status: SubtaskStatus, said: str) -> None:
    told = result_from_part(child, "goal", 3, SubtaskMetrics(), "claimed")
    assert (told.status, told.summary) == (status, said)


def test_calls_of_a_part_are_booked_as_such_and_its_parent_pays() -> None:
    window = Prompt(Request("", "", (), 10), (), (), 4_000, 100)
    part = make_step_booking(window, State(task=replace(TASK, id="whole-2-1", parent="whole")), "m")
    assert (part.kind, part.task, part.payer) == (CallPurpose.DELEGATE, "whole-2-1", "whole")
    assert make_step_booking(window, STATE, "m").kind is CallPurpose.WORK
