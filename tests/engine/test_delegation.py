"""When a part may be handed out, and what it is told."""

from dataclasses import replace

import pytest

from afresh.adapters.tools import TOOLS
from afresh.domain.delegated import Delegated, Fate, Metrics, Part
from afresh.domain.fact import PlanItem
from afresh.domain.spend import Kind
from afresh.domain.state import State
from afresh.domain.task import Check, Status, Task
from afresh.domain.window import Request, Window
from afresh.engine.buy import purchase
from afresh.engine.delegation import (
    DELEGATE,
    at_hand,
    checks_for,
    not_worth_a_part,
    ordered,
    refuse_other,
    refuse_repeated,
    result,
    share,
)  # fmt: skip
from afresh.errors import ModelMistake

TASK = Task(
    id="whole", goal="all of it", checks=(Check("python -m pytest -q", 60),), parts=2, max_steps=60, needs=("other",), model="m:x"
)
THREE = (PlanItem("a"), PlanItem("b"), PlanItem("c"))
STATE = State(task=TASK, limit=60, plan=THREE)
RESULT = Delegated("whole-2-1", 2, "do a", Fate.FAILED, (), (), "no", Metrics(steps=10))


def test_a_part_may_be_handed_out_while_the_plan_has_three_open_items() -> None:
    assert not not_worth_a_part(THREE)
    assert "the plan has 2 open items" in not_worth_a_part((*THREE[:2], PlanItem("c", done=True)))
    assert "the plan has 0 open items" in not_worth_a_part(())


def test_the_tool_is_offered_for_the_whole_task_or_never() -> None:
    assert at_hand(TOOLS, TASK) == TOOLS
    names = [tool.schema.name for tool in at_hand(TOOLS, replace(TASK, parts=0))]
    assert DELEGATE not in names and len(names) == len(TOOLS) - 1, "all other tools are"


def test_a_part_gets_half_of_the_steps_that_are_left_to_the_task_and_its_other_parts() -> None:
    assert share(replace(STATE, step=19)) == 20
    assert share(replace(STATE, step=19, delegated=(RESULT,))) == 15
    assert share(replace(STATE, limit=1_000)) == 30


def test_a_part_is_a_task_of_its_own_that_can_hand_out_nothing() -> None:
    child = ordered(Part("do a", paths=("a.py", "b.py")), replace(STATE, step=4), 2, "tree", [Check("true")])
    assert (child.id, child.parent, child.tree, child.parts) == ("whole-5-2", "whole", "tree", 0)
    assert child.goal == "do a\nIt concerns a.py, b.py." and child.needs == () and child.model == "m:x"


class Covered:
    def tests_for(self, changed, files):
        return ["tests/test_a.py"] if "a.py" in changed else []


def test_a_part_without_checks_has_those_of_the_task_narrowed_to_the_tests_of_its_files() -> None:
    def commands(part: Part) -> list[str]:
        return [check.command for check in checks_for(part, TASK, Covered(), None)]  # pyright: ignore[reportArgumentType]

    assert commands(Part("g", paths=("a.py",))) == ["python -m pytest tests/test_a.py -q"]
    assert commands(Part("g", paths=("unknown.py",))) == commands(Part("g")) == ["python -m pytest -q"]
    assert commands(Part("g", checks=("make test",), paths=("a.py",))) == ["make test"]


def test_what_failed_is_not_handed_out_again_in_the_same_words() -> None:
    state = replace(STATE, delegated=(RESULT,))
    with pytest.raises(ModelMistake, match="step 2 and failed"):
        refuse_repeated(Part(" do  a "), state)
    refuse_repeated(Part("do a, but with less"), state)
    refuse_repeated(Part("do a"), replace(STATE, delegated=(replace(RESULT, status=Fate.DONE),)))


def test_what_was_handed_out_under_the_same_name_is_no_answer_to_something_else() -> None:
    child = State(task=ordered(Part("do a", paths=("a.py",)), STATE, 1, "tree", []))
    refuse_other(Part("do a", paths=("a.py",)), child)
    with pytest.raises(ModelMistake, match="next reply"):
        refuse_other(Part("do b", paths=("a.py",)), child)


@pytest.mark.parametrize(
    ("child", "status", "said"),
    [
        (State(task=TASK, status=Status.DONE), Fate.DONE, "claimed"),
        (State(task=TASK, status=Status.FAILED, outcome="refused"), Fate.FAILED, "refused"),
        (State(task=TASK, status=Status.BLOCKED, question="Which?", options=("a", "b")), Fate.BLOCKED, "It asks: Which? (a; b)"),
        (State(task=TASK, status=Status.BLOCKED, outcome="no checks"), Fate.BLOCKED, "no checks"),
    ],
    ids=lambda value: str(value) if isinstance(value, Fate) else "",
)
def test_only_what_was_verified_is_told_as_done(child: State, status: Fate, said: str) -> None:
    told = result(child, "goal", 3, Metrics(), "claimed")
    assert (told.status, told.summary) == (status, said)


def test_calls_of_a_part_are_booked_as_such_and_its_parent_pays() -> None:
    window = Window(Request("", "", (), 10), (), (), 4_000, 100)
    part = purchase(window, State(task=replace(TASK, id="whole-2-1", parent="whole")), "m")
    assert (part.kind, part.task, part.payer) == (Kind.DELEGATE, "whole-2-1", "whole")
    assert purchase(window, STATE, "m").kind is Kind.WORK
